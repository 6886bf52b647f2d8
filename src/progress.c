#include "progress.h"

#include "clock.h"

#include <sched.h>

#define BUSY_S 3e-6    /* an idle poll takes less */
#define IDLE_POLLS 100 /* before the thread begins to sleep */
#define LONGEST_SLEEP_S 1e-4

void odc_mpi_enter(odcomm_ctx *ctx)
{
    if (!ctx->progress.running)
        return;
    atomic_fetch_add(&ctx->progress.callers, 1);
    pthread_mutex_lock(&ctx->progress.in_mpi);
}

void odc_mpi_leave(odcomm_ctx *ctx)
{
    if (!ctx->progress.running)
        return;
    pthread_mutex_unlock(&ctx->progress.in_mpi);
    atomic_fetch_sub(&ctx->progress.callers, 1);
}

int odc_poll(odcomm_ctx *ctx, odc_error *error, bool *busy)
{
    double begin = odc_now();
    int arrived;
    int code = ODC_MPI(
        error, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ctx->comm, &arrived, MPI_STATUS_IGNORE));

    *busy = odc_now() - begin > BUSY_S;
    return code;
}

/* Gives way to the program's thread, since a mutex alone is not fair. */
static bool poll_unless_called(odcomm_ctx *ctx)
{
    odc_error ignored; /* the program's next own call meets the same trouble, and reports it */
    bool busy = false;

    if (atomic_load(&ctx->progress.callers) == 0 &&
        pthread_mutex_trylock(&ctx->progress.in_mpi) == 0) {
        odc_poll(ctx, &ignored, &busy);
        pthread_mutex_unlock(&ctx->progress.in_mpi);
    }
    return busy;
}

static void *run(void *argument)
{
    odcomm_ctx *ctx = argument;
    int idle = 0;

    while (!atomic_load(&ctx->progress.stop)) {
        idle = poll_unless_called(ctx) ? 0 : idle + (idle < 2 * IDLE_POLLS);
        if (idle < IDLE_POLLS)
            sched_yield();
        else
            odc_sleep(LONGEST_SLEEP_S * (idle - IDLE_POLLS + 1) / (IDLE_POLLS + 1));
    }
    return NULL;
}

int odc_progress_start(odcomm_ctx *ctx)
{
    atomic_store(&ctx->progress.stop, false);
    atomic_store(&ctx->progress.callers, 0);
    pthread_mutex_init(&ctx->progress.in_mpi, NULL);
    if (pthread_create(&ctx->progress.thread, NULL, run, ctx) != 0) {
        pthread_mutex_destroy(&ctx->progress.in_mpi);
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "the progress thread cannot be started");
    }
    ctx->progress.running = true;
    return ODCOMM_OK;
}

void odc_progress_stop(odcomm_ctx *ctx)
{
    if (!ctx->progress.running)
        return;
    atomic_store(&ctx->progress.stop, true);
    pthread_join(ctx->progress.thread, NULL);
    pthread_mutex_destroy(&ctx->progress.in_mpi);
    ctx->progress.running = false;
}
