#include "norm.h"

#include <math.h>

/* Values between the bounds can be squared, and 2^52 such squares be added. */
#define SMALL 0x1p-511
#define LARGE 0x1p486
#define UP 0x1p537
#define DOWN 0x1p-538

void odc_squares_add_f32(odc_squares *squares, const float *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    squares->sum[ODC_MIDDLE] += sum;
}

void odc_squares_add_f64(odc_squares *squares, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double size = fabs(values[i]);
        if (size > LARGE)
            squares->sum[ODC_LARGE] += (size * DOWN) * (size * DOWN);
        else if (size < SMALL)
            squares->sum[ODC_SMALL] += (size * UP) * (size * UP);
        else
            squares->sum[ODC_MIDDLE] += size * size; /* and what is not a number */
    }
}

double odc_squares_norm(const odc_squares *squares)
{
    if (!isfinite(squares->sum[ODC_LARGE] + squares->sum[ODC_MIDDLE]))
        return NAN;
    return hypot(hypot(sqrt(squares->sum[ODC_LARGE]) / DOWN, sqrt(squares->sum[ODC_MIDDLE])),
                 sqrt(squares->sum[ODC_SMALL]) / UP);
}
