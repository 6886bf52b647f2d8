#include "forward.h"

#include "activity.h"
#include "convert.h"
#include "remote.h"
#include "wait.h"

#include <string.h>

static bool has_added(const odcomm_ctx *ctx, int rank)
{
    return atomic_load_explicit(&ctx->control.row[rank].added, memory_order_acquire) ==
           ctx->version;
}

static int timed_out(odcomm_ctx *ctx)
{
    char late[160] = "";

    for (int rank = 0; rank < ctx->ranks && !late[0]; rank++)
        if (odc_is_here(ctx, rank) && !has_added(ctx, rank))
            odc_describe_rank(ctx, rank, late, sizeof late);
    return odc_fail(&ctx->error, ODCOMM_ERR_TIMEOUT,
                    "odcomm_fence: after %.1f s this node still waits for %s; call again to go on "
                    "waiting",
                    ctx->settings.timeout, late);
}

static int await_node(odcomm_ctx *ctx)
{
    odc_wait wait = odc_wait_begin(ctx);
    int code = ODCOMM_OK;

    atomic_store_explicit(&ctx->control.row[ctx->rank].added, ctx->version, memory_order_release);
    for (int rank = 0; rank < ctx->ranks && !code; rank++)
        while (!code && odc_is_here(ctx, rank) && !has_added(ctx, rank))
            code = odc_wait_step(&wait);
    ctx->stats.wait_fence_s += odc_wait_end(&wait);
    return code == ODCOMM_ERR_TIMEOUT ? timed_out(ctx) : code;
}

typedef int (*visit_sum)(odcomm_group *group, int owner, size_t count);

/* All sums that this rank keeps and that something was added to, owner by owner in rotation. */
static int visit_sums(odcomm_ctx *ctx, visit_sum visit)
{
    int code = ODCOMM_OK;

    for (int i = 1; i < ctx->ranks; i++) {
        int owner = (ctx->rank + i) % ctx->ranks;
        if (odc_is_here(ctx, owner) || ctx->collector[owner].part != ctx->nodes.rank)
            continue;
        for (size_t g = 0; g < ctx->groups && !code; g++) {
            odcomm_group *group = ctx->group[g];
            size_t count = odc_shard_extent(group->count, ctx->ranks, owner).count;
            if (count && atomic_load(odc_summed_word(&ctx->control, owner, g)) == ctx->version)
                code = visit(group, owner, count);
        }
    }
    return code;
}

static int forward(odcomm_group *group, int owner, size_t count)
{
    odcomm_ctx *ctx = group->ctx;

    ctx->stats.bytes_forwarded += count * odc_dtype_size(group->dtype);
    return odc_remote_add(ctx, owner, odc_inbound_place(group, owner),
                          odc_accumulator(group, owner), count, group->dtype);
}

static int zero(odcomm_group *group, int owner, size_t count)
{
    memset(odc_accumulator(group, owner), 0, count * odc_dtype_size(group->dtype));
    return ODCOMM_OK;
}

int odc_forward_sums(odcomm_ctx *ctx)
{
    int code;

    if ((code = await_node(ctx)) || (code = visit_sums(ctx, forward)) ||
        (code = odc_remote_flush(ctx)))
        return code;
    return visit_sums(ctx, zero);
}

void odc_take_inbound(odcomm_ctx *ctx)
{
    for (size_t i = 0; i < ctx->groups; i++) {
        odcomm_group *group = ctx->group[i];
        char *inbound = odc_inbound(group);
        odc_add(odc_accumulator(group, ctx->rank), group->dtype, inbound, group->dtype,
                group->mine.count);
        memset(inbound, 0, group->mine.count * odc_dtype_size(group->dtype));
    }
}
