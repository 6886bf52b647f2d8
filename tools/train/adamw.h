/*
 * AdamW (Loshchilov and Hutter 2019) on elements that this rank owns. Matrices decay, gains of
 * norms do not.
 */
#ifndef TRAIN_ADAMW_H
#define TRAIN_ADAMW_H

#include "layout.h"

/** Part of a group's elements: [first, first + count). */
struct shard {
    size_t first;
    size_t count;
    float *value;
    const float *gradient;
    float *mean;   /**< running mean of the gradient */
    float *square; /**< running mean of its square */
};

/** One update; `step` counts from 1. */
void adamw_update(const struct layout *layout, const struct shard *shard, double rate, long step);

/** The learning rate of a step, 1 .. steps: linear warm-up, then a cosine down to a tenth. */
double learning_rate(double highest, long step, long steps);

#endif
