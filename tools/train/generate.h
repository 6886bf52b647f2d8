/* Text that the model writes. */
#ifndef TRAIN_GENERATE_H
#define TRAIN_GENERATE_H

#include "trainer.h"

/**
 * Prints the prompt and `bytes` bytes behind it to standard output; where the model ends a text it
 * begins another. Work phase; all ranks call it, rank 0 computes.
 */
void generate(struct trainer *trainer, const char *prompt, long bytes, uint64_t seed);

#endif
