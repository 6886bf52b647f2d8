/* The memory of a context: laid out, shared, touched, given back. */
#ifndef ODC_ARENA_H
#define ODC_ARENA_H

#include "core.h"

/* Bytes of this rank's part of each window. */
typedef struct odc_sizes {
    size_t segment; /* on the first rank of a node, for all of its ranks */
    size_t grads;
} odc_sizes;

/*
 * Gives every group its place, checks that there is room, allocates what is private. Local: agree
 * on its errors before anything is shared.
 */
int odc_arena_prepare(odcomm_ctx *ctx, odc_sizes *sizes);

/* Makes the windows, maps the control words, zeroes everything. Collective. */
int odc_arena_open(odcomm_ctx *ctx, const odc_sizes *sizes);

/* Undo it: the windows (collective), then what is local. Fine where nothing was made. */
int odc_arena_close(odcomm_ctx *ctx);
void odc_arena_forget(odcomm_ctx *ctx);

#endif
