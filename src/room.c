#include "room.h"

#include <limits.h>
#include <sys/statvfs.h>

#define SHARED_MEMORY "/dev/shm"

/* Bytes that are free; as many as there can be where this system keeps it elsewhere. */
static unsigned long long free_room(void)
{
    struct statvfs status;

    if (statvfs(SHARED_MEMORY, &status) != 0)
        return ULLONG_MAX;
    return (unsigned long long)status.f_bavail * status.f_frsize;
}

int odc_no_room(size_t need, odc_error *error)
{
    return odc_fail(error, ODCOMM_ERR_NOMEM,
                    SHARED_MEMORY
                    " has room for %llu bytes and %zu are needed: enlarge it (mount -o "
                    "remount,size=..., docker run --shm-size=...) or use smaller groups",
                    free_room(), need);
}

/* Where it is too small, the system kills the process that touches the first page too many. */
int odc_check_room(size_t need, odc_error *error)
{
    return need <= free_room() ? ODCOMM_OK : odc_no_room(need, error);
}
