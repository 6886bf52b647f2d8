#include "owners.h"

#include "activity.h"
#include "wait.h"

bool odc_is_out(const odcomm_group *group, int owner)
{
    const odcomm_ctx *ctx = group->ctx;

    if (group->seen == ctx->version)
        return true;
    return atomic_load_explicit(odc_version_word(&ctx->control, owner, group->index),
                                memory_order_acquire) >= ctx->version;
}

/* Owners with something to visit, in rotation, so that ranks spread over targets. */
static int list_owners(odcomm_group *group)
{
    odcomm_ctx *ctx = group->ctx;
    int n = 0;

    for (int i = 0; i < ctx->ranks; i++) {
        int owner = (ctx->rank + i) % ctx->ranks;
        if (odc_shard_extent(group->count, ctx->ranks, owner).count)
            ctx->pending[n++] = owner;
    }
    return n;
}

/* Visits those of the n pending owners that have published; *n becomes the number left. */
static int visit_ready(odcomm_group *group, odc_visit visit, void *argument, int *n)
{
    odcomm_ctx *ctx = group->ctx;
    int left = 0, code = ODCOMM_OK;

    for (int i = 0; i < *n && !code; i++) {
        int owner = ctx->pending[i];
        if (odc_is_out(group, owner))
            code = visit(group, owner, odc_shard_extent(group->count, ctx->ranks, owner), argument);
        else
            ctx->pending[left++] = owner;
    }
    *n = left;
    return code;
}

int odc_late_owner(odcomm_group *group, odc_call call, int owner)
{
    odcomm_ctx *ctx = group->ctx;
    char late[ODC_DESCRIPTION] = "";

    odc_describe_rank(ctx, owner, late, sizeof late);
    return odc_fail(&ctx->error, ODCOMM_ERR_TIMEOUT,
                    "%s of group '%s': waited %.1f s for version %ld from %s", odc_call_name(call),
                    group->name, ctx->settings.timeout, ctx->version, late);
}

int odc_visit_owners(odcomm_group *group, odc_call call, odc_visit visit, void *argument)
{
    odcomm_ctx *ctx = group->ctx;
    odc_wait wait = odc_wait_begin(ctx);
    int n = list_owners(group), code;

    while (!(code = visit_ready(group, visit, argument, &n)) && n > 0)
        if ((code = odc_wait_step(&wait)))
            break;
    *(call == ODC_CALL_GATHER ? &ctx->stats.wait_gather_s : &ctx->stats.wait_accumulate_s) +=
        odc_wait_end(&wait);
    if (code == ODCOMM_ERR_TIMEOUT)
        return odc_late_owner(group, call, ctx->pending[0]);
    if (!code)
        group->seen = ctx->version;
    return code;
}
