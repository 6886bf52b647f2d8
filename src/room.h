/* Whether there is room where MPI keeps shared memory. */
#ifndef ODC_ROOM_H
#define ODC_ROOM_H

#include "error.h"

#include <stddef.h>

/* Fails with NOMEM where `need` bytes do not fit: says path, need and free room. */
int odc_check_room(size_t need, odc_error *error);

/* Fails with NOMEM: that many bytes did not fit. */
int odc_no_room(size_t need, odc_error *error);

#endif
