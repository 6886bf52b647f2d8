/* Gradients go to their owners at once, each when it is ready for them. */
#include "schemes.h"

#include "activity.h"
#include "check.h"
#include "convert.h"
#include "forward.h"
#include "owners.h"
#include "remote.h"
#include "transfer.h"

struct gradient {
    const char *values;
    odcomm_dtype dtype;
};

static int add_shard(odcomm_group *group, int owner, odc_extent shard, void *argument)
{
    const struct gradient *gradient = argument;
    const char *values = gradient->values + shard.first * odc_dtype_size(gradient->dtype);
    odcomm_ctx *ctx = group->ctx;

    if (!odc_is_here(ctx, owner) && ctx->nodes.ranks == 1)
        return odc_add_remote(group, owner, shard.count, values, gradient->dtype);
    if (!odc_is_here(ctx, owner))
        atomic_store_explicit(odc_summed_word(&ctx->control, owner, group->index), ctx->version,
                              memory_order_relaxed);
    return odc_add_to(group, owner, 0, shard.count, values, gradient->dtype);
}

/* Waits for each owner: it has then zeroed its accumulator, which replaces a second barrier. */
int odc_push_on_demand(odcomm_group *group, const void *grad, odcomm_dtype dtype)
{
    odcomm_ctx *ctx = group->ctx;
    struct gradient gradient = {grad, dtype};
    int code = odc_visit_owners(group, ODC_CALL_ACCUMULATE, add_shard, &gradient);

    if (ctx->nodes.count > 1 && ctx->nodes.ranks == 1) {
        int flushed = odc_remote_flush(ctx); /* the gradient is the caller's again */
        code = code ? code : flushed;
    }
    return code;
}

int odc_finish_on_demand(odcomm_ctx *ctx)
{
    int code = ODCOMM_OK;

    if (!ctx->direct_add)
        code = ODC_MPI(&ctx->error, MPI_Win_flush_all(ctx->grads.win));
    if (code || ctx->nodes.count == 1 || ctx->nodes.ranks == 1)
        return code;
    return odc_forward_sums(ctx);
}

static int check_dtype(odcomm_ctx *ctx, odcomm_dtype dtype)
{
    if (!odc_dtype_valid(dtype))
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG, "odcomm_accumulate: no such dtype: %d",
                        (int)dtype);
    if (dtype != ODCOMM_F32 && dtype != ODCOMM_F64)
        return odc_fail(&ctx->error, ODCOMM_ERR_UNSUPPORTED,
                        "odcomm_accumulate: this version does not have 16-bit gradients yet");
    return ODCOMM_OK;
}

int odcomm_accumulate(odcomm_group *group, const void *grad, odcomm_dtype dtype)
{
    int code = odc_check_buffer(group, "odcomm_accumulate", grad);

    if (code || (code = check_dtype(group->ctx, dtype)))
        return code;
    odc_note_call(group->ctx, ODC_CALL_ACCUMULATE, group->index);
    if ((code = group->ctx->scheme->push(group, grad, dtype)))
        return code;
    group->ctx->stats.accumulates++;
    return ODCOMM_OK;
}
