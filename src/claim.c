/* Tasks from one counter that all ranks share. */
#include "activity.h"
#include "check.h"
#include "remote.h"

static _Atomic long *counter(odcomm_ctx *ctx)
{
    return &ctx->control.head->claimed[ctx->version & 1];
}

/* *next: the task, or one past the last. */
static int claim_here(odcomm_ctx *ctx, long tasks, long *next)
{
    _Atomic long *claimed = counter(ctx);

    *next = atomic_load_explicit(claimed, memory_order_relaxed);
    while (*next < tasks &&
           !atomic_compare_exchange_weak_explicit(claimed, next, *next + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    return ODCOMM_OK;
}

/* On several nodes the counter of the first rank serves all, by MPI alone: its atomics are apart.
 */
static int claim_remote(odcomm_ctx *ctx, long tasks, long *next)
{
    size_t at = odc_remote_place(ctx, (const void *)counter(ctx));
    int code;

    *next = tasks;
    if (ctx->exhausted == ctx->version)
        return ODCOMM_OK;
    code = odc_remote_fetch_add(ctx, 0, at, 1, next);
    if (!code && *next >= tasks)
        ctx->exhausted = ctx->version;
    return code;
}

int odcomm_claim(odcomm_ctx *ctx, long tasks, long *task)
{
    long next;
    int code;

    if (task)
        *task = -1;
    if (!ctx)
        return ODCOMM_ERR_ARG;
    if (!task || tasks < 0)
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG, "odcomm_claim: %s",
                        task ? "tasks is negative" : "NULL pointer");
    if ((code = odc_check_phase(ctx, ODC_WORK, "odcomm_claim")))
        return code;
    code = ctx->nodes.count == 1 ? claim_here(ctx, tasks, &next) : claim_remote(ctx, tasks, &next);
    if (code || next >= tasks)
        return code;
    odc_note_call(ctx, ODC_CALL_CLAIM, (size_t)next);
    ctx->stats.claims++;
    *task = next;
    return ODCOMM_OK;
}
