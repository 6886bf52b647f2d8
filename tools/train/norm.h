/* RMSNorm (Zhang and Sennrich 2019): y = gain x / sqrt(mean(x^2) + epsilon), for each token. */
#ifndef TRAIN_NORM_H
#define TRAIN_NORM_H

#include "real.h"

/** Also keeps the `rows` factors 1 / sqrt(...) for norm_backward(). */
void norm_forward(int rows, int width, const real *x, const real *gain, real *y, real *factor);

/** Adds the gradients to dx and dgain. */
void norm_backward(int rows, int width, const real *x, const real *gain, const real *factor,
                   const real *dy, real *dx, real *dgain);

#endif
