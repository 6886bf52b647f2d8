/* Whether a call may be made now. */
#ifndef ODC_CHECK_H
#define ODC_CHECK_H

#include "core.h"

/* Fails unless a group call with a non-NULL `argument` may be made now: in the work phase. */
int odc_check_worker(odcomm_group *group, const char *call, const void *argument);

/* The same where the argument is a buffer for the group's elements: an empty group needs none. */
int odc_check_buffer(odcomm_group *group, const char *call, const void *buffer);

/* Fails unless the context is in `phase`. */
int odc_check_phase(odcomm_ctx *ctx, odc_phase phase, const char *call);

#endif
