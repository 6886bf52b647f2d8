/* Sums of squares that neither overflow nor vanish, after Blue (1978). */
#ifndef ODC_NORM_H
#define ODC_NORM_H

#include <stddef.h>

/* Squares of small, middling and large values, the outer two scaled. The three sums add up. */
enum { ODC_SMALL, ODC_MIDDLE, ODC_LARGE, ODC_SQUARES };
typedef struct odc_squares {
    double sum[ODC_SQUARES];
} odc_squares;

void odc_squares_add_f32(odc_squares *squares, const float *values, size_t count);
void odc_squares_add_f64(odc_squares *squares, const double *values, size_t count);

/* The 2-norm; NaN if any value was not finite, infinite if it is too large itself. */
double odc_squares_norm(const odc_squares *squares);

#endif
