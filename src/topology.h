/* Which ranks share a node. */
#ifndef ODC_TOPOLOGY_H
#define ODC_TOPOLOGY_H

#include "mpi_check.h"

/* Ranks of `comm` that share memory with this one. Collective, but for its errors. */
int odc_node_size(MPI_Comm comm, int *size, odc_error *error);

#endif
