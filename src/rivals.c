/*
 * The two rivals behind the same calls. collective: an all-gather and a reduce-scatter a group,
 * each time, as fully sharded data parallelism does. local-sum: values on demand, gradients summed
 * in a private copy of every group and reduce-scattered once, at the fence.
 */
#include "schemes.h"

#include "convert.h"
#include "meeting.h"
#include "transfer.h"

#include <string.h>

/* The most elements all ranks together bring to one collective call: counts in MPI are ints. */
#define LARGEST_TOTAL ((size_t)1 << 30)

static size_t padded_count(const odcomm_group *group)
{
    return group->block * (size_t)group->ctx->ranks;
}

/* Elements a rank brings to one call, for groups too large for a single one. */
static size_t piece_of(const odcomm_group *group)
{
    size_t most = LARGEST_TOTAL / (size_t)group->ctx->ranks;

    return group->block < most ? group->block : most;
}

static void *take_buffer(odcomm_group *group, const char *call)
{
    odcomm_ctx *ctx = group->ctx;
    void *buffer = odc_pool_take(&ctx->pool);

    if (!buffer)
        odc_fail(&ctx->error, ODCOMM_ERR_NOMEM,
                 "%s of group '%s': no memory for a copy of %zu bytes", call, group->name,
                 ctx->pool.bytes);
    return buffer;
}

/* A piece of every shard, each to its own place in the whole vector. */
static int allgather_piece(odcomm_group *group, size_t at, size_t count, char *into)
{
    odcomm_ctx *ctx = group->ctx;
    MPI_Datatype type = odc_mpi_type(group->dtype), piece, spread;
    MPI_Aint stride = (MPI_Aint)(group->block * odc_dtype_size(group->dtype));
    size_t offset = at * odc_dtype_size(group->dtype);
    const char *from = odc_values(group) + (size_t)ctx->rank * (size_t)stride + offset;
    int code;

    if ((code = ODC_MPI(&ctx->error, MPI_Type_contiguous((int)count, type, &piece))))
        return code;
    if ((code = ODC_MPI(&ctx->error, MPI_Type_create_resized(piece, 0, stride, &spread))))
        goto free_piece;
    if (!(code = ODC_MPI(&ctx->error, MPI_Type_commit(&spread))))
        code = ODC_MPI(&ctx->error,
                       MPI_Allgather(from, (int)count, type, into + offset, 1, spread, ctx->comm));
    MPI_Type_free(&spread);
free_piece:
    MPI_Type_free(&piece);
    return code;
}

static int allgather(odcomm_group *group, char *into)
{
    odcomm_ctx *ctx = group->ctx;
    size_t piece = piece_of(group), size = odc_dtype_size(group->dtype);
    const char *mine = odc_values(group) + (size_t)ctx->rank * group->block * size;
    MPI_Datatype type = odc_mpi_type(group->dtype);
    int code = ODCOMM_OK;

    ctx->stats.bytes_copied += group->count * size;
    if (piece == group->block)
        return ODC_MPI(&ctx->error,
                       MPI_Allgather(mine, (int)piece, type, into, (int)piece, type, ctx->comm));
    for (size_t at = 0, n; at < group->block && !code; at += n) {
        n = group->block - at < piece ? group->block - at : piece;
        code = allgather_piece(group, at, n, into);
    }
    return code;
}

int odc_fetch_collective(odcomm_group *group, void *into, bool exact)
{
    void *buffer;
    int code;

    if (!exact || padded_count(group) == group->count)
        return allgather(group, into);
    if (!(buffer = take_buffer(group, "odcomm_gather_into")))
        return ODCOMM_ERR_NOMEM;
    if (!(code = allgather(group, buffer)))
        memcpy(into, buffer, group->count * odc_dtype_size(group->dtype));
    odc_pool_give(&group->ctx->pool, buffer);
    return code;
}

/* The sum of all ranks' `from` (padded, in the group's dtype), my shard of it in `into`. */
static int reduce_scatter(odcomm_group *group, const void *from, void *into)
{
    odcomm_ctx *ctx = group->ctx;

    ctx->stats.bytes_added += group->count * odc_dtype_size(group->dtype);
    return ODC_MPI(&ctx->error,
                   MPI_Reduce_scatter_block(from, into, (int)group->block,
                                            odc_mpi_type(group->dtype), MPI_SUM, ctx->comm));
}

