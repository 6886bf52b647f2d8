/* Private buffers for whole groups, kept for reuse: as many as were ever held at once. */
#ifndef ODC_POOL_H
#define ODC_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct odc_pool {
    size_t bytes; /* of every buffer: the largest group's */
    void **idle;
    size_t idles;
    size_t buffers; /* idle and in use; `idle` has room for all of them */
} odc_pool;

/* NULL: out of memory. */
void *odc_pool_take(odc_pool *pool);
void odc_pool_give(odc_pool *pool, void *buffer);

/* Frees the idle buffers. */
void odc_pool_free(odc_pool *pool);

#endif
