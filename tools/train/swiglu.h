/* SwiGLU (Shazeer 2020): out = gate / (1 + e^-gate) * up, elementwise. */
#ifndef TRAIN_SWIGLU_H
#define TRAIN_SWIGLU_H

#include "real.h"

/** A row of `in` holds `hidden` gates, then as many ups. */
void swiglu_forward(int rows, int hidden, const real *in, real *out);

/** Writes din. */
void swiglu_backward(int rows, int hidden, const real *in, const real *dout, real *din);

#endif
