/* Groups: adding them, and the owner's view of a shard. */
#ifndef ODC_GROUP_H
#define ODC_GROUP_H

#include "core.h"

void odc_group_free(odcomm_group *group);

#endif
