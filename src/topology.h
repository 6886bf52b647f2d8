/* Which ranks share a node. */
#ifndef ODC_TOPOLOGY_H
#define ODC_TOPOLOGY_H

#include "mpi_check.h"

typedef struct odc_nodes {
    MPI_Comm comm; /* the ranks of this node, in the order of the context */
    int count;     /* nodes, numbered in the order of their first ranks */
    int mine;      /* this rank's node */
    int ranks;     /* of this node */
    int rank;      /* this rank among them */
    int *of;       /* [rank of the context] its node */
    int *place;    /* [rank of the context] its place among the ranks of its node */
    int *leader;   /* [node] its first rank */
} odc_nodes;

#define ODC_NO_NODES ((odc_nodes){.comm = MPI_COMM_NULL})

/*
 * Finds out. `limit` > 0: at most so many ranks of a host are a node, as if they were on several.
 * Collective, but for its errors.
 */
int odc_nodes_find(odc_nodes *nodes, MPI_Comm comm, int limit, odc_error *error);

/* Frees the communicator (collective) and the tables; where MPI is over, the tables alone. */
int odc_nodes_free(odc_nodes *nodes, odc_error *error);
void odc_nodes_forget(odc_nodes *nodes);

#endif
