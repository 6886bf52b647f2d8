/* The walk over the owners of a group, each as soon as it has published. */
#ifndef ODC_OWNERS_H
#define ODC_OWNERS_H

#include "core.h"

/* What is done at one owner; `shard` is what it owns, never empty. */
typedef int (*odc_visit)(odcomm_group *group, int owner, odc_extent shard, void *argument);

/*
 * Visits every owner that has a shard of the group once, beginning with this rank and going round,
 * but for those that have not published this version yet: they are come back to. `call` says what
 * for, for the statistics and for the sentence that goes with ODCOMM_ERR_TIMEOUT.
 */
int odc_visit_owners(odcomm_group *group, odc_call call, odc_visit visit, void *argument);

/* Whether the owner has published this version of the group. */
bool odc_is_out(const odcomm_group *group, int owner);

/* Fails with TIMEOUT, and says for whom was waited. */
int odc_late_owner(odcomm_group *group, odc_call call, int owner);

#endif
