/*
 * The words by which the ranks of a node talk to each other without MPI: versions, arrivals, sums,
 * claims, locks. They lie at the front of the node segment, laid out here.
 */
#ifndef ODC_CONTROL_H
#define ODC_CONTROL_H

#include "error.h"
#include "layout.h"

#include <stdatomic.h>
#include <stdint.h>

/* What a rank last did, for the diagnosis of those who wait for it. */
typedef enum odc_call {
    ODC_NO_CALL,
    ODC_CALL_COMMIT,
    ODC_CALL_PUBLISH,
    ODC_CALL_GATHER,
    ODC_CALL_ACCUMULATE,
    ODC_CALL_CLAIM,
    ODC_CALL_FENCE,
    ODC_CALL_GRAD_NORM,
} odc_call;

/* What a rank brings to a meeting. */
typedef struct odc_ballot {
    odc_call call;
    int code;
    int n;
    double value[ODCOMM_MAX_SUMS];
    odc_error error;
} odc_ballot;

/* Written by its rank, read by all; on other nodes a copy that its node sends there. */
typedef struct odc_row {
    _Alignas(ODC_ALIGNMENT) _Atomic long arrivals;      /* meetings this rank has come to */
    _Alignas(ODC_ALIGNMENT) _Atomic long added;         /* version whose gradients it has added */
    _Alignas(ODC_ALIGNMENT) _Atomic uint64_t last_call; /* odc_call, and group or task */
    _Atomic double last_call_s;                         /* on the monotonic clock */
    _Alignas(ODC_ALIGNMENT) odc_ballot ballot[2];       /* used in turn */
} odc_row;

/* Written by all. */
typedef struct odc_head {
    _Alignas(ODC_ALIGNMENT) _Atomic long claimed[2]; /* by parity of the minibatch */
    _Alignas(ODC_ALIGNMENT) _Atomic int here[2];     /* ranks of the node at a meeting, in turn */
    _Alignas(ODC_ALIGNMENT) _Atomic int probe;       /* steps of the measurement at commit */
} odc_head;

/* Guards a stripe of one owner's accumulators where MPI does not. */
typedef struct odc_lock {
    _Alignas(ODC_ALIGNMENT) atomic_flag taken;
} odc_lock;

#define ODC_LOCKS 16 /* an owner */

typedef struct odc_control {
    odc_head *head;
    odc_row *row;          /* [rank] */
    odc_lock *lock;        /* [part of the arena * ODC_LOCKS + stripe] */
    _Atomic long *version; /* see odc_version_word() */
    _Atomic long *summed;  /* see odc_summed_word() */
    _Atomic long *fetched; /* see odc_fetched_word() */
    size_t groups;         /* words a rank or node, rounded up to whole cache lines */
} odc_control;

/* What the words are for. They lie at the same place in the segment of every node. */
typedef struct odc_census {
    int ranks;
    int nodes;
    size_t groups;
} odc_census;

/* Reserves room for the words; false: cannot be addressed. */
bool odc_control_reserve(size_t *end, odc_census census);

/* Finds them behind `base`. */
void odc_control_map(odc_control *control, void *base, odc_census census);

/* The word in which `owner` says which version of the group is out. */
static inline _Atomic long *odc_version_word(const odc_control *control, int owner, size_t group)
{
    return &control->version[(size_t)owner * control->groups + group];
}

/* In which version this node has last added to its sum for `owner`, on another node. */
static inline _Atomic long *odc_summed_word(const odc_control *control, int owner, size_t group)
{
    return &control->summed[(size_t)owner * control->groups + group];
}

/*
 * What this node has of the shards of the group that another node owns: 2 t: version t; 2 t - 1: a
 * rank of this node is fetching version t.
 */
static inline _Atomic long *odc_fetched_word(const odc_control *control, int node, size_t group)
{
    return &control->fetched[(size_t)node * control->groups + group];
}

#endif
