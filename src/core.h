/* The two structures that everything above the ground floor works on. */
#ifndef ODC_CORE_H
#define ODC_CORE_H

#include "control.h"
#include "options.h"
#include "pool.h"
#include "topology.h"
#include "window.h"

#include <pthread.h>

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
    size_t grad_at;   /* bytes into the accumulators of any owner */
    long published;   /* newest version of this rank's shard */
    long seen;        /* newest version that every owner is known to have published */
    long complete;    /* newest version of which this node is known to have every shard */

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

/* Where this node collects the gradients for an owner. */
typedef struct odc_collector {
    int part;    /* of the arena: the owner's own or, for one elsewhere, its keeper's */
    size_t base; /* where the accumulators for that owner begin in it */
} odc_collector;

/* The library's thread: see progress.h. */
typedef struct odc_progress {
    bool running;
    pthread_t thread;
    pthread_mutex_t in_mpi;
    _Atomic int callers; /* the program's thread is in MPI or wants to be */
    _Atomic bool stop;
} odc_progress;

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

    odc_nodes nodes;
    odc_window values;        /* the node segment, on its first rank: control words, parameters, and
                                 what comes in from other nodes */
    odc_window grads;         /* each rank's accumulators, and sums kept for owners elsewhere */
    MPI_Win remote;           /* every rank's view of its node's segment, for other nodes */
    bool remote_locked;       /* under lock_all */
    MPI_Win sync;             /* lives in fence epochs */
    size_t segment_bytes;     /* of this node's segment */
    size_t inbound_at;        /* where in it the gradients from other nodes arrive, */
    size_t grads_bytes;       /* so many bytes an owner */
    odc_collector *collector; /* [rank] */
    bool multiple;            /* MPI allows threads of the library's own */
    odc_progress progress;
    bool remote_waits; /* operations on other nodes wait until the target calls MPI */
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
    int held;       /* groups held */
    long exhausted; /* version whose tasks have all been claimed, as far as this rank knows */
    odcomm_stats stats;
};

#define ODC_CHUNK_BYTES 65536 /* cache-sized; locks are given up in between */

static inline char *odc_values(const odcomm_group *group)
{
    return group->ctx->values.part[0] + group->values_at;
}

static inline char *odc_accumulator(const odcomm_group *group, int owner)
{
    odc_collector collector = group->ctx->collector[owner];
    return group->ctx->grads.part[collector.part] + collector.base + group->grad_at;
}

/* Where in the segment of the owner's node other nodes add to its shard. */
static inline size_t odc_inbound_place(const odcomm_group *group, int owner)
{
    const odcomm_ctx *ctx = group->ctx;
    return ctx->inbound_at + (size_t)ctx->nodes.place[owner] * ctx->grads_bytes + group->grad_at;
}

/* What they have added to this rank's. */
static inline char *odc_inbound(const odcomm_group *group)
{
    return group->ctx->values.part[0] + odc_inbound_place(group, group->ctx->rank);
}

static inline bool odc_is_here(const odcomm_ctx *ctx, int owner)
{
    return ctx->nodes.of[owner] == ctx->nodes.mine;
}

static inline odc_census odc_census_of(const odcomm_ctx *ctx)
{
    return (odc_census){ctx->ranks, ctx->nodes.count, ctx->groups};
}

#endif
