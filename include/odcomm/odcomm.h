/*
 * odcomm: on-demand communication for sharded parameters.
 *
 * Parameters come in groups, what a program needs at once: usually the layer of a model. A group
 * of `count` elements is cut into one shard per rank: with c = ceil(count / ranks), rank r owns the
 * elements [min(count, r c), min(count, (r + 1) c)). Every rank is a worker and an owner at once.
 * Workers gather the groups they need, when they need them, and accumulate gradients; owners read
 * the reduced gradient of their shard and write its new values. All ranks meet once a minibatch.
 *
 * A context alternates between two phases:
 *
 *   update   after commit and after each fence: owners read gradients and write their shards.
 *            odcomm_publish() ends it, on this rank alone.
 *   work     after publish: gather, release, accumulate and claim in any order, any number of
 *            times, each rank at its own pace. odcomm_fence() ends it, for all ranks together.
 *
 * Version t of a group is what its owners had written at their t-th publish. In work phase t a
 * gather returns version t of every shard and, if need be, waits for that shard's owner to publish
 * it; so does accumulate. Nothing else waits.
 *
 * Errors. Every function that returns int returns ODCOMM_OK or a negative ODCOMM_ERR_ code, leaves
 * everything as it was when it fails, and sets output handles to NULL; odcomm_last_error() then
 * says in one sentence what happened. "Collective" functions are called by all ranks of the
 * context: if one fails on one rank it fails on all of them, with the same code. Only what a rank
 * can see by itself before anything is communicated (a bad argument, the wrong phase, a group that
 * is still held, a time-out) is returned at once on that rank alone: it may put it right and call
 * again while the others wait. ODCOMM_ERR_ARG and ODCOMM_ERR_PHASE are possible from any function
 * and not repeated below.
 *
 * Threads. One thread at a time may use a context. Any number of contexts may live at once, also on
 * overlapping communicators. The library never prints (unless asked with `verbose`), never exits,
 * and leaves the caller's communicator and its error handler as they were.
 */
#ifndef ODCOMM_ODCOMM_H
#define ODCOMM_ODCOMM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#    define ODCOMM_PUBLIC __attribute__((visibility("default")))
#else
#    define ODCOMM_PUBLIC
#endif

/** Ranks working together on one set of groups. */
typedef struct odcomm_ctx odcomm_ctx;

/** Parameters that are gathered together; belongs to its context. */
typedef struct odcomm_group odcomm_group;

/** What a function returns; odcomm_strerror() gives the text. */
enum {
    ODCOMM_OK = 0,
    ODCOMM_ERR_ARG = -1,         /**< a bad argument, option or environment variable */
    ODCOMM_ERR_PHASE = -2,       /**< not now: wrong phase, before commit, a group still held */
    ODCOMM_ERR_MISMATCH = -3,    /**< the ranks disagree about groups, options or sums */
    ODCOMM_ERR_NOMEM = -4,       /**< not enough memory, or not enough room in /dev/shm */
    ODCOMM_ERR_MPI = -5,         /**< an MPI call failed */
    ODCOMM_ERR_UNSUPPORTED = -6, /**< this MPI, machine or build cannot do it */
    ODCOMM_ERR_TIMEOUT = -7,     /**< waited for another rank for too long (option `timeout`) */
    ODCOMM_ERR_IO = -8,          /**< a file could not be read or written */
    ODCOMM_ERR_FORMAT = -9       /**< a file does not hold what it should */
};

/** Element types. 16-bit groups are not available yet (ODCOMM_ERR_UNSUPPORTED). */
typedef enum odcomm_dtype {
    ODCOMM_F32 = 0,
    ODCOMM_F64 = 1,
    ODCOMM_BF16 = 2,
    ODCOMM_F16 = 3
} odcomm_dtype;

/**
 * Settings of a context. Always start from odcomm_options_init(): fields may be added.
 *
 * Each field has an environment variable that wins over it: ODCOMM_MODE, ODCOMM_REDUCE,
 * ODCOMM_GATHER, ODCOMM_PROGRESS, ODCOMM_NODE_RANKS, ODCOMM_TIMEOUT, ODCOMM_PLACE, ODCOMM_TRACE,
 * ODCOMM_VERBOSE. An unknown variable that begins with ODCOMM_, or an unknown value, is
 * ODCOMM_ERR_ARG. Strings are copied by odcomm_create(); NULL means the default.
 */
typedef struct odcomm_options {
    const char *mode;     /**< "on-demand" (default), or one of the rivals it is compared with:
                               "collective": gather is an MPI_Allgather and accumulate an
                               MPI_Reduce_scatter_block, each time (all ranks must then make the same
                               calls); "local-sum": gather on demand, sum gradients locally, one
                               reduce-scatter a group at the fence */
    const char *reduce;   /**< "sum" (default); "exact" is not available yet */
    const char *gather;   /**< "auto" (default), "view": a pointer into memory that the ranks share;
                               "copy": private memory. "auto" is "view" */
    const char *progress; /**< "auto" (default), "none"; "thread" is not available yet */
    int node_ranks;       /**< 0 (default): nodes are what MPI says; k: each k ranks are a node (not
                               available yet unless that is one node) */
    double timeout;       /**< seconds a silent wait may last; 0 (default): for ever */
    const char *place;    /**< "auto" (default), "none": placement of memory. Without effect yet */
    const char *trace;    /**< "none" (default); a path prefix is not available yet */
    int verbose;          /**< 0 (default); 1, 2: rank 0 prints settings and paths at commit */
} odcomm_options;

