/*
 * MPI_COMM_WORLD keeps its error handler here, MPI_ERRORS_ARE_FATAL: an MPI call of the tool's own
 * that fails ends all ranks with MPI's message, so return codes need no check.
 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double patience_s = 2;

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int world_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static void nap(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    nanosleep(&time, NULL);
}

static void say(const char *format, va_list arguments)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "odcomm-train: %s\n", text);
    fflush(stderr);
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
    nap(rank < 20 ? 0.1 * rank : patience_s);
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, EXIT_PROBLEM);
    exit(EXIT_PROBLEM);
}

void check(const odcomm_ctx *ctx, int code)
{
    if (code != ODCOMM_OK)
        give_up("%s", odcomm_last_error(ctx));
}

/* The lowest rank that failed, or the number of ranks; a rank that failed does not wait for ever
 * for those that may wait for it elsewhere. */
static int first_failed(const odcomm_ctx *ctx, int code)
{
    int mine = code == ODCOMM_OK ? world_size() : world_rank(), first, done = 0;
    double begin = MPI_Wtime();
    MPI_Request request;
    MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    if (code == ODCOMM_OK)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        for (; !done; nap(1e-3)) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (!done && MPI_Wtime() - begin > patience_s)
                check(ctx, code);
        }
    return first;
}

void settle(odcomm_ctx **ctx, int code)
{
    int first = first_failed(*ctx, code);
    if (first == world_size())
        return;
    if (first == world_rank()) {
        fprintf(stderr, "odcomm-train: %s\n", odcomm_last_error(*ctx));
        fflush(stderr);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    odcomm_free(ctx);
    MPI_Finalize();
    exit(EXIT_PROBLEM);
}

void quit_if_any(int failed, const char *sentence)
{
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed)
        quit(EXIT_PROBLEM, "%s", sentence);
}
