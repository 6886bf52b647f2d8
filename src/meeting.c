#include "meeting.h"

#include "activity.h"
#include "remote.h"
#include "wait.h"

#include <stdio.h>
#include <string.h>

static odc_ballot *ballot_of(const odcomm_ctx *ctx, int rank, long meeting)
{
    return &ctx->control.row[rank].ballot[meeting & 1];
}

/* Ballots first, complete, then the words that say so. */
static int tell_node(odcomm_ctx *ctx, int node, long meeting)
{
    int code = ODCOMM_OK;

    for (int pass = 0; pass < 2; pass++) {
        for (int rank = 0; rank < ctx->ranks && !code; rank++) {
            const odc_ballot *ballot = ballot_of(ctx, rank, meeting);
            const void *arrivals = (const void *)&ctx->control.row[rank].arrivals;
            const void *what = pass == 0 ? ballot : arrivals;
            size_t bytes = pass == 0 ? sizeof *ballot : sizeof ctx->control.row->arrivals;
            if (odc_is_here(ctx, rank))
                code = odc_remote_put(ctx, ctx->nodes.leader[node], odc_remote_place(ctx, what),
                                      what, bytes);
        }
        if (!code)
            code = odc_remote_flush(ctx);
    }
    return code;
}

/* The last rank of a node to arrive tells the other nodes of all of them. */
static int tell_others(odcomm_ctx *ctx, long meeting)
{
    _Atomic int *here = &ctx->control.head->here[meeting & 1];
    int code = ODCOMM_OK;

    if (ctx->nodes.count == 1 || atomic_fetch_add(here, 1) < ctx->nodes.ranks - 1)
        return ODCOMM_OK;
    atomic_store(here, 0);
    for (int i = 1; i < ctx->nodes.count && !code; i++)
        code = tell_node(ctx, (ctx->nodes.mine + i) % ctx->nodes.count, meeting);
    return code;
}

/*
 * A ballot is read until its reader has left, and written anew two meetings later: nobody comes to
 * that one before all have left this one.
 */
static int arrive(odcomm_ctx *ctx, long meeting, odc_call call, int code, const double *values,
                  int n)
{
    odc_ballot *ballot = ballot_of(ctx, ctx->rank, meeting);

    ballot->call = call;
    ballot->code = code;
    ballot->n = n;
    if (n)
        memcpy(ballot->value, values, (size_t)n * sizeof *values);
    if (code)
        ballot->error = ctx->error;
    atomic_store_explicit(&ctx->control.row[ctx->rank].arrivals, meeting, memory_order_release);
    ctx->arrived = true;
    return tell_others(ctx, meeting);
}

static bool has_arrived(const odcomm_ctx *ctx, int rank, long meeting)
{
    return atomic_load_explicit(&ctx->control.row[rank].arrivals, memory_order_acquire) >= meeting;
}

static int timed_out(odcomm_ctx *ctx, odc_call call, long meeting)
{
    char missing[2 * ODC_DESCRIPTION] = "";
    int more = 0;

    for (int rank = 0; rank < ctx->ranks; rank++) {
        if (has_arrived(ctx, rank, meeting))
            continue;
        if (strlen(missing) > sizeof missing - ODC_DESCRIPTION)
            more++;
        else {
            odc_describe_rank(ctx, rank, missing, sizeof missing);
        }
    }
    return odc_fail(&ctx->error, ODCOMM_ERR_TIMEOUT,
                    "%s: after %.1f s still missing: %s%s; call again to go on waiting",
                    odc_call_name(call), ctx->settings.timeout, missing, more ? " and others" : "");
}

static int wait_for_all(odcomm_ctx *ctx, odc_call call, long meeting)
{
    odc_wait wait = odc_wait_begin(ctx);
    int code = ODCOMM_OK;

    for (int rank = 0; rank < ctx->ranks && !code; rank++)
        while (!code && !has_arrived(ctx, rank, meeting))
            code = odc_wait_step(&wait);
    ctx->stats.wait_fence_s += odc_wait_end(&wait);
    return code == ODCOMM_ERR_TIMEOUT ? timed_out(ctx, call, meeting) : code;
}

/* Every rank compares the same ballots, so all come to the same result. */
static int compare(odcomm_ctx *ctx, long meeting)
{
    const odc_ballot *first = ballot_of(ctx, 0, meeting);
    const odc_ballot *worst = first;
    int worst_rank = 0;

    for (int rank = 1; rank < ctx->ranks; rank++) {
        const odc_ballot *ballot = ballot_of(ctx, rank, meeting);
        if (ballot->call != first->call)
            return odc_fail(&ctx->error, ODCOMM_ERR_MISMATCH,
                            "ranks 0 and %d meet in different calls, odcomm_fence and "
                            "odcomm_grad_norm",
                            rank);
        if (ballot->n != first->n)
            return odc_fail(&ctx->error, ODCOMM_ERR_MISMATCH,
                            "odcomm_fence: rank 0 brings %d sums and rank %d brings %d", first->n,
                            rank, ballot->n);
        if (ballot->code < worst->code) {
            worst = ballot;
            worst_rank = rank;
        }
    }
    if (worst->code)
        return odc_fail(&ctx->error, worst->code, "rank %d: %.1000s", worst_rank,
                        worst->error.text);
    return ODCOMM_OK;
}

static void add_up(const odcomm_ctx *ctx, long meeting, int n, double *sums)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int rank = 0; rank < ctx->ranks; rank++)
            sum += ballot_of(ctx, rank, meeting)->value[i];
        sums[i] = sum;
    }
}

int odc_meet(odcomm_ctx *ctx, odc_call call, int code, const double *values, int n, double *sums)
{
    long meeting = ctx->meetings + 1;

    if (!ctx->arrived && (code = arrive(ctx, meeting, call, code, values, n)))
        return code;
    if ((code = wait_for_all(ctx, call, meeting)))
        return code;
    ctx->meetings = meeting;
    ctx->arrived = false;
    if ((code = compare(ctx, meeting)))
        return code;
    add_up(ctx, meeting, n, sums);
    return ODCOMM_OK;
}
