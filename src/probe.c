#include "probe.h"

#include "convert.h"
#include "transfer.h"
#include "wait.h"

#include <string.h>
#include <time.h>

#define ASLEEP_S 0.02 /* how long a target stays out of MPI, unless it is served before */
#define REPEATS 16
#define LEAST_BYTES 16384
#define SLOWER 2.0 /* MPI may cost this much more than loads and stores */

enum { NOTHING, GETTING, GOT, ADDING, ADDED }; /* steps of head->probe */

/* The operations tried, on the beginning of the shard that rank 0 has of the largest group. */
struct probe {
    odcomm_ctx *ctx;
    odcomm_group *group;
    size_t count;
    int code;
};

static void nap(void)
{
    struct timespec duration = {0, 50000};
    nanosleep(&duration, NULL);
}

static int step_of(const odcomm_ctx *ctx)
{
    return atomic_load_explicit(&ctx->control.head->probe, memory_order_acquire);
}

static void step_to(const odcomm_ctx *ctx, int step)
{
    atomic_store_explicit(&ctx->control.head->probe, step, memory_order_release);
}

static void get_by_mpi(struct probe *probe)
{
    odcomm_ctx *ctx = probe->ctx;

    if (!(probe->code = odc_get_mpi(probe->group, 0, probe->count, ctx->chunk)))
        probe->code = ODC_MPI(&ctx->error, MPI_Win_flush_local(0, ctx->values.win));
}

static void get_by_loads(struct probe *probe)
{
    memcpy(probe->ctx->chunk, odc_values(probe->group),
           probe->count * odc_dtype_size(probe->group->dtype));
}

/* Adds zeros to zeros. */
static void add_by_mpi(struct probe *probe)
{
    odcomm_ctx *ctx = probe->ctx;

    if (!(probe->code = odc_add_mpi(probe->group, 0, 0, probe->count, ctx->chunk)))
        probe->code = ODC_MPI(&ctx->error, MPI_Win_flush(0, ctx->grads.win));
}

static void add_by_stores(struct probe *probe)
{
    odcomm_group *group = probe->group;

    probe->code = odc_add_locked(group, 0, 0, probe->count, probe->ctx->chunk, group->dtype);
}

/* In MPI until the origin begins: it may need this rank to get there. */
static int await_step(odcomm_ctx *ctx, int step)
{
    int arrived, code = ODCOMM_OK;

    for (; step_of(ctx) < step && !code; nap())
        code = ODC_MPI(&ctx->error, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ctx->comm, &arrived,
                                               MPI_STATUS_IGNORE));
    return code;
}

/* Out of MPI until the origin is through, but not for ever. */
static bool origin_waits(const odcomm_ctx *ctx, int done)
{
    double deadline;

    for (deadline = odc_now() + ASLEEP_S; step_of(ctx) < done; nap())
        if (odc_now() > deadline)
            return true;
    return false;
}

/* What cannot be read from cannot be added to, so a target that had to wait waits only once. */
static int be_target(odcomm_ctx *ctx)
{
    int code = await_step(ctx, GETTING);

    ctx->direct_get = code || origin_waits(ctx, GOT);
    ctx->direct_add = ctx->direct_get || origin_waits(ctx, ADDED);
    return code;
}

/* The steps go on after a failure, since targets wait for them. */
static void be_origin(struct probe *probe)
{
    step_to(probe->ctx, GETTING);
    get_by_mpi(probe);
    step_to(probe->ctx, GOT);
    step_to(probe->ctx, ADDING);
    if (!probe->code)
        add_by_mpi(probe);
    step_to(probe->ctx, ADDED);
}

/* The shortest of a few. */
static double time_of(struct probe *probe, void (*operation)(struct probe *))
{
    double best = 1e9;

    for (int i = 0; i < REPEATS && !probe->code; i++) {
        double begin = odc_now();
        operation(probe);
        double took = odc_now() - begin;
        best = took < best ? took : best;
    }
    return best;
}

/* Where there is enough for speed to matter: of a few elements only the call is measured. */
static void compare_speeds(struct probe *probe)
{
    odcomm_ctx *ctx = probe->ctx;

    if (probe->count * odc_dtype_size(probe->group->dtype) < LEAST_BYTES)
        return;
    if (!ctx->direct_get)
        ctx->direct_get = time_of(probe, get_by_mpi) > SLOWER * time_of(probe, get_by_loads);
    if (!ctx->direct_add)
        ctx->direct_add = time_of(probe, add_by_mpi) > SLOWER * time_of(probe, add_by_stores);
}

/* What one rank has found holds for all: they must add to an accumulator in one way only. */
static int share_findings(odcomm_ctx *ctx)
{
    int found[2] = {ctx->direct_get, ctx->direct_add};
    int code =
        ODC_MPI(&ctx->error, MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_LOR, ctx->comm));

    ctx->direct_get = found[0];
    ctx->direct_add = found[1];
    return code;
}

static odcomm_group *largest_group(const odcomm_ctx *ctx)
{
    odcomm_group *largest = NULL;

    for (size_t i = 0; i < ctx->groups; i++)
        if (!largest || ctx->group[i]->block > largest->block)
            largest = ctx->group[i];
    return largest;
}

int odc_choose_paths(odcomm_ctx *ctx)
{
    struct probe probe = {.ctx = ctx, .group = largest_group(ctx)};
    int origin = ctx->ranks > 1 ? 1 : 0;
    int code, shared;

    ctx->direct_get = ctx->direct_add = false;
    if (!probe.group || probe.group->block == 0)
        return ODCOMM_OK;
    probe.count = ODC_CHUNK_BYTES / odc_dtype_size(probe.group->dtype);
    if (probe.count > probe.group->block)
        probe.count = probe.group->block;
    if (ctx->rank == origin)
        be_origin(&probe);
    else
        probe.code = be_target(ctx);
    code = share_findings(ctx);
    if (!code && ctx->rank == origin)
        compare_speeds(&probe);
    shared = share_findings(ctx);
    return code ? code : shared ? shared : probe.code;
}
