/* Commit: from groups that were added to groups that can be used. */
#include "activity.h"
#include "arena.h"
#include "check.h"
#include "compare.h"
#include "probe.h"

#include <stdio.h>

static void report(const odcomm_ctx *ctx)
{
    const odc_settings *settings = &ctx->settings;
    bool views = ctx->scheme->views && !settings->copy;

    fprintf(stderr, "odcomm: ranks %d on one node, groups %zu, mode %s, gather %s, time-out %g s\n",
            ctx->ranks, ctx->groups, odc_mode_name(settings->mode), views ? "view" : "copy",
            settings->timeout);
    fprintf(stderr, "odcomm: copies, where made, by %s; gradients by %s\n",
            ctx->direct_get ? "loads (this MPI_Get is slower or waits for its target)" : "MPI_Get",
            ctx->direct_add
                ? "adds under a lock (this MPI_Accumulate is slower or waits for its target)"
                : "MPI_Accumulate");
    if (settings->verbose > 1)
        fprintf(stderr, "odcomm: %llu bytes shared, %llu bytes a rank\n",
                (unsigned long long)ctx->stats.bytes_shared,
                (unsigned long long)ctx->stats.bytes_own);
}

static int commit(odcomm_ctx *ctx)
{
    odc_error *error = &ctx->error;
    odc_sizes sizes;
    int code;

    if ((code = odc_agree(ctx->comm, error, odc_compare_groups(ctx))) ||
        (code = odc_agree(ctx->comm, error, odc_arena_prepare(ctx, &sizes))) ||
        (code = odc_arena_open(ctx, &sizes)))
        return code;
    odc_note_call(ctx, ODC_CALL_COMMIT, 0);
    return odc_agree(ctx->comm, error, odc_choose_paths(ctx));
}

static void undo(odcomm_ctx *ctx)
{
    odc_error why = ctx->error;

    odc_arena_close(ctx);
    odc_arena_forget(ctx);
    ctx->error = why;
}

int odcomm_commit(odcomm_ctx *ctx)
{
    int code;

    if (!ctx)
        return ODCOMM_ERR_ARG;
    if ((code = odc_check_phase(ctx, ODC_SETUP, "odcomm_commit")))
        return code;
    if ((code = commit(ctx))) {
        undo(ctx);
        return code;
    }
    ctx->phase = ODC_UPDATE;
    if (ctx->rank == 0 && ctx->settings.verbose)
        report(ctx);
    return ODCOMM_OK;
}