/** Fills in the defaults. */
ODCOMM_PUBLIC int odcomm_options_init(odcomm_options *options);

/* ---- life ---------------------------------------------------------------------------------- */

/**
 * Makes a context on the ranks of `comm`. Collective. MPI must be initialised, with any thread
 * level. `comm` is duplicated and may be freed afterwards. `options` NULL: the defaults.
 *
 * Errors: MISMATCH (ranks gave different modes or node_ranks), NOMEM, MPI, UNSUPPORTED (ranks on
 * several nodes, or an option whose feature is not available). They are explained by
 * odcomm_last_error(NULL).
 */
ODCOMM_PUBLIC int odcomm_create(MPI_Comm comm, const odcomm_options *options, odcomm_ctx **ctx);

/**
 * Adds a group of `count` elements (0 is fine) and hands out its handle, which the context owns.
 * Local; before commit; all ranks must add the same groups in the same order. `name` is copied: 1
 * to 255 bytes of UTF-8, unique in the context.
 *
 * Errors: NOMEM, UNSUPPORTED (a 16-bit dtype).
 */
ODCOMM_PUBLIC int odcomm_group_add(odcomm_ctx *ctx, const char *name, size_t count,
                                   odcomm_dtype dtype, odcomm_group **group);

/**
 * Allocates and shares the memory of all groups, zeroed, and enters the update phase. Collective.
 * Measures, on the way, which of the MPI library's operations reach a rank that is computing; what
 * does not is replaced by loads and stores.
 *
 * Errors: MISMATCH (names the first group that differs and both descriptions), NOMEM (says path,
 * need and free room), MPI, UNSUPPORTED. After an error the context is as it was before the call.
 */
ODCOMM_PUBLIC int odcomm_commit(odcomm_ctx *ctx);

/**
 * Frees a context, its groups and its memory, in any phase. Collective. `ctx` NULL or *ctx NULL is
 * fine. Sets *ctx to NULL even where it fails. After MPI_Finalize only local memory is freed.
 *
 * Errors: MPI (the context is gone nevertheless, and odcomm_last_error(NULL) says why).
 */
ODCOMM_PUBLIC int odcomm_free(odcomm_ctx **ctx);

/* ---- owner --------------------------------------------------------------------------------- */

/**
 * The values of this rank's shard: `count` elements from element `first` of the group on; float,
 * or double for F64 groups. Local, from commit to free. They may be read at any time and written in
 * the update phase, until the group is published. `first` and `count` may be NULL. Shards lie
 * behind each other in the group's vector, so only the first is sure to be 64-byte aligned; an
 * empty shard has a pointer that must not be followed.
 *
 * Returns NULL before commit and for a NULL group.
 */
ODCOMM_PUBLIC void *odcomm_shard(odcomm_group *group, size_t *first, size_t *count);

/**
 * The reduced gradient of this rank's shard, shaped and typed like odcomm_shard() and 64-byte
 * aligned: the sum of all that all ranks have accumulated since its last publish. Local; complete
 * after a fence, until the group is published. Returns NULL before commit and for a NULL group.
 */
ODCOMM_PUBLIC const void *odcomm_grad(odcomm_group *group, size_t *first, size_t *count);

/**
 * Makes this rank's shards of all groups visible as the next version, zeroes their accumulators,
 * and enters the work phase. Local: waits for nobody.
 *
 * Errors: MPI.
 */
ODCOMM_PUBLIC int odcomm_publish(odcomm_ctx *ctx);

/**
 * The same for one group early, so that others can start on it while this rank still updates the
 * next. The shard must not be written from here on, and its gradient is zero. odcomm_publish() does
 * the groups that are left and enters the work phase. Local.
 *
 * Errors: PHASE (also: published already), MPI.
 */
ODCOMM_PUBLIC int odcomm_publish_group(odcomm_group *group);

/* ---- worker -------------------------------------------------------------------------------- */

/**
 * Points *values at all `count` elements of the group, in the group's dtype, 64-byte aligned,
 * read-only and unchanging until released. Work phase; local. Waits, if need be, until the owners
 * have published. Gathers nest: each needs its own odcomm_release(), before the fence.
 *
 * Errors: NOMEM (copies only), MPI, TIMEOUT (names the owner that is late).
 */
ODCOMM_PUBLIC int odcomm_gather(odcomm_group *group, const void **values);

/**
 * The same into memory of the caller's: `count` elements, of any alignment that suits the dtype;
 * NULL will do for an empty group.
 * There is nothing to release.
 */
