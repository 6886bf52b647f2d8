/* The turn of the phases: publish, fence, and the norm between them. */
#include "activity.h"
#include "check.h"
#include "convert.h"
#include "forward.h"
#include "meeting.h"
#include "norm.h"
#include "progress.h"
#include "remote.h"

#include <string.h>

static size_t shard_bytes(const odcomm_group *group)
{
    return group->mine.count * odc_dtype_size(group->dtype);
}

/* Values are where they are read already; only the word is missing that says so. */
static int publish(odcomm_group *group)
{
    odcomm_ctx *ctx = group->ctx;
    int code;

    memset(odc_accumulator(group, ctx->rank), 0, shard_bytes(group));
    if ((code = ODC_MPI(&ctx->error, MPI_Win_sync(ctx->grads.win))) ||
        (code = ODC_MPI(&ctx->error, MPI_Win_sync(ctx->values.win))))
        return code;
    group->published = ctx->version + 1;
    group->accumulated = false;
    atomic_store_explicit(odc_version_word(&ctx->control, ctx->rank, group->index),
                          group->published, memory_order_release);
    return ODCOMM_OK;
}

/* Tells the other nodes about `groups` version words of this rank. */
static int tell_nodes(odcomm_ctx *ctx, size_t group, size_t groups)
{
    const void *words = (const void *)odc_version_word(&ctx->control, ctx->rank, group);
    int code = ODCOMM_OK;

    if (ctx->nodes.count == 1 || groups == 0)
        return ODCOMM_OK;
    for (int i = 1; i < ctx->nodes.count && !code; i++) {
        int node = (ctx->nodes.mine + i) % ctx->nodes.count;
        code = odc_remote_put(ctx, ctx->nodes.leader[node], odc_remote_place(ctx, words), words,
                              groups * sizeof(long));
    }
    return code ? code : odc_remote_flush(ctx);
}

int odcomm_publish_group(odcomm_group *group)
{
    odcomm_ctx *ctx;
    int code;

    if (!group)
        return ODCOMM_ERR_ARG;
    ctx = group->ctx;
    if ((code = odc_check_phase(ctx, ODC_UPDATE, "odcomm_publish_group")))
        return code;
    if (group->published > ctx->version)
        return odc_fail(&ctx->error, ODCOMM_ERR_PHASE, "group '%s' is published already",
                        group->name);
    odc_note_call(ctx, ODC_CALL_PUBLISH, 0);
    if ((code = publish(group)))
        return code;
    if ((code = tell_nodes(ctx, group->index, 1)))
        group->published = ctx->version; /* it may be tried again */
    return code;
}

int odcomm_publish(odcomm_ctx *ctx)
{
    int code;

    if (!ctx)
        return ODCOMM_ERR_ARG;
    if ((code = odc_check_phase(ctx, ODC_UPDATE, "odcomm_publish")))
        return code;
    odc_note_call(ctx, ODC_CALL_PUBLISH, 0);
    for (size_t i = 0; i < ctx->groups && !code; i++)
        if (ctx->group[i]->published == ctx->version)
            code = publish(ctx->group[i]);
    if (code || (code = tell_nodes(ctx, 0, ctx->groups)))
        return code;
    ctx->version++;
    ctx->phase = ODC_WORK;
    return ODCOMM_OK;
}

static int check_fence(odcomm_ctx *ctx, const double *sums, int n)
{
    int code = odc_check_phase(ctx, ODC_WORK, "odcomm_fence");

    if (code)
        return code;
    if (n < 0 || n > ODCOMM_MAX_SUMS || (n > 0 && !sums))
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG,
                        "odcomm_fence: %d sums at %s; from 0 to %d are possible", n,
                        sums ? "an address" : "NULL", ODCOMM_MAX_SUMS);
    if (ctx->unfinished != ODC_NO_CALL && n != ctx->brought.n)
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG,
                        "odcomm_fence: called with n = %d before the time-out and with n = %d now",
                        ctx->brought.n, n);
    for (size_t i = 0; ctx->held && i < ctx->groups; i++)
        if (ctx->group[i]->held)
            return odc_fail(&ctx->error, ODCOMM_ERR_PHASE,
                            "odcomm_fence: group '%s' is still held; release it first",
                            ctx->group[i]->name);
    return ODCOMM_OK;
}

/* The counter of the last minibatch: nobody uses it before the fence that comes now is over. */
static void reset_next_claims(odcomm_ctx *ctx)
{
    if (ctx->rank == 0)
        atomic_store_explicit(&ctx->control.head->claimed[(ctx->version + 1) & 1], 0,
                              memory_order_relaxed);
}

/* Not again after a time-out: for the others this rank has come. */
static void begin_fence(odcomm_ctx *ctx, const double *sums, int n)
{
    reset_next_claims(ctx);
    ctx->brought.n = n;
    if (n)
        memcpy(ctx->brought.value, sums, (size_t)n * sizeof *sums);
}

