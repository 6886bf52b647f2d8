/* Which ranks share a node. */
#ifndef ODC_TOPOLOGY_H
#define ODC_TOPOLOGY_H

#include "mpi_check.h"

/* Ranks of `comm` that share memory with this one. Collective, but for its errors. */
int odc_node_size(MPI_Comm comm, int *size, odc_error *error);

/* Room left where MPI keeps shared memory: fails with NOMEM where `need` bytes do not fit. */
int odc_check_room(size_t need, odc_error *error);

/* Fails with NOMEM: that many bytes did not fit. */
int odc_no_room(size_t need, odc_error *error);

#endif
