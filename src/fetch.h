/* Bringing the shards of a group that other nodes own to this node, once a version. */
#ifndef ODC_FETCH_H
#define ODC_FETCH_H

#include "core.h"

/* Waits until this node has every shard of this version; fetches what no other rank fetches. */
int odc_complete(odcomm_group *group);

/* Fetches what can be fetched without waiting for anybody. */
int odc_fetch_ready(odcomm_group *group);

#endif
