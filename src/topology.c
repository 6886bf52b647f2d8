#include "topology.h"

int odc_node_size(MPI_Comm comm, int *size, odc_error *error)
{
    MPI_Comm node;
    int code =
        ODC_MPI(error, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    int freed;

    if (code)
        return code;
    code = ODC_MPI(error, MPI_Comm_size(node, size));
    freed = ODC_MPI(error, MPI_Comm_free(&node));
    return code ? code : freed;
}
