#include "embedding.h"

#include <stddef.h>

void embedding_forward(const struct packed *packed, int width, const real *matrix, real *x)
{
    size_t row = (size_t)width;
    for (int t = 0; t < packed->tokens; t++)
        memcpy(x + (size_t)t * row, matrix + (size_t)packed->input[t] * row, row * sizeof *x);
}

void embedding_backward(const struct packed *packed, int width, const real *dx, real *dmatrix)
{
    size_t row = (size_t)width;
    for (int t = 0; t < packed->tokens; t++) {
        const real *from = dx + (size_t)t * row;
        real *to = dmatrix + (size_t)packed->input[t] * row;
#pragma omp simd
        for (size_t i = 0; i < row; i++)
            to[i] += from[i];
    }
}