/* This rank's gradients are with their owners after it, unless it could not wait long enough. */
static int finish(odcomm_ctx *ctx)
{
    int code = ctx->finished ? ODCOMM_OK : ctx->scheme->finish(ctx);

    ctx->finished = code == ODCOMM_OK;
    return code;
}

static int close_epoch(odcomm_ctx *ctx)
{
    int code;

    odc_mpi_enter(ctx);
    code = ODC_MPI(&ctx->error, MPI_Win_fence(0, ctx->sync));
    odc_mpi_leave(ctx);
    if (!code)
        code = ODC_MPI(&ctx->error, MPI_Win_sync(ctx->grads.win));
    if (!code && ctx->nodes.count > 1)
        code = ODC_MPI(&ctx->error, MPI_Win_sync(ctx->remote));
    if (ctx->nodes.count > 1 && ctx->settings.mode == ODC_ON_DEMAND)
        odc_take_inbound(ctx);
    return code;
}

/*
 * The meeting is the vote of a fence. What fails when it has been left, as the epoch ends, is told
 * at the next one: all gradients had arrived before, so nothing is wrong yet but that.
 */
static void keep_for_next(odcomm_ctx *ctx, int code)
{
    ctx->late = code;
    if (code)
        ctx->late_error = ctx->error;
}

static int told_late(odcomm_ctx *ctx)
{
    if (ctx->late)
        ctx->error = ctx->late_error;
    return ctx->late;
}

/* Meets the others. A rank that times out has come, for them, and goes on when it calls again. */
static int meet(odcomm_ctx *ctx, odc_call call, int code, const double *values, int n, double *sums)
{
    if (!code)
        code = told_late(ctx);
    code = odc_meet(ctx, call, code, values, n, sums);
    ctx->unfinished = ctx->arrived ? call : ODC_NO_CALL;
    if (ctx->arrived)
        return code;
    ctx->finished = false;
    ctx->late = ODCOMM_OK;
    return code;
}

int odcomm_fence(odcomm_ctx *ctx, double *sums, int n)
{
    double total[ODCOMM_MAX_SUMS];
    int code;

    if (!ctx)
        return ODCOMM_ERR_ARG;
    if ((code = check_fence(ctx, sums, n)))
        return code;
    odc_note_call(ctx, ODC_CALL_FENCE, 0);
    if (ctx->unfinished == ODC_NO_CALL)
        begin_fence(ctx, sums, n);
    code = finish(ctx);
    if (code == ODCOMM_ERR_TIMEOUT || (code && ctx->arrived)) {
        ctx->unfinished = ODC_CALL_FENCE;
        return code;
    }
    if ((code = meet(ctx, ODC_CALL_FENCE, code, ctx->brought.value, n, total)))
        return code;
    keep_for_next(ctx, close_epoch(ctx));
    if (n)
        memcpy(sums, total, (size_t)n * sizeof *sums);
    ctx->phase = ODC_UPDATE;
    ctx->stats.minibatches++;
    return ODCOMM_OK;
}

static void add_squares(odc_squares *squares, const odcomm_group *group)
{
    const void *grad = odc_accumulator(group, group->ctx->rank);

    if (group->dtype == ODCOMM_F64)
        odc_squares_add_f64(squares, grad, group->mine.count);
    else
        odc_squares_add_f32(squares, grad, group->mine.count);
}

static int check_norm(odcomm_ctx *ctx, const double *norm)
{
    int code = odc_check_phase(ctx, ODC_UPDATE, "odcomm_grad_norm");

    if (code)
        return code;
    if (!norm)
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG, "odcomm_grad_norm: NULL pointer");
    if (ctx->stats.minibatches == 0)
        return odc_fail(&ctx->error, ODCOMM_ERR_PHASE, "odcomm_grad_norm before the first fence");
    for (size_t i = 0; i < ctx->groups; i++)
        if (ctx->group[i]->published > ctx->version)
            return odc_fail(&ctx->error, ODCOMM_ERR_PHASE,
                            "odcomm_grad_norm: group '%s' is published, its gradient is gone",
                            ctx->group[i]->name);
    return ODCOMM_OK;
}

int odcomm_grad_norm(odcomm_ctx *ctx, double *norm)
{
    odc_squares mine = {{0}}, total;
    int code;

    if (!ctx)
        return ODCOMM_ERR_ARG;
    if ((code = check_norm(ctx, norm)))
        return code;
    odc_note_call(ctx, ODC_CALL_GRAD_NORM, 0);
    for (size_t i = 0; i < ctx->groups; i++)
        add_squares(&mine, ctx->group[i]);
    if ((code = meet(ctx, ODC_CALL_GRAD_NORM, ODCOMM_OK, mine.sum, ODC_SQUARES, total.sum)))
        return code;
    *norm = odc_squares_norm(&total);
    return ODCOMM_OK;
}
