#include "layout.h"

#include <stdint.h>

/* Offsets are MPI_Aint in the end, which is signed. */
#define LARGEST ((size_t)PTRDIFF_MAX - ODC_ALIGNMENT)

size_t odc_block(size_t count, int ranks)
{
    size_t n = (size_t)ranks;
    return count / n + (count % n != 0);
}

odc_extent odc_shard_extent(size_t count, int ranks, int rank)
{
    size_t block = odc_block(count, ranks);
    size_t r = (size_t)rank;
    odc_extent extent = {count, 0};

    if (block == 0 || r > count / block)
        return extent;
    extent.first = r * block;
    extent.count = count - extent.first < block ? count - extent.first : block;
    return extent;
}

size_t odc_align(size_t bytes)
{
    return (bytes + ODC_ALIGNMENT - 1) / ODC_ALIGNMENT * ODC_ALIGNMENT;
}

bool odc_reserve(size_t *end, size_t elements, size_t size, size_t times)
{
    size_t bytes;

    if (__builtin_mul_overflow(elements, size, &bytes) ||
        __builtin_mul_overflow(bytes, times, &bytes) || bytes > LARGEST || *end > LARGEST - bytes)
        return false;
    *end = odc_align(*end + bytes);
    return true;
}
