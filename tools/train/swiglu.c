#include "swiglu.h"

#include <stddef.h>

HOT_LOOP
static void forward_row(int hidden, const real *gate, const real *up, real *out)
{
#pragma omp simd
    for (int i = 0; i < hidden; i++)
        out[i] = gate[i] / (1 + real_exp(-gate[i])) * up[i];
}

void swiglu_forward(int rows, int hidden, const real *in, real *out)
{
    for (int t = 0; t < rows; t++, in += 2 * hidden, out += hidden)
        forward_row(hidden, in, in + hidden, out);
}

HOT_LOOP
static void backward_row(int hidden, const real *gate, const real *up, const real *dout,
                         real *dgate, real *dup)
{
#pragma omp simd
    for (int i = 0; i < hidden; i++) {
        real sigmoid = 1 / (1 + real_exp(-gate[i]));
        dup[i] = dout[i] * gate[i] * sigmoid;
        dgate[i] = dout[i] * up[i] * sigmoid * (1 + gate[i] * (1 - sigmoid));
    }
}

void swiglu_backward(int rows, int hidden, const real *in, const real *dout, real *din)
{
    for (int t = 0; t < rows; t++, in += 2 * hidden, din += 2 * hidden, dout += hidden)
        backward_row(hidden, in, in + hidden, dout, din, din + hidden);
}
