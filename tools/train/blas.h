/* OpenBLAS, one thread a rank, with the kernels that suit the processor. */
#ifndef TRAIN_BLAS_H
#define TRAIN_BLAS_H

/** To be called first in main(), before MPI_Init(): may start the program again. */
void blas_init(char **argv);

#endif
