/*
 * Moving one shard to or from its owner: by one-sided MPI where it reaches an owner that is
 * computing, else by loads and stores of our own. Which of the two is measured at commit.
 */
#ifndef ODC_TRANSFER_H
#define ODC_TRANSFER_H

#include "core.h"

/* Elements [at, at + count) of the group into `into`. */
int odc_get(odcomm_group *group, size_t at, size_t count, void *into);

/* Adds `count` elements to `owner`'s accumulator from its element `at` on. `from` is free again. */
int odc_add_to(odcomm_group *group, int owner, size_t at, size_t count, const void *from,
               odcomm_dtype dtype);

/* Adds to all of a shard that is owned on another node; odc_remote_flush() completes it. */
int odc_add_remote(odcomm_group *group, int owner, size_t count, const void *from,
                   odcomm_dtype dtype);

/* The two ways themselves, for the measurement: one piece, in the group's dtype. */
int odc_get_mpi(odcomm_group *group, size_t at, size_t count, void *into);
int odc_add_mpi(odcomm_group *group, int owner, size_t at, size_t count, const void *from);
int odc_add_locked(odcomm_group *group, int owner, size_t at, size_t count, const void *from,
                   odcomm_dtype dtype);

/* The type of a group's elements in MPI. */
MPI_Datatype odc_mpi_type(odcomm_dtype dtype);

#endif
