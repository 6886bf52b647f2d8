/*
 * Memory of other nodes. Every rank exposes the segment of its node in a window that all ranks
 * share, so that any rank of a node can be reached for it; the places are the same on every node.
 */
#ifndef ODC_REMOTE_H
#define ODC_REMOTE_H

#include "core.h"

/* Makes the window, where there are several nodes. Collective, but for its errors. */
int odc_remote_open(odcomm_ctx *ctx);
int odc_remote_close(odcomm_ctx *ctx);

/* Where something in my node's segment lies in everybody's. */
size_t odc_remote_place(const odcomm_ctx *ctx, const void *where);

/* Complete on return. */
int odc_remote_fetch_add(odcomm_ctx *ctx, int rank, size_t at, long add, long *before);

/* Several may be under way, until odc_remote_flush() has completed them all. */
int odc_remote_put(odcomm_ctx *ctx, int rank, size_t at, const void *from, size_t bytes);
int odc_remote_get(odcomm_ctx *ctx, int rank, size_t at, void *into, size_t bytes);
int odc_remote_add(odcomm_ctx *ctx, int rank, size_t at, const void *from, size_t count,
                   odcomm_dtype dtype);
int odc_remote_flush(odcomm_ctx *ctx);

#endif
