#include "linear.h"

void linear_forward(struct linear size, const real *x, const real *w, real keep, real *y)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, size.rows, size.outputs, size.inputs, 1, x,
              size.inputs, w, size.inputs, keep, y, size.outputs);
}

void linear_backward_input(struct linear size, const real *dy, const real *w, real keep, real *dx)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size.rows, size.inputs, size.outputs, 1,
              dy, size.outputs, w, size.inputs, keep, dx, size.inputs);
}

void linear_backward_weight(struct linear size, const real *dy, const real *x, real keep, real *dw)
{
    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, size.outputs, size.inputs, size.rows, 1, dy,
              size.outputs, x, size.inputs, keep, dw, size.inputs);
}
