/* The memory of a context: laid out, shared, touched, given back. */
#include "arena.h"

#include "convert.h"
#include "room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
                        "group '%s' of %zu elements is larger than can be addressed", group->name,
                        group->count);
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
                            "mode local-sum: no memory for the %zu bytes of group '%s'", bytes,
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

/* All that is shared, with what it takes to give every part of every window whole pages. */
static size_t shared_bytes(const odcomm_ctx *ctx, const odc_sizes *sizes)
{
    size_t ranks = (size_t)ctx->ranks, rounding = 6 * (size_t)sysconf(_SC_PAGESIZE), bytes;

    if (__builtin_mul_overflow(sizes->grads + rounding, ranks, &bytes) ||
        __builtin_add_overflow(bytes, sizes->values, &bytes))
        return SIZE_MAX;
    return bytes;
}

int odc_arena_prepare(odcomm_ctx *ctx, odc_sizes *sizes)
{
    int code;

    if ((code = lay_out(ctx, sizes)) ||
        (code = odc_check_room(shared_bytes(ctx, sizes), &ctx->error)) ||
        (code = allocate_scratch(ctx)))
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

/*
 * Zeroes memory that is touched for the first time, which places it. Others may have taken the room
 * since it was checked; asked for in this way, pages that cannot be had are an error and no signal.
 * Linux before 5.14 does not know the request.
 */
static int zero(char *where, size_t bytes, odc_error *error)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)where % page;

#ifdef MADV_POPULATE_WRITE
    if (bytes && madvise(where - before, before + bytes, MADV_POPULATE_WRITE) != 0 &&
        errno != EINVAL)
        return odc_no_room(bytes, error);
#endif
    memset(where, 0, bytes);
    return ODCOMM_OK;
}

/* Every owner its own. */
static int zero_memory(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    int code = zero(ctx->grads.part[ctx->rank], sizes->grads, &ctx->error);

    for (size_t i = 0; i < ctx->groups && !code; i++) {
        const odcomm_group *group = ctx->group[i];
        size_t bytes = group->block * odc_dtype_size(group->dtype);
        code = zero(odc_values(group) + (size_t)ctx->rank * bytes, bytes, &ctx->error);
    }
    return code;
}

int odc_arena_open(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    size_t control = 0;
    int code = open_windows(ctx, sizes);

    if (code)
        return code;
    odc_control_reserve(&control, ctx->ranks, ctx->groups);
    odc_control_map(&ctx->control, ctx->values.part[0], ctx->ranks, ctx->groups);
    code = zero_memory(ctx, sizes);
    if (!code && ctx->rank == 0)
        code = zero(ctx->values.part[0], control, &ctx->error);
    ctx->stats.bytes_shared = sizes->values;
    ctx->stats.bytes_own += sizes->grads + ODC_CHUNK_BYTES;
    return odc_agree(ctx->comm, &ctx->error, code);
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
