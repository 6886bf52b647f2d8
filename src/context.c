/* The life of a context: create and free, and what can be looked at. */
#include "arena.h"
#include "group.h"
#include "progress.h"
#include "schemes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const odc_scheme schemes[] = {
    [ODC_ON_DEMAND] = {odc_fetch_on_demand, odc_push_on_demand, odc_finish_on_demand, true},
    [ODC_COLLECTIVE] = {odc_fetch_collective, odc_push_collective, odc_finish_collective, false},
    [ODC_LOCAL_SUM] = {odc_fetch_on_demand, odc_push_local_sum, odc_finish_local_sum, true},
};

/* There is no context yet to keep the sentence in. */
static _Thread_local odc_error create_error;

static int check_mpi(MPI_Comm comm)
{
    int initialised = 0, finalised = 0, inter = 0, code;

    if ((code = ODC_MPI(&create_error, MPI_Initialized(&initialised))) ||
        (code = ODC_MPI(&create_error, MPI_Finalized(&finalised))))
        return code;
    if (!initialised || finalised)
        return odc_fail(&create_error, ODCOMM_ERR_PHASE,
                        "odcomm_create is called between MPI_Init and MPI_Finalize");
    if (comm == MPI_COMM_NULL)
        return odc_fail(&create_error, ODCOMM_ERR_ARG, "odcomm_create: MPI_COMM_NULL");
    if ((code = ODC_MPI(&create_error, MPI_Comm_test_inter(comm, &inter))))
        return code;
    if (inter)
        return odc_fail(&create_error, ODCOMM_ERR_ARG, "odcomm_create: an inter-communicator");
    return ODCOMM_OK;
}

/* *multiple: threads of their own may call MPI. */
static int check_thread(const odc_settings *settings, bool *multiple)
{
    int provided, code;

    if ((code = ODC_MPI(&create_error, MPI_Query_thread(&provided))))
        return code;
    *multiple = provided == MPI_THREAD_MULTIPLE;
    if (settings->progress == ODC_THREAD && !*multiple)
        return odc_fail(&create_error, ODCOMM_ERR_UNSUPPORTED,
                        "a progress thread needs MPI_Init_thread with MPI_THREAD_MULTIPLE");
    return ODCOMM_OK;
}

/* What a rank can do on its own; *made is NULL where there is no memory for it. */
static int prepare(MPI_Comm comm, const odcomm_options *options, odcomm_ctx **made)
{
    odcomm_ctx *ctx = *made = calloc(1, sizeof *ctx);
    int code;

    if (!ctx)
        return odc_fail(&create_error, ODCOMM_ERR_NOMEM, "odcomm_create: no memory for a context");
    ctx->comm = comm;
    ctx->values = ctx->grads = ODC_NO_WINDOW;
    ctx->sync = ctx->remote = MPI_WIN_NULL;
    ctx->nodes = ODC_NO_NODES;
    if ((code = odc_settings_read(&ctx->settings, options, environ, &create_error)) ||
        (code = check_thread(&ctx->settings, &ctx->multiple)) ||
        (code = ODC_MPI(&create_error, MPI_Comm_rank(comm, &ctx->rank))) ||
        (code = ODC_MPI(&create_error, MPI_Comm_size(comm, &ctx->ranks))))
        return code;
    ctx->scheme = &schemes[ctx->settings.mode];
    return ODCOMM_OK;
}

/* Options that change what ranks say to each other must be the same everywhere. */
static int compare_settings(const odcomm_ctx *ctx)
{
    int mine[2] = {(int)ctx->settings.mode, ctx->settings.node_ranks};
    int first[2] = {mine[0], mine[1]};
    int code = ODC_MPI(&create_error, MPI_Bcast(first, 2, MPI_INT, 0, ctx->comm));

    if (code)
        return code;
    if (mine[0] != first[0])
        return odc_fail(&create_error, ODCOMM_ERR_MISMATCH, "mode is %s here and %s on rank 0",
                        odc_mode_name((odc_mode)mine[0]), odc_mode_name((odc_mode)first[0]));
    if (mine[1] != first[1])
        return odc_fail(&create_error, ODCOMM_ERR_MISMATCH,
                        "node_ranks is %d here and %d on rank 0", mine[1], first[1]);
    return ODCOMM_OK;
}

int odcomm_create(MPI_Comm comm, const odcomm_options *options, odcomm_ctx **ctx)
{
    MPI_Comm own = MPI_COMM_NULL;
    odcomm_ctx *made = NULL;
    int code;

    if (!ctx)
        return odc_fail(&create_error, ODCOMM_ERR_ARG, "odcomm_create: NULL pointer");
    *ctx = NULL;
    if ((code = check_mpi(comm)))
        return code;
    code = ODC_MPI(&create_error, MPI_Comm_dup(comm, &own));
    if ((code = odc_agree(comm, &create_error, code))) /* the only vote on the caller's */
        goto fail;
    code = ODC_MPI(&create_error, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    if (!code)
        code = prepare(own, options, &made);
    code = odc_agree(own, &create_error, code);
    if (code || !made)
        goto fail;
    if ((code = odc_agree(own, &create_error, compare_settings(made))))
        goto fail;
    if ((code = odc_nodes_find(&made->nodes, own, made->settings.node_ranks, &create_error)))
        goto fail;
    *ctx = made;
    return ODCOMM_OK;

fail:
    if (made)
        odc_nodes_free(&made->nodes, &(odc_error){""});
    free(made);
    if (own != MPI_COMM_NULL)
        MPI_Comm_free(&own);
    return code;
}

static int release(odcomm_ctx *ctx)
{
    int closed = odc_arena_close(ctx);
    int code, freed;

    if (!closed && ctx->late) {
        ctx->error = ctx->late_error;
        closed = ctx->late;
    }
    freed = odc_nodes_free(&ctx->nodes, &ctx->error);
    code = odc_agree(ctx->comm, &ctx->error, closed ? closed : freed);
    freed = ODC_MPI(&ctx->error, MPI_Comm_free(&ctx->comm));
    return code ? code : freed;
}

int odcomm_free(odcomm_ctx **ctx)
{
    odcomm_ctx *freed = ctx ? *ctx : NULL;
    int finalised = 0, code;

    if (!freed)
        return ODCOMM_OK;
    *ctx = NULL;
    odc_progress_stop(freed);
    code = ODC_MPI(&freed->error, MPI_Finalized(&finalised));
    if (!finalised) { /* or not known to be: the others are in it */
        int released = release(freed);
        code = code ? code : released;
    }
    odc_arena_forget(freed);
    odc_nodes_forget(&freed->nodes);
    for (size_t i = 0; i < freed->groups; i++)
        odc_group_free(freed->group[i]);
    free(freed->group);
    if (code)
        create_error = freed->error;
    free(freed);
    return code;
}

long odcomm_version(const odcomm_ctx *ctx)
{
    return ctx ? ctx->version : 0;
}

int odcomm_stats_get(const odcomm_ctx *ctx, odcomm_stats *stats)
{
    if (!ctx || !stats)
        return ODCOMM_ERR_ARG;
    *stats = ctx->stats;
    stats->bytes_own += ctx->pool.buffers * ctx->pool.bytes;
    return ODCOMM_OK;
}

const char *odcomm_last_error(const odcomm_ctx *ctx)
{
    return ctx ? ctx->error.text : create_error.text;
}
