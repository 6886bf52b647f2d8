#include "remote.h"

#include "convert.h"
#include "progress.h"
#include "transfer.h"

/* Counts in MPI are ints. Large pieces go faster than small ones over a network. */
#define LARGEST_PIECE ((size_t)1 << 26)

int odc_remote_open(odcomm_ctx *ctx)
{
    odc_error *error = &ctx->error;
    int code;

    code = ODC_MPI(error, MPI_Win_create(ctx->values.part[0], (MPI_Aint)ctx->segment_bytes, 1,
                                         MPI_INFO_NULL, ctx->comm, &ctx->remote));
    if (code) {
        odc_error why = *error;
        return odc_fail(error, ODCOMM_ERR_UNSUPPORTED,
                        "this MPI makes no window between nodes (%.100s). Open MPI 4.1: export "
                        "OMPI_MCA_osc=^ucx, or, for MPI_THREAD_MULTIPLE, OMPI_MCA_osc=sm,ucx "
                        "OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any "
                        "UCX_TLS=tcp,self",
                        why.text);
    }
    if ((code = ODC_MPI(error, MPI_Win_set_errhandler(ctx->remote, MPI_ERRORS_RETURN))) ||
        (code = ODC_MPI(error, MPI_Win_lock_all(MPI_MODE_NOCHECK, ctx->remote))))
        return code;
    ctx->remote_locked = true;
    return ODCOMM_OK;
}

int odc_remote_close(odcomm_ctx *ctx)
{
    int code = ODCOMM_OK, freed = ODCOMM_OK;

    if (ctx->remote_locked)
        code = ODC_MPI(&ctx->error, MPI_Win_unlock_all(ctx->remote));
    ctx->remote_locked = false;
    if (ctx->remote != MPI_WIN_NULL)
        freed = ODC_MPI(&ctx->error, MPI_Win_free(&ctx->remote));
    return code ? code : freed;
}

size_t odc_remote_place(const odcomm_ctx *ctx, const void *where)
{
    return (size_t)((const char *)where - ctx->values.part[0]);
}

int odc_remote_put(odcomm_ctx *ctx, int rank, size_t at, const void *from, size_t bytes)
{
    int code;

    odc_mpi_enter(ctx);
    code = ODC_MPI(&ctx->error, MPI_Put(from, (int)bytes, MPI_BYTE, rank, (MPI_Aint)at, (int)bytes,
                                        MPI_BYTE, ctx->remote));
    odc_mpi_leave(ctx);
    return code;
}

int odc_remote_fetch_add(odcomm_ctx *ctx, int rank, size_t at, long add, long *before)
{
    int code;

    odc_mpi_enter(ctx);
    code = ODC_MPI(&ctx->error, MPI_Fetch_and_op(&add, before, MPI_LONG, rank, (MPI_Aint)at,
                                                 MPI_SUM, ctx->remote));
    if (!code)
        code = ODC_MPI(&ctx->error, MPI_Win_flush(rank, ctx->remote));
    odc_mpi_leave(ctx);
    return code;
}

int odc_remote_get(odcomm_ctx *ctx, int rank, size_t at, void *into, size_t bytes)
{
    int code = ODCOMM_OK;

    odc_mpi_enter(ctx);
    for (size_t done = 0, n; done < bytes && !code; done += n) {
        n = bytes - done < LARGEST_PIECE ? bytes - done : LARGEST_PIECE;
        code = ODC_MPI(&ctx->error, MPI_Get((char *)into + done, (int)n, MPI_BYTE, rank,
                                            (MPI_Aint)(at + done), (int)n, MPI_BYTE, ctx->remote));
    }
    odc_mpi_leave(ctx);
    return code;
}

int odc_remote_add(odcomm_ctx *ctx, int rank, size_t at, const void *from, size_t count,
                   odcomm_dtype dtype)
{
    size_t size = odc_dtype_size(dtype), most = LARGEST_PIECE / size;
    MPI_Datatype type = odc_mpi_type(dtype);
    int code = ODCOMM_OK;

    odc_mpi_enter(ctx);
    for (size_t done = 0, n; done < count && !code; done += n) {
        n = count - done < most ? count - done : most;
        code = ODC_MPI(&ctx->error, MPI_Accumulate((const char *)from + done * size, (int)n, type,
                                                   rank, (MPI_Aint)(at + done * size), (int)n, type,
                                                   MPI_SUM, ctx->remote));
    }
    odc_mpi_leave(ctx);
    return code;
}

int odc_remote_flush(odcomm_ctx *ctx)
{
    int code;

    odc_mpi_enter(ctx);
    code = ODC_MPI(&ctx->error, MPI_Win_flush_all(ctx->remote));
    odc_mpi_leave(ctx);
    return code;
}
