/* Random numbers by counter: a pure function of (seed, stream, index), in any order on any rank. */
#ifndef TRAIN_RANDOM_H
#define TRAIN_RANDOM_H

#include <stdint.h>

/** Who draws; each use has streams of its own. */
enum {
    STREAM_WEIGHTS = 0,       /**< plus the number of the group */
    STREAM_SHUFFLE = 1 << 24, /**< plus the epoch */
    STREAM_SAMPLE = 1 << 25
};

/** 64 random bits (the finalizer of splitmix64, Steele et al. 2014, applied three times). */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);

/** Uniform on (0, 1). */
double random_uniform(uint64_t seed, uint64_t stream, uint64_t index);

/** Standard normal. */
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);

#endif
