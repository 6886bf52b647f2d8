#include "pool.h"

#include "layout.h"

#include <stdlib.h>

static void *grow(odc_pool *pool)
{
    void **idle = realloc(pool->idle, (pool->buffers + 1) * sizeof *idle);
    void *buffer;

    if (!idle)
        return NULL;
    pool->idle = idle;
    buffer = aligned_alloc(ODC_ALIGNMENT, pool->bytes);
    if (buffer)
        pool->buffers++;
    return buffer;
}

void *odc_pool_take(odc_pool *pool)
{
    return pool->idles ? pool->idle[--pool->idles] : grow(pool);
}

void odc_pool_give(odc_pool *pool, void *buffer)
{
    pool->idle[pool->idles++] = buffer;
}

void odc_pool_free(odc_pool *pool)
{
    while (pool->idles)
        free(pool->idle[--pool->idles]);
    free(pool->idle);
    *pool = (odc_pool){.bytes = pool->bytes};
}
