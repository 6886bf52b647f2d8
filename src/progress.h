/*
 * The library's thread, where other nodes' operations need this rank to call MPI while its program
 * computes. Only one of the two is in MPI at a time: both at once are several times slower.
 */
#ifndef ODC_PROGRESS_H
#define ODC_PROGRESS_H

#include "core.h"

int odc_progress_start(odcomm_ctx *ctx);
void odc_progress_stop(odcomm_ctx *ctx); /* joins it; fine where none runs */

/* Around MPI calls of the program's thread; they nest nowhere. Cheap where no thread runs. */
void odc_mpi_enter(odcomm_ctx *ctx);
void odc_mpi_leave(odcomm_ctx *ctx);

/*
 * Lets MPI progress. *busy: it had something to do, as far as the time it took can tell: what
 * one-sided operations do to a target is seen nowhere else.
 */
int odc_poll(odcomm_ctx *ctx, odc_error *error, bool *busy);

#endif
