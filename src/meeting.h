/* A meeting of all ranks in the node segment: a vote, and sums, without MPI. */
#ifndef ODC_MEETING_H
#define ODC_MEETING_H

#include "core.h"

/*
 * Waits until all ranks have come to the same call. Everybody brings a code (0: all is well) and n
 * values; everybody leaves with the same code and with the sums, added in rank order. After
 * ODCOMM_ERR_TIMEOUT, which is this rank's alone, it still counts as having come: it calls again.
 */
int odc_meet(odcomm_ctx *ctx, odc_call call, int code, const double *values, int n, double *sums);

#endif
