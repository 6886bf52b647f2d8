/* The memory of a context: laid out, shared, touched, given back. */
#include "arena.h"

#include "convert.h"
#include "topology.h"

#include <stdlib.h>
#include <string.h>

static int lay_out_group(odcomm_group *group, odc_sizes *sizes)
{
    odcomm_ctx *ctx = group->ctx;
    size_t size = odc_dtype_size(group->dtype), whole = 0;

    group->values_at = sizes->values;
    group->grad_at = sizes->grads;
    if (!odc_reserve(&sizes->values, group->block, size, (size_t)ctx->ranks) ||
        !odc_reserve(&sizes->grads, group->block, size, 1) ||
        !odc_reserve(&whole, group->block, size, (size_t)ctx->ranks))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM,
                        "group '%.64s' of %zu elements is larger than can be addressed",
                        group->name, group->count);
    if (whole > ctx->pool.bytes)
        ctx->pool.bytes = whole;
    return ODCOMM_OK;
}

static int lay_out(odcomm_ctx *ctx, odc_sizes *sizes)
{
    int code = ODCOMM_OK;

    *sizes = (odc_sizes){0, 0};
    ctx->pool.bytes = ODC_ALIGNMENT;
    if (!odc_control_reserve(&sizes->values, ctx->ranks, ctx->groups))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "too many groups and ranks");
    for (size_t i = 0; i < ctx->groups && !code; i++)
        code = lay_out_group(ctx->group[i], sizes);
    return code;
}

static int allocate_local_sums(odcomm_ctx *ctx)
{
    for (size_t i = 0; i < ctx->groups; i++) {
        odcomm_group *group = ctx->group[i];
        size_t bytes = group->block * (size_t)ctx->ranks * odc_dtype_size(group->dtype);
        group->local_sum = aligned_alloc(ODC_ALIGNMENT, odc_align(bytes + 1));
        if (!group->local_sum)
            return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM,
                            "mode local-sum: no memory for the %zu bytes of group '%.64s'", bytes,
                            group->name);
        ctx->stats.bytes_own += bytes;
    }
    return ODCOMM_OK;
}

static int allocate_scratch(odcomm_ctx *ctx)
{
    ctx->pending = calloc((size_t)ctx->ranks, sizeof *ctx->pending);
    ctx->chunk = aligned_alloc(ODC_ALIGNMENT, ODC_CHUNK_BYTES);
    if (!ctx->pending || !ctx->chunk)
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "no memory for %d bytes of scratch",
                        ODC_CHUNK_BYTES);
    memset(ctx->chunk, 0, ODC_CHUNK_BYTES);
    return ODCOMM_OK;
}

int odc_arena_prepare(odcomm_ctx *ctx, odc_sizes *sizes)
{
    size_t need;
    int code = lay_out(ctx, sizes);

    if (code)
        return code;
    if (__builtin_mul_overflow(sizes->grads, (size_t)ctx->ranks, &need) ||
        __builtin_add_overflow(need, sizes->values, &need))
        need = SIZE_MAX;
    if ((code = odc_check_room(need, &ctx->error)) || (code = allocate_scratch(ctx)))
        return code;
    return ctx->settings.mode == ODC_LOCAL_SUM ? allocate_local_sums(ctx) : ODCOMM_OK;
}

/* Each window only where the one before it was made on all ranks. */
static int open_windows(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    odc_error *error = &ctx->error;
    size_t values = ctx->rank == 0 ? sizes->values : 0;
    int code;

    code = odc_window_open(&ctx->values, ctx->comm, values, error);
    if ((code = odc_agree(ctx->comm, error, code)))
        return code;
    code = odc_window_open(&ctx->grads, ctx->comm, sizes->grads, error);
    if ((code = odc_agree(ctx->comm, error, code)))
        return code;
    code = odc_window_allocate(&ctx->sync, ctx->comm, 0, error);
    if ((code = odc_agree(ctx->comm, error, code)))
        return code;
    code = ODC_MPI(error, MPI_Win_fence(0, ctx->sync.win));
    return odc_agree(ctx->comm, error, code);
}

/* Every owner touches its memory first, which places it. */
static void zero_memory(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    for (size_t i = 0; i < ctx->groups; i++) {
        const odcomm_group *group = ctx->group[i];
        size_t bytes = group->block * odc_dtype_size(group->dtype);
        memset(odc_values(group) + (size_t)ctx->rank * bytes, 0, bytes);
    }
    memset(ctx->grads.part[ctx->rank], 0, sizes->grads);
}

int odc_arena_open(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    size_t control = 0;
    int code = open_windows(ctx, sizes);

    if (code)
        return code;
    odc_control_reserve(&control, ctx->ranks, ctx->groups);
    if (ctx->rank == 0)
        memset(ctx->values.part[0], 0, control);
    odc_control_map(&ctx->control, ctx->values.part[0], ctx->ranks, ctx->groups);
    zero_memory(ctx, sizes);
    ctx->stats.bytes_shared = sizes->values;
    ctx->stats.bytes_own += sizes->grads + ODC_CHUNK_BYTES;
    return odc_agree(ctx->comm, &ctx->error, ODCOMM_OK);
}

int odc_arena_close(odcomm_ctx *ctx)
{
    int code = ODCOMM_OK, freed;

    if (ctx->sync.win != MPI_WIN_NULL)
        code = ODC_MPI(&ctx->error, MPI_Win_fence(MPI_MODE_NOSUCCEED, ctx->sync.win));
    freed = odc_window_free(&ctx->sync, &ctx->error);
    code = code ? code : freed;
    freed = odc_window_free(&ctx->grads, &ctx->error);
    code = code ? code : freed;
    freed = odc_window_free(&ctx->values, &ctx->error);
    return code ? code : freed;
}

void odc_arena_forget(odcomm_ctx *ctx)
{
    odc_window_forget(&ctx->sync);
    odc_window_forget(&ctx->grads);
    odc_window_forget(&ctx->values);
    free(ctx->pending);
    free(ctx->chunk);
    ctx->pending = NULL;
    ctx->chunk = NULL;
    for (size_t i = 0; i < ctx->groups; i++) {
        free(ctx->group[i]->local_sum);
        ctx->group[i]->local_sum = NULL;
    }
    odc_pool_free(&ctx->pool);
    ctx->stats = (odcomm_stats){0};
}
