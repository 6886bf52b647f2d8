/* The memory of a context: laid out, shared, touched, given back. */
#include "arena.h"

#include "convert.h"
#include "remote.h"
#include "room.h"
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

    group->values_at = sizes->segment;
    group->grad_at = ctx->grads_bytes;
    if (!odc_reserve(&sizes->segment, group->block, size, (size_t)ctx->ranks) ||
        !odc_reserve(&ctx->grads_bytes, group->block, size, 1) ||
        !odc_reserve(&whole, group->block, size, (size_t)ctx->ranks))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM,
                        "group '%s' of %zu elements is larger than can be addressed", group->name,
                        group->count);
    if (whole > ctx->pool.bytes)
        ctx->pool.bytes = whole;
    return ODCOMM_OK;
}

/*
 * Who collects what on this node: every rank its own gradients; those for other nodes' owners are
 * dealt out in turn. A rank that is alone on its node sends them straight to the owner.
 */
static int deal_out_owners(odcomm_ctx *ctx, int *kept)
{
    const odc_nodes *nodes = &ctx->nodes;
    int elsewhere = 0;

    ctx->collector = calloc((size_t)ctx->ranks, sizeof *ctx->collector);
    if (!ctx->collector)
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "no memory for %d owners", ctx->ranks);
    for (int owner = 0; owner < ctx->ranks; owner++) {
        odc_collector *collector = &ctx->collector[owner];
        if (odc_is_here(ctx, owner)) {
            collector->part = nodes->place[owner];
            continue;
        }
        collector->part = elsewhere % nodes->ranks;
        collector->base = (size_t)(1 + elsewhere / nodes->ranks) * ctx->grads_bytes;
        if (nodes->ranks > 1 && collector->part == nodes->rank)
            ++*kept;
        elsewhere++;
    }
    return ODCOMM_OK;
}

static int lay_out(odcomm_ctx *ctx, odc_sizes *sizes)
{
    bool several = ctx->nodes.count > 1;
    int code, kept = 0;

    *sizes = (odc_sizes){0, 0};
    ctx->grads_bytes = 0;
    ctx->pool.bytes = ODC_ALIGNMENT;
    if (!odc_control_reserve(&sizes->segment, odc_census_of(ctx)))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "too many groups and ranks");
    for (size_t i = 0; i < ctx->groups; i++)
        if ((code = lay_out_group(ctx->group[i], sizes)))
            return code;
    ctx->inbound_at = sizes->segment;
    if ((code = deal_out_owners(ctx, &kept)))
        return code;
    if ((several && !odc_reserve(&sizes->segment, ctx->grads_bytes, 1, (size_t)ctx->nodes.ranks)) ||
        !odc_reserve(&sizes->grads, ctx->grads_bytes, 1, (size_t)(1 + kept)))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "more gradients than can be addressed");
    ctx->segment_bytes = sizes->segment;
    return ODCOMM_OK;
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

/*
 * All that this node shares, as if each rank's part were as large as this one's, with what it takes
 * to give every part of every window whole pages.
 */
