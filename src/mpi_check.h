/* Every MPI call goes through here: a failure keeps the call's name and MPI's own text. */
#ifndef ODC_MPI_CHECK_H
#define ODC_MPI_CHECK_H

#include "error.h"

/* ODCOMM_OK, or ODCOMM_ERR_MPI with "NAME failed: TEXT"; `call` is the call's source text. */
int odc_mpi_check(odc_error *error, int result, const char *call);

#define ODC_MPI(error, call) odc_mpi_check((error), (call), #call)

/*
 * Makes all ranks of `comm` leave with one code: ODCOMM_OK if all bring it, else the code and the
 * sentence of the lowest rank among those with the lowest code. Collective.
 */
int odc_agree(MPI_Comm comm, odc_error *error, int code);

#endif
