#include "wait.h"

#include <sched.h>
#include <time.h>

#define SPINS 64
#define YIELDS 32
#define SHORTEST_SLEEP_NS 10000L
#define LONGEST_SLEEP_NS 500000L

double odc_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

odc_wait odc_wait_begin(odcomm_ctx *ctx)
{
    return (odc_wait){.ctx = ctx};
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void sleep_growing(int sleeps)
{
    long ns = sleeps < 6 ? SHORTEST_SLEEP_NS << sleeps : LONGEST_SLEEP_NS;
    struct timespec duration = {0, ns};
    nanosleep(&duration, NULL);
}

int odc_wait_step(odc_wait *wait)
{
    odcomm_ctx *ctx = wait->ctx;
    int round = wait->rounds++;
    int arrived;

    if (round == 0)
        wait->since = odc_now();
    if (round < SPINS) {
        pause_briefly();
        return ODCOMM_OK;
    }
    if (round < SPINS + YIELDS) {
        sched_yield();
        return ODCOMM_OK;
    }
    if (round > SPINS + YIELDS + 100)
        wait->rounds--; /* no overflow, however long it takes */
    sleep_growing(round - SPINS - YIELDS);
    if (ctx->settings.timeout > 0 && odc_now() - wait->since > ctx->settings.timeout)
        return ODCOMM_ERR_TIMEOUT;
    return ODC_MPI(&ctx->error,
                   MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ctx->comm, &arrived, MPI_STATUS_IGNORE));
}

double odc_wait_end(const odc_wait *wait)
{
    return wait->rounds ? odc_now() - wait->since : 0;
}
