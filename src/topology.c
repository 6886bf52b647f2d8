#include "topology.h"

#include <sys/statvfs.h>

#define SHARED_MEMORY "/dev/shm"

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

/* Where it is too small, the system kills the process that touches the first page too many. */
int odc_check_room(size_t need, odc_error *error)
{
    struct statvfs status;
    unsigned long long room;

    if (statvfs(SHARED_MEMORY, &status) != 0)
        return ODCOMM_OK; /* not where this system keeps it */
    room = (unsigned long long)status.f_bavail * status.f_frsize;
    if (need <= room)
        return ODCOMM_OK;
    return odc_fail(error, ODCOMM_ERR_NOMEM,
                    SHARED_MEMORY
                    " has room for %llu bytes and %zu are needed: enlarge it (mount -o "
                    "remount,size=..., docker run --shm-size=...) or use smaller groups",
                    room, need);
}
