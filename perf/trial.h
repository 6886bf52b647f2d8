/* A context with one group, the one that is measured. */
#ifndef PERF_TRIAL_H
#define PERF_TRIAL_H

#include <odcomm/odcomm.h>

struct trial {
    odcomm_ctx *ctx;
    odcomm_group *group;
    odcomm_dtype dtype;
    size_t size;   /* bytes of an element */
    size_t count;  /* elements of the group */
    size_t first;  /* of this rank's shard */
    size_t mine;   /* elements of it */
    size_t block;  /* elements of a full shard: what each rank brings to a collective call */
    size_t padded; /* elements of all full shards */
};

size_t dtype_size(odcomm_dtype dtype);

/* Collective; leaves the context in its first update phase. */
void trial_open(struct trial *trial, size_t count, odcomm_dtype dtype);
void trial_close(struct trial *trial);

MPI_Datatype trial_type(const struct trial *trial);

#endif
