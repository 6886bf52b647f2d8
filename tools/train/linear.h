/* Products with a weight matrix, stored outputs x inputs, row by row, as are all matrices here. */
#ifndef TRAIN_LINEAR_H
#define TRAIN_LINEAR_H

#include "real.h"

struct linear {
    int rows; /**< tokens */
    int inputs;
    int outputs;
};

/** y = x w^T + keep y, for x rows x inputs and y rows x outputs; `keep` is 0 or 1. */
void linear_forward(struct linear size, const real *x, const real *w, real keep, real *y);

/** dx = dy w + keep dx */
void linear_backward_input(struct linear size, const real *dy, const real *w, real keep, real *dx);

/** dw = dy^T x + keep dw */
void linear_backward_weight(struct linear size, const real *dy, const real *x, real keep, real *dw);

#endif
