/* What each rank last called the library for: noted by itself, described to those who wait for it.
 */
#ifndef ODC_ACTIVITY_H
#define ODC_ACTIVITY_H

#include "core.h"

/* `detail`: the index of the group, or the task. */
void odc_note_call(odcomm_ctx *ctx, odc_call call, size_t detail);

const char *odc_call_name(odc_call call);

/* Appends "rank R (last call: ..., N s ago)" to the list in `text`, which has this much room left.
 */
#define ODC_DESCRIPTION 400
void odc_describe_rank(const odcomm_ctx *ctx, int rank, char *text, size_t size);

#endif
