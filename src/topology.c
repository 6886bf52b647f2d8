#include "topology.h"

#include <stdlib.h>

/* The ranks of this host, cut into nodes of `limit`. */
static int split(MPI_Comm comm, int limit, MPI_Comm *node, odc_error *error)
{
    MPI_Comm host = MPI_COMM_NULL;
    int rank, code, freed;

    code = ODC_MPI(error, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    if (code || limit == 0) {
        *node = host;
        return code;
    }
    if (!(code = ODC_MPI(error, MPI_Comm_rank(host, &rank))))
        code = ODC_MPI(error, MPI_Comm_split(host, rank / limit, 0, node));
    freed = ODC_MPI(error, MPI_Comm_free(&host));
    return code ? code : freed;
}

static int allocate(odc_nodes *nodes, int ranks, odc_error *error)
{
    nodes->of = calloc((size_t)ranks, sizeof *nodes->of);
    nodes->place = calloc((size_t)ranks, sizeof *nodes->place);
    nodes->leader = calloc((size_t)ranks, sizeof *nodes->leader);
    if (!nodes->of || !nodes->place || !nodes->leader)
        return odc_fail(error, ODCOMM_ERR_NOMEM, "no memory for the nodes of %d ranks", ranks);
    return ODCOMM_OK;
}

/* From the first rank of every rank's node, which `of` holds, to numbers of nodes and places. */
static void number(odc_nodes *nodes, int rank, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        int first = nodes->of[r];
        if (first == r) {
            nodes->leader[nodes->count] = r;
            nodes->of[r] = nodes->count++;
            nodes->place[r] = 0;
            continue;
        }
        nodes->of[r] = nodes->of[first];
        for (int other = first; other < r; other++)
            nodes->place[r] += nodes->of[other] == nodes->of[first];
    }
    nodes->mine = nodes->of[rank];
}

/* Every rank's node by its first rank. Both calls are made whatever becomes of the first. */
static int exchange(odc_nodes *nodes, MPI_Comm comm, int rank, odc_error *error)
{
    int first = rank;
    int code = ODC_MPI(error, MPI_Bcast(&first, 1, MPI_INT, 0, nodes->comm));
    int exchanged = ODC_MPI(error, MPI_Allgather(&first, 1, MPI_INT, nodes->of, 1, MPI_INT, comm));

    return code ? code : exchanged;
}

static int describe(odc_nodes *nodes, odc_error *error)
{
    int code;

    if ((code = ODC_MPI(error, MPI_Comm_set_errhandler(nodes->comm, MPI_ERRORS_RETURN))) ||
        (code = ODC_MPI(error, MPI_Comm_rank(nodes->comm, &nodes->rank))) ||
        (code = ODC_MPI(error, MPI_Comm_size(nodes->comm, &nodes->ranks))))
        return code;
    return ODCOMM_OK;
}

int odc_nodes_find(odc_nodes *nodes, MPI_Comm comm, int limit, odc_error *error)
{
    int rank, ranks, code;

    *nodes = ODC_NO_NODES;
    if (!(code = ODC_MPI(error, MPI_Comm_rank(comm, &rank))) &&
        !(code = ODC_MPI(error, MPI_Comm_size(comm, &ranks))))
        code = allocate(nodes, ranks, error);
    if ((code = odc_agree(comm, error, code)) ||
        (code = odc_agree(comm, error, split(comm, limit, &nodes->comm, error))) ||
        (code = odc_agree(comm, error, describe(nodes, error))) ||
        (code = odc_agree(comm, error, exchange(nodes, comm, rank, error))))
        return code;
    number(nodes, rank, ranks);
    return ODCOMM_OK;
}

int odc_nodes_free(odc_nodes *nodes, odc_error *error)
{
    int code = ODCOMM_OK;

    if (nodes->comm != MPI_COMM_NULL)
        code = ODC_MPI(error, MPI_Comm_free(&nodes->comm));
    odc_nodes_forget(nodes);
    return code;
}

void odc_nodes_forget(odc_nodes *nodes)
{
    free(nodes->of);
    free(nodes->place);
    free(nodes->leader);
    *nodes = ODC_NO_NODES;
}
