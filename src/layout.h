/* Where things lie: shards in a group, groups in memory. Pure arithmetic. */
#ifndef ODC_LAYOUT_H
#define ODC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define ODC_ALIGNMENT 64

typedef struct odc_extent {
    size_t first;
    size_t count;
} odc_extent;

/* Elements of a full shard: ceil(count / ranks). */
size_t odc_block(size_t count, int ranks);

/* The elements that `rank` owns; trailing shards may be short or empty. */
odc_extent odc_shard_extent(size_t count, int ranks, int rank);

/* `bytes` rounded up to the alignment of everything that is handed out. */
size_t odc_align(size_t bytes);

/*
 * Reserves `elements` of `size` bytes, `times` over, behind *end and moves *end past them, aligned.
 * False, with *end untouched, where that cannot be addressed.
 */
bool odc_reserve(size_t *end, size_t elements, size_t size, size_t times);

#endif
