/* The two structures that everything above the ground floor works on. */
#ifndef ODC_CORE_H
#define ODC_CORE_H

#include "control.h"
#include "options.h"
#include "pool.h"
#include "window.h"

typedef enum odc_phase {
    ODC_SETUP, /* before commit */
    ODC_UPDATE,
    ODC_WORK,
} odc_phase;

#define ODC_LONGEST_NAME 255

struct odcomm_group {
    odcomm_ctx *ctx;
    char *name;
    size_t index; /* in the order of adding */
    size_t count;
    odcomm_dtype dtype;
    size_t block;    /* elements of a full shard */
    odc_extent mine; /* this rank's shard */

    size_t values_at; /* bytes into the node segment: all shards, room for `ranks` full ones */
    size_t grad_at;   /* bytes into each owner's part of the gradient arena */
    long published;   /* newest version of this rank's shard */
    long seen;        /* newest version of which every shard is known to be out */

    int held;         /* gathers not yet released */
    const void *view; /* what they were given */
    void *private;    /* the pool's buffer behind it, or NULL */
    void *local_sum;  /* mode local-sum: this rank's gradient of the whole group */
    bool accumulated; /* rivals: something has been added since publish */
};

/* How a mode moves values and gradients. */
typedef struct odc_scheme {
    /* Fills `into`, which has room for `ranks` full shards, or `exact`ly for the group. */
    int (*fetch)(odcomm_group *group, void *into, bool exact);
    /* Adds a gradient of the whole group. */
    int (*push)(odcomm_group *group, const void *grad, odcomm_dtype dtype);
    /* Completes all gradients of this rank before it comes to the fence. */
    int (*finish)(odcomm_ctx *ctx);
    /* Whether values may be read where their owners wrote them. */
    bool views;
} odc_scheme;

typedef struct odc_sums {
    int n;
    double value[ODCOMM_MAX_SUMS];
} odc_sums;

struct odcomm_ctx {
    odc_error error;
    odc_settings settings;
    const odc_scheme *scheme;
    MPI_Comm comm; /* a private duplicate that returns errors */
    int rank;
    int ranks;
    odc_phase phase;
    long version; /* publishes of this rank */

    odcomm_group **group;
    size_t groups;
    size_t group_room;

    odc_window values; /* the node segment: control words and parameters, on rank 0 */
    odc_window grads;  /* each rank's accumulators */
    odc_window sync;   /* lives in fence epochs */
    odc_control control;
    bool direct_get; /* loads instead of MPI_Get */
    bool direct_add; /* adds under our locks instead of MPI_Accumulate */
    int *pending;    /* [ranks] owners still to visit in a gather or accumulate */
    void *chunk;     /* converts gradients piece by piece */

    long meetings;       /* that this rank has left */
    bool arrived;        /* at one that it has not left, having timed out */
    bool finished;       /* its gradients are complete, but the fence has timed out */
    odc_sums brought;    /* to the fence, by its first call */
    odc_call unfinished; /* the call that timed out and must be called again, or ODC_NO_CALL */
    int late;            /* what failed after the last meeting was left: the next one is told */
    odc_error late_error;

    odc_pool pool;
    int held; /* groups held */
    odcomm_stats stats;
};

#define ODC_CHUNK_BYTES 65536 /* cache-sized; locks are given up in between */

static inline char *odc_values(const odcomm_group *group)
{
    return group->ctx->values.part[0] + group->values_at;
}

static inline char *odc_accumulator(const odcomm_group *group, int owner)
{
    return group->ctx->grads.part[owner] + group->grad_at;
}

#endif
