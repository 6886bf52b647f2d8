#include "convert.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [ODCOMM_F32] = {"F32", 4},
    [ODCOMM_F64] = {"F64", 8},
    [ODCOMM_BF16] = {"BF16", 2},
    [ODCOMM_F16] = {"F16", 2},
};

bool odc_dtype_valid(odcomm_dtype dtype)
{
    return (unsigned)dtype < sizeof dtypes / sizeof dtypes[0];
}

size_t odc_dtype_size(odcomm_dtype dtype)
{
    return dtypes[dtype].size;
}

const char *odc_dtype_name(odcomm_dtype dtype)
{
    return dtypes[dtype].name;
}

/*
 * Compiled for several instruction sets, the best of which is chosen when the program is loaded.
 * Sanitizers would run in that choice before they are ready.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#    define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#    define FOR_EACH_CPU
#endif

/* One loop for each pair of types; the pragma vectorises them at -O2 as well. */
#define DEFINE_ADD(to, from)                                                                       \
    FOR_EACH_CPU static void add_##to##_##from(to *restrict into, const from *restrict values,     \
                                               size_t n)                                           \
    {                                                                                              \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++) into[i] += (to)values[i];               \
    }
#define DEFINE_CONVERT(to, from)                                                                   \
    FOR_EACH_CPU static void convert_##to##_##from(to *restrict into, const from *restrict values, \
                                                   size_t n)                                       \
    {                                                                                              \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++) into[i] = (to)values[i];                \
    }

DEFINE_ADD(float, float)
DEFINE_ADD(float, double)
DEFINE_ADD(double, float)
DEFINE_ADD(double, double)
DEFINE_CONVERT(float, double)
DEFINE_CONVERT(double, float)

void odc_convert(void *into, odcomm_dtype into_type, const void *from, odcomm_dtype from_type,
                 size_t count)
{
    if (count == 0)
        return; /* the addresses may be NULL */
    if (into_type == from_type)
        memcpy(into, from, count * odc_dtype_size(into_type));
    else if (into_type == ODCOMM_F32)
        convert_float_double(into, from, count);
    else
        convert_double_float(into, from, count);
}

void odc_add(void *into, odcomm_dtype into_type, const void *from, odcomm_dtype from_type,
             size_t count)
{
    if (into_type == ODCOMM_F32 && from_type == ODCOMM_F32)
        add_float_float(into, from, count);
    else if (into_type == ODCOMM_F32)
        add_float_double(into, from, count);
    else if (from_type == ODCOMM_F32)
        add_double_float(into, from, count);
    else
        add_double_double(into, from, count);
}
