/* Commit: from groups that were added to groups that can be used. */
#include "activity.h"
#include "arena.h"
#include "check.h"
#include "compare.h"
#include "probe.h"
#include "progress.h"

#include <stdio.h>

static const char *remote_progress(const odcomm_ctx *ctx)
{
    if (!ctx->remote_waits)
        return "which reach a rank that computes";
    if (ctx->progress.running)
        return "which wait until their target calls MPI, as a thread of each rank does";
    return ctx->multiple ? "which wait until their target calls MPI: progress is none"
                         : "which wait until their target calls MPI: there is no thread to do so, "
                           "since MPI was not initialised with MPI_THREAD_MULTIPLE";
}

static void report(const odcomm_ctx *ctx)
{
    const odc_settings *settings = &ctx->settings;
    bool views = ctx->scheme->views && !settings->copy;

    fprintf(stderr, "odcomm: ranks %d on nodes %d, groups %zu, mode %s, gather %s, time-out %g s\n",
            ctx->ranks, ctx->nodes.count, ctx->groups, odc_mode_name(settings->mode),
            views ? "view" : "copy", settings->timeout);
    fprintf(stderr, "odcomm: on a node: copies, where made, by %s; gradients by %s\n",
            ctx->direct_get ? "loads (this MPI_Get is slower or waits for its target)" : "MPI_Get",
            ctx->direct_add
                ? "adds under a lock (this MPI_Accumulate is slower or waits for its target)"
                : "MPI_Accumulate");
    if (ctx->nodes.count > 1)
        fprintf(stderr, "odcomm: between nodes: MPI_Get, MPI_Accumulate, MPI_Put, %s\n",
                remote_progress(ctx));
    if (settings->verbose > 1)
        fprintf(stderr, "odcomm: %llu bytes shared, %llu bytes a rank\n",
                (unsigned long long)ctx->stats.bytes_shared,
                (unsigned long long)ctx->stats.bytes_own);
}

static int start_thread(odcomm_ctx *ctx)
{
    bool wanted = ctx->settings.progress == ODC_THREAD ||
                  (ctx->settings.progress == ODC_MEASURED && ctx->remote_waits && ctx->multiple &&
                   ctx->settings.mode != ODC_COLLECTIVE);

    return wanted ? odc_progress_start(ctx) : ODCOMM_OK;
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
    if ((code = odc_agree(ctx->comm, error, odc_choose_paths(ctx))))
        return code;
    return odc_agree(ctx->comm, error, start_thread(ctx));
}

static void undo(odcomm_ctx *ctx)
{
    odc_error why = ctx->error;

    odc_progress_stop(ctx);
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