static size_t shared_bytes(const odcomm_ctx *ctx, const odc_sizes *sizes)
{
    size_t ranks = (size_t)ctx->nodes.ranks, rounding = 6 * (size_t)sysconf(_SC_PAGESIZE), bytes;

    if (__builtin_mul_overflow(sizes->grads + rounding, ranks, &bytes) ||
        __builtin_add_overflow(bytes, sizes->segment, &bytes))
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

/* On one node a shared window: its fence is the faster one. */
static int open_sync(odcomm_ctx *ctx)
{
    odc_error *error = &ctx->error;
    void *base;
    int code;

    if (ctx->nodes.count == 1)
        code = ODC_MPI(error, MPI_Win_allocate_shared(ODC_ALIGNMENT, 1, MPI_INFO_NULL, ctx->comm,
                                                      &base, &ctx->sync));
    else
        code = ODC_MPI(
            error, MPI_Win_allocate(ODC_ALIGNMENT, 1, MPI_INFO_NULL, ctx->comm, &base, &ctx->sync));
    return code ? code : ODC_MPI(error, MPI_Win_set_errhandler(ctx->sync, MPI_ERRORS_RETURN));
}

/* Each window only where the one before it was made on all ranks. */
static int open_windows(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    odc_error *error = &ctx->error;
    MPI_Comm node = ctx->nodes.comm;
    size_t segment = ctx->nodes.rank == 0 ? sizes->segment : 0;
    int code;

    if ((code = odc_agree(ctx->comm, error, odc_window_open(&ctx->values, node, segment, error))) ||
        (code =
             odc_agree(ctx->comm, error, odc_window_open(&ctx->grads, node, sizes->grads, error))))
        return code;
    if (ctx->nodes.count > 1 && (code = odc_agree(ctx->comm, error, odc_remote_open(ctx))))
        return code;
    if ((code = odc_agree(ctx->comm, error, open_sync(ctx))))
        return code;
    return odc_agree(ctx->comm, error, ODC_MPI(error, MPI_Win_fence(0, ctx->sync)));
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
    int code = zero(ctx->grads.part[ctx->nodes.rank], sizes->grads, &ctx->error);

    for (size_t i = 0; i < ctx->groups && !code; i++) {
        const odcomm_group *group = ctx->group[i];
        size_t bytes = group->block * odc_dtype_size(group->dtype);
        for (int owner = 0; owner < ctx->ranks && !code; owner++)
            if (owner == ctx->rank || (ctx->nodes.rank == 0 && !odc_is_here(ctx, owner)))
                code = zero(odc_values(group) + (size_t)owner * bytes, bytes, &ctx->error);
        if (ctx->nodes.count > 1 && !code)
            code = zero(odc_inbound(group), bytes, &ctx->error);
    }
    return code;
}

int odc_arena_open(odcomm_ctx *ctx, const odc_sizes *sizes)
{
    size_t control = 0;
    int code = open_windows(ctx, sizes);

    if (code)
        return code;
    odc_control_reserve(&control, odc_census_of(ctx));
    odc_control_map(&ctx->control, ctx->values.part[0], odc_census_of(ctx));
    code = zero_memory(ctx, sizes);
    if (!code && ctx->nodes.rank == 0)
        code = zero(ctx->values.part[0], control, &ctx->error);
    ctx->stats.bytes_shared = sizes->segment;
    ctx->stats.bytes_own += sizes->grads + ODC_CHUNK_BYTES;
    return odc_agree(ctx->comm, &ctx->error, code);
}

int odc_arena_close(odcomm_ctx *ctx)
{
    odc_error *error = &ctx->error;
    int code = ODCOMM_OK, freed = ODCOMM_OK;

    if (ctx->sync != MPI_WIN_NULL) {
        code = ODC_MPI(error, MPI_Win_fence(MPI_MODE_NOSUCCEED, ctx->sync));
        freed = ODC_MPI(error, MPI_Win_free(&ctx->sync));
        code = code ? code : freed;
    }
    freed = odc_remote_close(ctx);
    code = code ? code : freed;
    freed = odc_window_free(&ctx->grads, error);
    code = code ? code : freed;
    freed = odc_window_free(&ctx->values, error);
    return code ? code : freed;
}

void odc_arena_forget(odcomm_ctx *ctx)
{
    ctx->sync = ctx->remote = MPI_WIN_NULL;
    ctx->remote_locked = false;
    odc_window_forget(&ctx->grads);
    odc_window_forget(&ctx->values);
    free(ctx->collector);
    free(ctx->pending);
    free(ctx->chunk);
    ctx->collector = NULL;
    ctx->pending = NULL;
    ctx->chunk = NULL;
    for (size_t i = 0; i < ctx->groups; i++) {
        free(ctx->group[i]->local_sum);
        ctx->group[i]->local_sum = NULL;
    }
    odc_pool_free(&ctx->pool);
    ctx->stats = (odcomm_stats){0};
}
