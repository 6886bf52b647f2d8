/* Tasks from one counter that all ranks share. */
#include "activity.h"
#include "check.h"

int odcomm_claim(odcomm_ctx *ctx, long tasks, long *task)
{
    _Atomic long *claimed;
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
    claimed = &ctx->control.head->claimed[ctx->version & 1];
    next = atomic_load_explicit(claimed, memory_order_relaxed);
    do {
        if (next >= tasks)
            return ODCOMM_OK;
    } while (!atomic_compare_exchange_weak_explicit(claimed, &next, next + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    odc_note_call(ctx, ODC_CALL_CLAIM, (size_t)next);
    ctx->stats.claims++;
    *task = next;
    return ODCOMM_OK;
}
