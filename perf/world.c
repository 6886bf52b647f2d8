#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGNMENT ((size_t)64)

int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static void nap(long ns)
{
    struct timespec duration = {ns / 1000000000, ns % 1000000000};
    nanosleep(&duration, NULL);
}

static void say(const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    fprintf(stderr, "odcomm-perf: %s\n", text);
}

void quit(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (world_rank() == 0)
        say(format, arguments);
    va_end(arguments);
    MPI_Finalize();
    exit(status);
}

/* When several ranks fail alike, the lowest ends the others before they speak. */
void give_up(const char *format, ...)
{
    va_list arguments;
    int rank = world_rank();
    nap(100000000L * (rank < 20 ? rank : 20));
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, EXIT_PROBLEM);
    exit(EXIT_PROBLEM);
}

void check(const odcomm_ctx *ctx, int code)
{
    if (code != ODCOMM_OK)
        give_up("%s: %s", odcomm_strerror(code), odcomm_last_error(ctx));
}

void *take_memory(size_t bytes)
{
    size_t whole = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, whole);
    if (!memory)
        give_up("no memory for a buffer of %zu bytes: give a smaller --max", bytes);
    memset(memory, 0, whole);
    return memory;
}

void polite_max(double *values, int count, MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, comm, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nap(20000);
}
