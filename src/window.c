#include "window.h"

#include "layout.h"

#include <stdint.h>
#include <stdlib.h>

/* Open MPI 4.1 starts shared windows 264 bytes into a page. The page is the same in all ranks. */
static int find_part(odc_window *window, int rank, odc_error *error)
{
    MPI_Aint size;
    int unit;
    char *base;
    int code = ODC_MPI(error, MPI_Win_shared_query(window->win, rank, &size, &unit, &base));

    if (code)
        return code;
    window->skipped[rank] = (MPI_Aint)(odc_align((uintptr_t)base) - (uintptr_t)base);
    window->part[rank] = base + window->skipped[rank];
    return ODCOMM_OK;
}

static int find_parts(odc_window *window, MPI_Comm comm, odc_error *error)
{
    int ranks, code;

    if ((code = ODC_MPI(error, MPI_Comm_size(comm, &ranks))))
        return code;
    for (int rank = 0; rank < ranks && !code; rank++)
        code = find_part(window, rank, error);
    return code;
}

/* Separate pages for each rank, so that its part can be placed and locked on its own. */
static int make_info(MPI_Info *info, odc_error *error)
{
    int code = ODC_MPI(error, MPI_Info_create(info));

    return code ? code : ODC_MPI(error, MPI_Info_set(*info, "alloc_shared_noncontig", "true"));
}

/* Goes on after a failure of its own, since the others are in the collective call already. */
static int allocate(odc_window *window, MPI_Comm comm, size_t bytes, odc_error *error)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Aint size = (MPI_Aint)(bytes + ODC_ALIGNMENT);
    void *base;
    int code = make_info(&info, error);
    int allocated =
        ODC_MPI(error, MPI_Win_allocate_shared(size, 1, info, comm, &base, &window->win));
    int freed = ODCOMM_OK;

    if (info != MPI_INFO_NULL)
        freed = ODC_MPI(error, MPI_Info_free(&info));
    return allocated ? allocated : code ? code : freed;
}

static int allocate_tables(odc_window *window, MPI_Comm comm, odc_error *error)
{
    int ranks, code;

    if ((code = ODC_MPI(error, MPI_Comm_size(comm, &ranks))))
        return code;
    window->part = calloc((size_t)ranks, sizeof *window->part);
    window->skipped = calloc((size_t)ranks, sizeof *window->skipped);
    if (!window->part || !window->skipped)
        return odc_fail(error, ODCOMM_ERR_NOMEM, "no memory for the addresses of %d ranks", ranks);
    return ODCOMM_OK;
}

int odc_window_allocate(odc_window *window, MPI_Comm comm, size_t bytes, odc_error *error)
{
    int code, allocated;

    *window = ODC_NO_WINDOW;
    window->bytes = bytes;
    code = allocate_tables(window, comm, error);
    allocated = allocate(window, comm, bytes, error);
    if (!code)
        code = allocated;
    if (!code)
        code = ODC_MPI(error, MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN));
    return code ? code : find_parts(window, comm, error);
}

int odc_window_open(odc_window *window, MPI_Comm comm, size_t bytes, odc_error *error)
{
    int code = odc_window_allocate(window, comm, bytes, error);

    if (!code)
        code = ODC_MPI(error, MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win));
    window->locked = code == ODCOMM_OK;
    return code;
}

int odc_window_free(odc_window *window, odc_error *error)
{
    int code = ODCOMM_OK, freed = ODCOMM_OK;

    if (window->locked)
        code = ODC_MPI(error, MPI_Win_unlock_all(window->win));
    if (window->win != MPI_WIN_NULL)
        freed = ODC_MPI(error, MPI_Win_free(&window->win));
    odc_window_forget(window);
    return code ? code : freed;
}

void odc_window_forget(odc_window *window)
{
    free(window->part);
    free(window->skipped);
    *window = ODC_NO_WINDOW;
}
