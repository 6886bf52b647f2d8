/* Whether all ranks have added the same groups. */
#ifndef ODC_COMPARE_H
#define ODC_COMPARE_H

#include "core.h"

/* Each compares its own with rank 0's. Collective, but for its errors. */
int odc_compare_groups(odcomm_ctx *ctx);

#endif
