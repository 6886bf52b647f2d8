#include "wait.h"

#include "clock.h"
#include "progress.h"

#include <sched.h>

#define SPINS 64
#define YIELDS 32
#define DOUBLINGS 6
#define SHORTEST_SLEEP_S 1e-5
#define LONGEST_SLEEP_S 5e-4

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
    odc_sleep(sleeps < DOUBLINGS ? SHORTEST_SLEEP_S * (1 << sleeps) : LONGEST_SLEEP_S);
}

/* Where other nodes depend on this rank's calls, it goes on polling as long as that does something.
 */
static int poll_once(odc_wait *wait)
{
    odcomm_ctx *ctx = wait->ctx;
    bool busy = false;
    int code = ODCOMM_OK;

    if (!ctx->progress.running)
        code = odc_poll(ctx, &ctx->error, &busy);
    if (busy && ctx->remote_waits)
        wait->rounds = SPINS;
    return code;
}

int odc_wait_step(odc_wait *wait)
{
    int round = wait->rounds++;

    if (round == 0)
        wait->since = odc_now();
    if (round < SPINS) {
        pause_briefly();
        return ODCOMM_OK;
    }
    if (round < SPINS + YIELDS) {
        sched_yield();
        return wait->ctx->remote_waits ? poll_once(wait) : ODCOMM_OK;
    }
    if (round > SPINS + YIELDS + DOUBLINGS)
        wait->rounds--; /* no overflow, however long it takes */
    sleep_growing(round - SPINS - YIELDS);
    if (wait->ctx->settings.timeout > 0 && odc_now() - wait->since > wait->ctx->settings.timeout)
        return ODCOMM_ERR_TIMEOUT;
    return poll_once(wait);
}

double odc_wait_end(const odc_wait *wait)
{
    return wait->rounds ? odc_now() - wait->since : 0;
}
