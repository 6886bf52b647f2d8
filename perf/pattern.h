/* Values that every rank can compute, and that a shifted, lost or doubled element does not have. */
#ifndef PERF_PATTERN_H
#define PERF_PATTERN_H

#include <odcomm/odcomm.h>

/* Element i is scale * h + offset, with a hash h of i in [0, 2^bits): small whole numbers. */
struct pattern {
    int bits;
    double scale;
    double offset;
};

double pattern_value(const struct pattern *pattern, size_t i);

/* Elements [first, first + count) of the pattern, to `values`. */
void pattern_fill(const struct pattern *pattern, void *values, odcomm_dtype dtype, size_t first,
                  size_t count);

/* Gives up, naming `what` and the first wrong element, unless `values` are those elements. */
void pattern_check(const struct pattern *pattern, const void *values, odcomm_dtype dtype,
                   size_t first, size_t count, const char *what);

#endif
