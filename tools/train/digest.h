/* A number that tells one set of weights from another. */
#ifndef TRAIN_DIGEST_H
#define TRAIN_DIGEST_H

#include "trainer.h"

/** 64-bit FNV-1a of all values of all groups, in order. Work phase; all ranks call it. */
uint64_t digest_weights(struct trainer *trainer);

#endif
