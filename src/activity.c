#include "activity.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

void odc_note_call(odcomm_ctx *ctx, odc_call call, size_t detail)
{
    odc_row *row = &ctx->control.row[ctx->rank];
    uint64_t packed = (uint64_t)call << 56 | (detail & (UINT64_MAX >> 8));

    atomic_store_explicit(&row->last_call, packed, memory_order_relaxed);
    atomic_store_explicit(&row->last_call_s, odc_now(), memory_order_relaxed);
}

const char *odc_call_name(odc_call call)
{
    static const char *const names[] = {
        [ODC_NO_CALL] = "none",
        [ODC_CALL_COMMIT] = "odcomm_commit",
        [ODC_CALL_PUBLISH] = "odcomm_publish",
        [ODC_CALL_GATHER] = "odcomm_gather",
        [ODC_CALL_ACCUMULATE] = "odcomm_accumulate",
        [ODC_CALL_CLAIM] = "odcomm_claim",
        [ODC_CALL_FENCE] = "odcomm_fence",
        [ODC_CALL_GRAD_NORM] = "odcomm_grad_norm",
    };
    return names[call];
}

void odc_describe_rank(const odcomm_ctx *ctx, int rank, char *text, size_t size)
{
    const odc_row *row = &ctx->control.row[rank];
    uint64_t packed = atomic_load_explicit(&row->last_call, memory_order_relaxed);
    double ago = odc_now() - atomic_load_explicit(&row->last_call_s, memory_order_relaxed);
    size_t detail = (size_t)(packed & (UINT64_MAX >> 8));
    odc_call call = (odc_call)(packed >> 56);
    size_t used = strlen(text);

    used += (size_t)snprintf(text + used, size - used, "%s", used ? ", " : "");
    text += used;
    size -= used;
    if (call == ODC_CALL_GATHER || call == ODC_CALL_ACCUMULATE)
        snprintf(text, size, "rank %d (last call: %s of group '%s', %.1f s ago)", rank,
                 odc_call_name(call), ctx->group[detail]->name, ago);
    else if (call == ODC_CALL_CLAIM)
        snprintf(text, size, "rank %d (last call: %s of task %zu, %.1f s ago)", rank,
                 odc_call_name(call), detail, ago);
    else
        snprintf(text, size, "rank %d (last call: %s, %.1f s ago)", rank, odc_call_name(call), ago);
}
