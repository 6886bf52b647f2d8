/* What a mode is put together from: see odc_scheme in core.h. */
#ifndef ODC_SCHEMES_H
#define ODC_SCHEMES_H

#include "core.h"

/* Mode on-demand. */
int odc_fetch_on_demand(odcomm_group *group, void *into, bool exact);
int odc_push_on_demand(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_on_demand(odcomm_ctx *ctx);

/* The rivals. */
int odc_fetch_collective(odcomm_group *group, void *into, bool exact);
int odc_push_collective(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_collective(odcomm_ctx *ctx);
int odc_push_local_sum(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_local_sum(odcomm_ctx *ctx);

#endif
