/* What workers and owners do: the parts that schemes are put together from, and shared checks. */
#ifndef ODC_ACTIONS_H
#define ODC_ACTIONS_H

#include "core.h"

/* Mode on-demand. See odc_scheme in core.h. */
int odc_fetch_on_demand(odcomm_group *group, void *into, bool exact);
int odc_push_on_demand(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_on_demand(odcomm_ctx *ctx);

/* The rivals. */
int odc_fetch_collective(odcomm_group *group, void *into, bool exact);
int odc_push_collective(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_collective(odcomm_ctx *ctx);
int odc_push_local_sum(odcomm_group *group, const void *grad, odcomm_dtype dtype);
int odc_finish_local_sum(odcomm_ctx *ctx);

/* Fails unless a group call with a non-NULL `argument` may be made now: in the work phase. */
int odc_check_worker(odcomm_group *group, const char *call, const void *argument);

/* Fails unless the context is in `phase`. */
int odc_check_phase(odcomm_ctx *ctx, odc_phase phase, const char *call);

#endif
