/* Windows on memory that all ranks of a node share, each rank's part 64-byte aligned. */
#ifndef ODC_WINDOW_H
#define ODC_WINDOW_H

#include "mpi_check.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct odc_window {
    MPI_Win win;       /* MPI_WIN_NULL: none */
    bool locked;       /* under lock_all */
    char **part;       /* [rank] where that rank's part begins in this process */
    MPI_Aint *skipped; /* [rank] bytes of its window before that, for displacements */
    size_t bytes;      /* of this rank's own part */
} odc_window;

#define ODC_NO_WINDOW ((odc_window){.win = MPI_WIN_NULL})

/*
 * Allocates `bytes` on this rank (others may pass other sizes) and opens the window for passive
 * access by all, from now until it is freed. Collective, but for its errors: agree afterwards.
 */
int odc_window_open(odc_window *window, MPI_Comm comm, size_t bytes, odc_error *error);

/* The same without opening it: for a window that lives in fence epochs. */
int odc_window_allocate(odc_window *window, MPI_Comm comm, size_t bytes, odc_error *error);

/* Collective. Fine on ODC_NO_WINDOW; leaves it so. */
int odc_window_free(odc_window *window, odc_error *error);

/* Gives up the tables alone, where MPI can no longer be called. */
void odc_window_forget(odc_window *window);

#endif
