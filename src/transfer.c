#include "transfer.h"

#include "convert.h"
#include "remote.h"
#include "wait.h"

#include <string.h>

/* Counts in MPI are ints; larger pieces gain nothing. */
#define LARGEST_GET ((size_t)1 << 28)

static size_t at_most(size_t count, size_t limit)
{
    return count < limit ? count : limit;
}

MPI_Datatype odc_mpi_type(odcomm_dtype dtype)
{
    return dtype == ODCOMM_F64 ? MPI_DOUBLE : MPI_FLOAT;
}

int odc_get_mpi(odcomm_group *group, size_t at, size_t count, void *into)
{
    odcomm_ctx *ctx = group->ctx;
    MPI_Datatype type = odc_mpi_type(group->dtype);
    MPI_Aint where =
        ctx->values.skipped[0] + (MPI_Aint)(group->values_at + at * odc_dtype_size(group->dtype));

    return ODC_MPI(&ctx->error,
                   MPI_Get(into, (int)count, type, 0, where, (int)count, type, ctx->values.win));
}

int odc_get(odcomm_group *group, size_t at, size_t count, void *into)
{
    odcomm_ctx *ctx = group->ctx;
    size_t size = odc_dtype_size(group->dtype);
    int code = ODCOMM_OK;

    ctx->stats.bytes_copied += count * size;
    if (ctx->direct_get) {
        memcpy(into, odc_values(group) + at * size, count * size);
        return ODCOMM_OK;
    }
    for (size_t n; count && !code; at += n, count -= n, into = (char *)into + n * size) {
        n = at_most(count, LARGEST_GET);
        code = odc_get_mpi(group, at, n, into);
    }
    return code ? code : ODC_MPI(&ctx->error, MPI_Win_flush_local(0, ctx->values.win));
}

int odc_add_mpi(odcomm_group *group, int owner, size_t at, size_t count, const void *from)
{
    odcomm_ctx *ctx = group->ctx;
    MPI_Datatype type = odc_mpi_type(group->dtype);
    odc_collector collector = ctx->collector[owner];
    size_t offset = collector.base + group->grad_at + at * odc_dtype_size(group->dtype);
    MPI_Aint where = ctx->grads.skipped[collector.part] + (MPI_Aint)offset;

    return ODC_MPI(&ctx->error, MPI_Accumulate(from, (int)count, type, collector.part, where,
                                               (int)count, type, MPI_SUM, ctx->grads.win));
}

/* A rank that is descheduled holds its stripe: the others step aside. */
static int take(odcomm_ctx *ctx, odc_lock *lock)
{
    odc_wait wait = odc_wait_begin(ctx);
    int code = ODCOMM_OK;

    while (!code && atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
        code = odc_wait_step(&wait);
    if (code == ODCOMM_ERR_TIMEOUT)
        return odc_fail(&ctx->error, code,
                        "odcomm_accumulate: waited %.1f s for a rank that holds the lock of an "
                        "accumulator; it may have died",
                        ctx->settings.timeout);
    return code;
}

int odc_add_locked(odcomm_group *group, int owner, size_t at, size_t count, const void *from,
                   odcomm_dtype dtype)
{
    odcomm_ctx *ctx = group->ctx;
    char *into = odc_accumulator(group, owner) + at * odc_dtype_size(group->dtype);
    int part = ctx->collector[owner].part;
    size_t stripe = (size_t)(into - ctx->grads.part[part]) / ODC_CHUNK_BYTES % ODC_LOCKS;
    odc_lock *lock = &ctx->control.lock[(size_t)part * ODC_LOCKS + stripe];
    int code = take(ctx, lock);

    if (code)
        return code;
    odc_add(into, group->dtype, from, dtype, count);
    atomic_flag_clear_explicit(&lock->taken, memory_order_release);
    return ODCOMM_OK;
}

/* Elements up to the end of the chunk that `at` lies in, so that a chunk has one lock. */
static size_t to_chunk_end(const odcomm_group *group, int owner, size_t at)
{
    size_t size = odc_dtype_size(group->dtype);
    size_t begin = group->ctx->collector[owner].base + group->grad_at + at * size;

    return (ODC_CHUNK_BYTES - begin % ODC_CHUNK_BYTES) / size;
}

static int add_converted(odcomm_group *group, int owner, size_t at, size_t count, const void *from,
                         odcomm_dtype dtype)
{
    odcomm_ctx *ctx = group->ctx;
    int code;

    odc_convert(ctx->chunk, group->dtype, from, dtype, count);
    code = odc_add_mpi(group, owner, at, count, ctx->chunk);
    if (code)
        return code;
    return ODC_MPI(&ctx->error, MPI_Win_flush_local(ctx->collector[owner].part, ctx->grads.win));
}

int odc_add_to(odcomm_group *group, int owner, size_t at, size_t count, const void *from,
               odcomm_dtype dtype)
{
    odcomm_ctx *ctx = group->ctx;
    int code = ODCOMM_OK;

    ctx->stats.bytes_added += count * odc_dtype_size(group->dtype);
    for (size_t n; count && !code; at += n, count -= n) {
        n = at_most(count, to_chunk_end(group, owner, at));
        if (ctx->direct_add)
            code = odc_add_locked(group, owner, at, n, from, dtype);
        else if (dtype == group->dtype)
            code = odc_add_mpi(group, owner, at, n, from);
        else
            code = add_converted(group, owner, at, n, from, dtype);
        from = (const char *)from + n * odc_dtype_size(dtype);
    }
    if (code || ctx->direct_add)
        return code;
    return ODC_MPI(&ctx->error, MPI_Win_flush_local(ctx->collector[owner].part, ctx->grads.win));
}

/* Straight to an owner on another node. Complete on return only where it had to be converted. */
int odc_add_remote(odcomm_group *group, int owner, size_t count, const void *from,
                   odcomm_dtype dtype)
{
    odcomm_ctx *ctx = group->ctx;
    size_t size = odc_dtype_size(group->dtype), most = ODC_CHUNK_BYTES / size;
    size_t where = odc_inbound_place(group, owner);
    int code = ODCOMM_OK;

    ctx->stats.bytes_forwarded += count * size;
    if (dtype == group->dtype)
        return odc_remote_add(ctx, owner, where, from, count, dtype);
    for (size_t at = 0, n; at < count && !code; at += n) {
        n = at_most(count - at, most);
        odc_convert(ctx->chunk, group->dtype, (const char *)from + at * odc_dtype_size(dtype),
                    dtype, n);
        code = odc_remote_add(ctx, owner, where + at * size, ctx->chunk, n, group->dtype);
        if (!code)
            code = odc_remote_flush(ctx);
    }
    return code;
}
