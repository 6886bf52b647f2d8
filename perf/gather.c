/* Getting a whole group: as a view, as a copy, by the collective call, and by memcpy as the limit.
 */
#include "bench.h"

#include "contest.h"
#include "pattern.h"
#include "trial.h"
#include "world.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct pattern parameters = {.bits = 20, .scale = 1, .offset = 1};

struct gather {
    struct trial trial;
    const void *view;
    void *whole; /* where all copies go: room for `padded` elements */
    void *shard; /* `block` elements, what this rank brings to MPI_Allgather */
};

static void *open(size_t count, odcomm_dtype dtype)
{
    struct gather *gather = take_memory(sizeof *gather);
    struct trial *trial = &gather->trial;

    trial_open(trial, count, dtype);
    gather->whole = take_memory(trial->padded * trial->size);
    gather->shard = take_memory(trial->block * trial->size);
    pattern_fill(&parameters, gather->shard, dtype, trial->first, trial->mine);
    memcpy(odcomm_shard(trial->group, NULL, NULL), gather->shard, trial->mine * trial->size);
    check(trial->ctx, odcomm_publish(trial->ctx));
    return gather;
}

static void close(void *state)
{
    struct gather *gather = state;

    check(gather->trial.ctx, odcomm_fence(gather->trial.ctx, NULL, 0));
    trial_close(&gather->trial);
    free(gather->shard);
    free(gather->whole);
    free(gather);
}

static void hold(void *state)
{
    struct gather *gather = state;
    check(gather->trial.ctx, odcomm_gather(gather->trial.group, &gather->view));
}

static void release(void *state)
{
    struct gather *gather = state;
    check(gather->trial.ctx, odcomm_release(gather->trial.group));
}

static void verify(const struct gather *gather, const void *values, const char *what)
{
    const struct trial *trial = &gather->trial;
    pattern_check(&parameters, values, trial->dtype, 0, trial->count, what);
}

static void view(void *state)
{
    hold(state);
    release(state);
}

static void verify_view(void *state, long operations)
{
    struct gather *gather = state;
    (void)operations;
    hold(gather);
    verify(gather, gather->view, "odcomm_gather");
    release(gather);
}

/* Every copy starts with the same caches, and shows what it has left out. */
static void spoil(void *state)
{
    struct gather *gather = state;
    memset(gather->whole, 0xff, gather->trial.padded * gather->trial.size);
}

static void copy(void *state)
{
    struct gather *gather = state;
    check(gather->trial.ctx, odcomm_gather_into(gather->trial.group, gather->whole));
}

static void verify_copy(void *state, long operations)
{
    struct gather *gather = state;
    (void)operations;
    verify(gather, gather->whole, "odcomm_gather_into");
}

static void allgather(void *state)
{
    struct gather *gather = state;
    int block = (int)gather->trial.block;
    MPI_Datatype type = trial_type(&gather->trial);
    MPI_Allgather(gather->shard, block, type, gather->whole, block, type, MPI_COMM_WORLD);
}

static void verify_allgather(void *state, long operations)
{
    struct gather *gather = state;
    (void)operations;
    verify(gather, gather->whole, "MPI_Allgather");
}

static void spoil_and_hold(void *state)
{
    hold(state);
    spoil(state);
}

static void plain_copy(void *state)
{
    struct gather *gather = state;
    memcpy(gather->whole, gather->view, gather->trial.count * gather->trial.size);
}

static void verify_memcpy(void *state, long operations)
{
    struct gather *gather = state;
    (void)operations;
    release(gather);
    verify(gather, gather->whole, "memcpy");
}

static long most(void)
{
    return INT_MAX;
}

enum { VIEW, COPY, ALLGATHER, MEMCPY };

static const struct contestant contestants[] = {
    [VIEW] = {"view_s", "view", "odcomm_gather and odcomm_release of a published group", NULL, view,
              verify_view},
    [COPY] = {"copy_s", "copy", "odcomm_gather_into private memory", spoil, copy, verify_copy},
    [ALLGATHER] = {"allgather_s", "allgather", "MPI_Allgather of the same shards", spoil, allgather,
                   verify_allgather},
    [MEMCPY] = {"memcpy_s", "memcpy", "memcpy of the same bytes, the limit of a copy",
                spoil_and_hold, plain_copy, verify_memcpy},
};

static const struct ratio ratios[] = {
    {"copy/memcpy", "speed of copy as a part of memcpy's", MEMCPY, COPY},
    {"copy gain", "times that copy is faster than allgather", ALLGATHER, COPY},
    {"view gain", "times that view is faster than allgather", ALLGATHER, VIEW},
};

void bench_gather(int argc, char **argv)
{
    static const struct contest contest = {
        .name = "gather",
        .job = "every rank gets the whole group",
        .contestant = contestants,
        .contestants = sizeof contestants / sizeof contestants[0],
        .ratio = ratios,
        .ratios = sizeof ratios / sizeof ratios[0],
        .open = open,
        .close = close,
        .most = most,
    };
    contest_run(&contest, argc, argv);
}
