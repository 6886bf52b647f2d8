/* Rank 0 reads the texts, all ranks get them. */
#ifndef TRAIN_SHARE_H
#define TRAIN_SHARE_H

#include "corpus.h"

#include <mpi.h>

/** Collective; if rank 0 has failed all return -1 with its problem. */
int corpus_read_shared(struct corpus *corpus, const char *const *path, size_t paths, MPI_Comm comm,
                       struct problem *problem);

#endif
