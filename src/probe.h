/*
 * Whether one-sided operations reach a rank that is computing. Open MPI's do on one node, MPICH's
 * wait until the target calls MPI; so it is measured, never assumed.
 */
#ifndef ODC_PROBE_H
#define ODC_PROBE_H

#include "core.h"

/*
 * Sets ctx->direct_get, ctx->direct_add and ctx->remote_waits, the same on all ranks. Collective,
 * but for its errors. The windows are open, the control words and the accumulators zero, and stay
 * zero.
 */
int odc_choose_paths(odcomm_ctx *ctx);

#endif
