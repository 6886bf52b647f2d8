/*
 * Waiting for a word that another rank will write, without burning the core that it may need:
 * spins a little, yields, then sleeps in growing steps.
 */
#ifndef ODC_WAIT_H
#define ODC_WAIT_H

#include "core.h"

typedef struct odc_wait {
    odcomm_ctx *ctx;
    double since; /* on the monotonic clock */
    int rounds;
} odc_wait;

odc_wait odc_wait_begin(odcomm_ctx *ctx);

/*
 * Passes a moment. ODCOMM_OK: look again. ODCOMM_ERR_TIMEOUT: the time is over; the caller says
 * in words what it waited for. ODCOMM_ERR_MPI.
 *
 * MPI is given a chance to progress, since a peer may itself be waiting for a message of this
 * rank's that its program sent before it came here.
 */
int odc_wait_step(odc_wait *wait);

/* Seconds since the beginning; 0 if nothing had to be waited for. */
double odc_wait_end(const odc_wait *wait);

#endif
