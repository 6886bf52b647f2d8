/* What the life of a context needs from its groups. */
#ifndef ODC_CONTEXT_H
#define ODC_CONTEXT_H

#include "core.h"

/* Whether all ranks have added the same groups. Collective, but for its errors. */
int odc_compare_groups(odcomm_ctx *ctx);

/* Undo what commit has made: the windows (collective), then what is local. */
int odc_close(odcomm_ctx *ctx);
void odc_forget(odcomm_ctx *ctx);

void odc_group_free(odcomm_group *group);

#endif
