/* The first group: a row of the matrix (vocabulary x width) for each token. */
#ifndef TRAIN_EMBEDDING_H
#define TRAIN_EMBEDDING_H

#include "real.h"
#include "shape.h"

void embedding_forward(const struct packed *packed, int width, const real *matrix, real *x);

/** Adds to dmatrix. */
void embedding_backward(const struct packed *packed, int width, const real *dx, real *dmatrix);

#endif
