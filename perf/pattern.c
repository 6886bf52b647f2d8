#include "pattern.h"

#include "world.h"

double pattern_value(const struct pattern *pattern, size_t i)
{
    uint32_t hash = (uint32_t)i * UINT32_C(2654435761) >> (32 - pattern->bits);
    return pattern->scale * (double)hash + pattern->offset;
}

void pattern_fill(const struct pattern *pattern, void *values, odcomm_dtype dtype, size_t first,
                  size_t count)
{
    float *f32 = values;
    double *f64 = values;
    for (size_t i = 0; i < count; i++)
        if (dtype == ODCOMM_F64)
            f64[i] = pattern_value(pattern, first + i);
        else
            f32[i] = (float)pattern_value(pattern, first + i);
}

void pattern_check(const struct pattern *pattern, const void *values, odcomm_dtype dtype,
                   size_t first, size_t count, const char *what)
{
    const float *f32 = values;
    const double *f64 = values;
    for (size_t i = 0; i < count; i++) {
        double is = dtype == ODCOMM_F64 ? f64[i] : (double)f32[i];
        double should_be = pattern_value(pattern, first + i);
        if (!(is >= should_be && is <= should_be))
            give_up("wrong result: rank %d, %s: element %zu is %.9g and should be %.9g",
                    world_rank(), what, first + i, is, should_be);
    }
}
