/* The last group: final norm, logits, cross entropy. The logits of a few tokens are made at a time.
 */
#ifndef TRAIN_HEAD_H
#define TRAIN_HEAD_H

#include "real.h"
#include "shape.h"

#include <stddef.h>

struct head_weights {
    const real *gain;   /**< width */
    const real *output; /**< vocabulary x width */
};

/** Where the gradients go; dx is written, the others are added to. */
struct head_gradient {
    real *gain;
    real *output;
    real *dx; /**< tokens x width */
};

/** Elements of scratch that the functions need. */
size_t head_scratch_count(const struct shape *shape);

/** The sum over the targets of -log(probability), times `weight`. `gradient` NULL: only that. */
double head_loss(const struct shape *shape, const struct packed *packed, double weight,
                 const real *x, const struct head_weights *weights, real *scratch,
                 const struct head_gradient *gradient);

/** The logits behind one token; they stand in `scratch`. */
const real *head_logits(const struct shape *shape, const real *x,
                        const struct head_weights *weights, real *scratch);

#endif