/* A group too large for one call: the same piece of every shard, side by side in `packed`. */
static int reduce_scatter_piece(odcomm_group *group, const char *from, size_t at, size_t count,
                                char *packed, void *into)
{
    odcomm_ctx *ctx = group->ctx;
    size_t size = odc_dtype_size(group->dtype);

    for (size_t rank = 0; rank < (size_t)ctx->ranks; rank++)
        memcpy(packed + rank * count * size, from + (rank * group->block + at) * size,
               count * size);
    return ODC_MPI(&ctx->error,
                   MPI_Reduce_scatter_block(packed, into, (int)count, odc_mpi_type(group->dtype),
                                            MPI_SUM, ctx->comm));
}

static int reduce_scatter_large(odcomm_group *group, const char *from, char *into)
{
    odcomm_ctx *ctx = group->ctx;
    size_t piece = piece_of(group), size = odc_dtype_size(group->dtype);
    char *packed = take_buffer(group, "reduce-scatter");
    int code = ODCOMM_OK;

    if (!packed)
        return ODCOMM_ERR_NOMEM;
    ctx->stats.bytes_added += group->count * size;
    for (size_t at = 0, n; at < group->block && !code; at += n) {
        n = group->block - at < piece ? group->block - at : piece;
        code = reduce_scatter_piece(group, from, at, n, packed, into + at * size);
    }
    odc_pool_give(&ctx->pool, packed);
    return code;
}

static int reduce_scatter_any(odcomm_group *group, const void *from, void *into)
{
    return piece_of(group) == group->block ? reduce_scatter(group, from, into)
                                           : reduce_scatter_large(group, from, into);
}

/* Stores the gradient in the group's dtype, zeros behind it. */
static void pad(const odcomm_group *group, char *into, const void *grad, odcomm_dtype dtype)
{
    size_t size = odc_dtype_size(group->dtype);

    odc_convert(into, group->dtype, grad, dtype, group->count);
    memset(into + group->count * size, 0, (padded_count(group) - group->count) * size);
}

/* The first gradient of a minibatch is received in place, the later ones are added. */
static int push_padded(odcomm_group *group, const void *padded)
{
    odcomm_ctx *ctx = group->ctx;
    void *accumulator = odc_accumulator(group, ctx->rank);
    void *shard;
    int code;

    if (!group->accumulated) {
        code = reduce_scatter_any(group, padded, accumulator);
        group->accumulated = code == ODCOMM_OK;
        return code;
    }
    if (!(shard = take_buffer(group, "odcomm_accumulate")))
        return ODCOMM_ERR_NOMEM;
    if (!(code = reduce_scatter_any(group, padded, shard)))
        odc_add(accumulator, group->dtype, shard, group->dtype, group->mine.count);
    odc_pool_give(&ctx->pool, shard);
    return code;
}

int odc_push_collective(odcomm_group *group, const void *grad, odcomm_dtype dtype)
{
    void *padded;
    int code;

    if (dtype == group->dtype && padded_count(group) == group->count)
        return push_padded(group, grad);
    if (!(padded = take_buffer(group, "odcomm_accumulate")))
        return ODCOMM_ERR_NOMEM;
    pad(group, padded, grad, dtype);
    code = push_padded(group, padded);
    odc_pool_give(&group->ctx->pool, padded);
    return code;
}

int odc_finish_collective(odcomm_ctx *ctx)
{
    (void)ctx; /* a reduce-scatter leaves nothing under way */
    return ODCOMM_OK;
}

int odc_push_local_sum(odcomm_group *group, const void *grad, odcomm_dtype dtype)
{
    if (group->accumulated)
        odc_add(group->local_sum, group->dtype, grad, dtype, group->count);
    else
        pad(group, group->local_sum, grad, dtype);
    group->accumulated = true;
    return ODCOMM_OK;
}

static int reduce_local_sum(odcomm_group *group)
{
    if (!group->accumulated)
        memset(group->local_sum, 0, padded_count(group) * odc_dtype_size(group->dtype));
    return reduce_scatter_any(group, group->local_sum, odc_accumulator(group, group->ctx->rank));
}

/* Meets first, where a rank waits without burning the core that the last ones compute on. */
int odc_finish_local_sum(odcomm_ctx *ctx)
{
    int code = odc_meet(ctx, ODC_CALL_FENCE, ODCOMM_OK, NULL, 0, NULL);

    if (code)
        return code;
    for (size_t i = 0; i < ctx->groups; i++) { /* to the last, since the others reduce it too */
        int reduced = reduce_local_sum(ctx->group[i]);
        code = code ? code : reduced;
    }
    return code;
}
