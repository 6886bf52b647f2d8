#include "trial.h"

#include "world.h"

size_t dtype_size(odcomm_dtype dtype)
{
    return dtype == ODCOMM_F64 ? sizeof(double) : sizeof(float);
}

void trial_open(struct trial *trial, size_t count, odcomm_dtype dtype)
{
    size_t ranks = (size_t)world_size();
    *trial = (struct trial){.dtype = dtype, .size = dtype_size(dtype), .count = count};
    trial->block = (count + ranks - 1) / ranks;
    trial->padded = trial->block * ranks;
    check(NULL, odcomm_create(MPI_COMM_WORLD, NULL, &trial->ctx));
    check(trial->ctx, odcomm_group_add(trial->ctx, "measured", count, dtype, &trial->group));
    check(trial->ctx, odcomm_commit(trial->ctx));
    odcomm_shard(trial->group, &trial->first, &trial->mine);
}

void trial_close(struct trial *trial)
{
    check(trial->ctx, odcomm_free(&trial->ctx));
}

MPI_Datatype trial_type(const struct trial *trial)
{
    return trial->dtype == ODCOMM_F64 ? MPI_DOUBLE : MPI_FLOAT;
}