ODCOMM_PUBLIC int odcomm_gather_into(odcomm_group *group, void *buffer);

/**
 * A hint that the group will be gathered soon. Never needed; work phase; local; does not wait.
 * Ranks of one node share the parameters' memory, so on one node there is nothing to fetch early
 * and only the call is checked.
 */
ODCOMM_PUBLIC int odcomm_prefetch(odcomm_group *group);

/** Ends one gather of the group; the pointer from it is invalid from here on. Work phase; local. */
ODCOMM_PUBLIC int odcomm_release(odcomm_group *group);

/**
 * Adds `count` elements to the group's gradient: `grad` is shaped like the whole group, of any
 * alignment that suits `dtype`, F32 or F64 whatever the group is, and free again on return (NULL
 * will do for an empty group). Work phase; local. It is added in the group's own precision, in the
 * order of arrival; values that the group's dtype cannot hold become infinite.
 *
 * Errors: MPI, TIMEOUT (names the owner that is late), UNSUPPORTED (a 16-bit dtype). After MPI or
 * TIMEOUT some shards have been added to and others not: the minibatch is spoilt.
 */
ODCOMM_PUBLIC int odcomm_accumulate(odcomm_group *group, const void *grad, odcomm_dtype dtype);

/**
 * Hands out the next task of [0, tasks) that no rank has claimed in this minibatch, or -1 when none
 * is left. Work phase; local. All ranks pass the same `tasks`.
 */
ODCOMM_PUBLIC int odcomm_claim(odcomm_ctx *ctx, long tasks, long *task);

/* ---- minibatch ----------------------------------------------------------------------------- */

/** The most sums that one fence adds up. */
#define ODCOMM_MAX_SUMS 16

/**
 * Ends the work phase: waits until all ranks are here and all gradients have arrived. Collective.
 * `sums`: in, n values of this rank; out, the n sums over all ranks, added in rank order and so the
 * same on every rank; NULL if n is 0. All ranks pass the same n <= ODCOMM_MAX_SUMS.
 *
 * Errors: PHASE (a group is still held: says which), MISMATCH (different n), MPI, TIMEOUT (says who
 * is missing and what it last did). After a time-out nothing but the same call, with the same n, is
 * allowed; it goes on waiting, and the values of the first call are the ones that count. The end of
 * the fence is MPI's own MPI_Win_fence: it waits without a time-out for ranks that have timed out
 * and not yet called again.
 */
ODCOMM_PUBLIC int odcomm_fence(odcomm_ctx *ctx, double *sums, int n);

/**
 * The 2-norm of the whole reduced gradient of all groups; NaN if any element is not finite,
 * infinite if the norm itself is too large for a double. Update
 * phase, after a fence and before anything is published; collective: a second short meeting. Added
 * in double precision in rank order, so it is the same on every rank.
 *
 * Errors: MPI, TIMEOUT (as for odcomm_fence).
 */
ODCOMM_PUBLIC int odcomm_grad_norm(odcomm_ctx *ctx, double *norm);

/* ---- looking ------------------------------------------------------------------------------- */

/** What a context has done on this rank since commit, and what it takes. */
typedef struct odcomm_stats {
    long minibatches;         /**< fences passed */
    long gathers;             /**< odcomm_gather and odcomm_gather_into */
    long accumulates;         /**< odcomm_accumulate */
    long claims;              /**< tasks handed to this rank */
    uint64_t bytes_copied;    /**< parameters copied (a view copies nothing) */
    uint64_t bytes_added;     /**< gradients added, in the group's dtype */
    uint64_t bytes_fetched;   /**< parameters that this rank fetched from other nodes */
    uint64_t bytes_forwarded; /**< gradients that this rank sent to other nodes */
    double wait_gather_s;     /**< seconds spent waiting for owners to publish, in gathers */
    double wait_accumulate_s; /**< the same in odcomm_accumulate */
    double wait_fence_s;      /**< seconds spent waiting for other ranks, in fence and grad_norm */
    uint64_t bytes_shared;    /**< memory shared by all ranks of the node: parameters, control */
    uint64_t bytes_own;       /**< memory of this rank alone: accumulators, private copies */
} odcomm_stats;

/** Publishes of this rank so far; 0 for a NULL context. */
ODCOMM_PUBLIC long odcomm_version(const odcomm_ctx *ctx);

/** Copies the counters into *stats. Local. */
ODCOMM_PUBLIC int odcomm_stats_get(const odcomm_ctx *ctx, odcomm_stats *stats);

/** A short text for a code; never NULL. */
ODCOMM_PUBLIC const char *odcomm_strerror(int code);

/**
 * One sentence about the last failure on this context: what failed, for which group or rank, and
 * what to do; "" if nothing has. `ctx` NULL: the calling thread's last failed odcomm_create().
 * Valid until the next call on the context.
 */
ODCOMM_PUBLIC const char *odcomm_last_error(const odcomm_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
