#include "fetch.h"

#include "activity.h"
#include "convert.h"
#include "owners.h"
#include "remote.h"
#include "wait.h"

/* The first owner on `node` that has not published this version, or -1. */
static int late_owner(const odcomm_group *group, int node)
{
    const odcomm_ctx *ctx = group->ctx;

    for (int owner = 0; owner < ctx->ranks; owner++)
        if (ctx->nodes.of[owner] == node &&
            odc_shard_extent(group->count, ctx->ranks, owner).count && !odc_is_out(group, owner))
            return owner;
    return -1;
}

/* Owners in rotation, beginning behind this rank, so that fetchers spread over them. */
static int get_shards(odcomm_group *group, int node)
{
    odcomm_ctx *ctx = group->ctx;
    size_t size = odc_dtype_size(group->dtype);
    int code = ODCOMM_OK;

    for (int i = 1; i < ctx->ranks && !code; i++) {
        int owner = (ctx->rank + i) % ctx->ranks;
        odc_extent shard = odc_shard_extent(group->count, ctx->ranks, owner);
        if (ctx->nodes.of[owner] != node || shard.count == 0)
            continue;
        char *into = odc_values(group) + shard.first * size;
        code = odc_remote_get(ctx, owner, odc_remote_place(ctx, into), into, shard.count * size);
        ctx->stats.bytes_fetched += shard.count * size;
    }
    return code ? code : odc_remote_flush(ctx);
}

/* Makes this rank the one that fetches, unless another is or has. */
static int fetch_from(odcomm_group *group, int node, bool *here)
{
    odcomm_ctx *ctx = group->ctx;
    _Atomic long *word = odc_fetched_word(&ctx->control, node, group->index);
    long state = atomic_load_explicit(word, memory_order_acquire);
    int code;

    *here = state == 2 * ctx->version;
    if (state >= 2 * ctx->version - 1 || late_owner(group, node) >= 0 ||
        !atomic_compare_exchange_strong(word, &state, 2 * ctx->version - 1))
        return ODCOMM_OK;
    code = get_shards(group, node);
    *here = code == ODCOMM_OK;
    atomic_store_explicit(word, *here ? 2 * ctx->version : state, memory_order_release);
    return code;
}

/* Goes round the nodes once, each rank from another one on; *missing: one that is not here. */
static int go_round(odcomm_group *group, int *missing)
{
    odcomm_ctx *ctx = group->ctx;
    int code = ODCOMM_OK;

    *missing = -1;
    for (int i = 0; i < ctx->nodes.count && !code; i++) {
        int node = (ctx->nodes.mine + ctx->nodes.rank + i) % ctx->nodes.count;
        bool here;
        if (node == ctx->nodes.mine)
            here = late_owner(group, node) < 0;
        else
            code = fetch_from(group, node, &here);
        if (!here)
            *missing = node;
    }
    return code;
}

static int timed_out(odcomm_group *group, int node)
{
    odcomm_ctx *ctx = group->ctx;
    int owner = late_owner(group, node);
    char late[160] = "";

    if (owner >= 0)
        return odc_late_owner(group, ODC_CALL_GATHER, owner);
    odc_describe_rank(ctx, ctx->nodes.leader[node], late, sizeof late);
    return odc_fail(&ctx->error, ODCOMM_ERR_TIMEOUT,
                    "odcomm_gather of group '%.64s': waited %.1f s for a rank of this node that "
                    "fetches version %ld from the node of %s",
                    group->name, ctx->settings.timeout, ctx->version, late);
}

int odc_complete(odcomm_group *group)
{
    odcomm_ctx *ctx = group->ctx;
    odc_wait wait = odc_wait_begin(ctx);
    int missing, code;

    if (group->complete == ctx->version)
        return ODCOMM_OK;
    while (!(code = go_round(group, &missing)) && missing >= 0)
        if ((code = odc_wait_step(&wait)))
            break;
    ctx->stats.wait_gather_s += odc_wait_end(&wait);
    if (code == ODCOMM_ERR_TIMEOUT)
        return timed_out(group, missing);
    if (!code)
        group->complete = group->seen = ctx->version;
    return code;
}

int odc_fetch_ready(odcomm_group *group)
{
    int missing;

    if (group->ctx->nodes.count == 1 || group->complete == group->ctx->version)
        return ODCOMM_OK;
    return go_round(group, &missing);
}
