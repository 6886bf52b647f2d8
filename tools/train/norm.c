#include "norm.h"

#include <stddef.h>

static const real epsilon = (real)1e-5;

HOT_LOOP
static void forward_row(int width, const real *x, const real *gain, real *y, real *factor)
{
    real squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int i = 0; i < width; i++)
        squares += x[i] * x[i];
    real f = 1 / real_sqrt(squares / (real)width + epsilon);
#pragma omp simd
    for (int i = 0; i < width; i++)
        y[i] = x[i] * f * gain[i];
    *factor = f;
}

void norm_forward(int rows, int width, const real *x, const real *gain, real *y, real *factor)
{
    for (int t = 0; t < rows; t++) {
        size_t at = (size_t)t * (size_t)width;
        forward_row(width, x + at, gain, y + at, factor + t);
    }
}

HOT_LOOP
static void backward_row(int width, const real *x, const real *gain, real f, const real *dy,
                         real *dx, real *dgain)
{
    real dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int i = 0; i < width; i++)
        dot += gain[i] * dy[i] * x[i];
    real along = dot * f * f * f / (real)width;
#pragma omp simd
    for (int i = 0; i < width; i++) {
        dgain[i] += dy[i] * x[i] * f;
        dx[i] += gain[i] * dy[i] * f - along * x[i];
    }
}

void norm_backward(int rows, int width, const real *x, const real *gain, const real *factor,
                   const real *dy, real *dx, real *dgain)
{
    for (int t = 0; t < rows; t++) {
        size_t at = (size_t)t * (size_t)width;
        backward_row(width, x + at, gain, factor[t], dy + at, dx + at, dgain);
    }
}
