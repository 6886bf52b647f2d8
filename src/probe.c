#include "probe.h"

#include "clock.h"
#include "convert.h"
#include "remote.h"
#include "transfer.h"

#include <string.h>

#define ASLEEP_S 0.02 /* how long a target stays out of MPI, unless it is served before */
#define NAP_S 5e-5
#define REPEATS 16
#define LEAST_BYTES 16384
#define SLOWER 2.0 /* MPI may cost this much more than loads and stores */

enum { NOTHING, GETTING, GOT, ADDING, ADDED }; /* steps of head->probe */

/* The operations tried, on the beginning of the largest group and its first accumulator here. */
struct probe {
    odcomm_ctx *ctx;
    odcomm_group *group;
    int owner; /* the first rank of this node */
    size_t count;
    int code;
};

static void nap(void)
{
    odc_sleep(NAP_S);
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

    if (!(probe->code = odc_add_mpi(probe->group, probe->owner, 0, probe->count, ctx->chunk)))
        probe->code = ODC_MPI(&ctx->error, MPI_Win_flush(0, ctx->grads.win));
}

static void add_by_stores(struct probe *probe)
{
    odcomm_group *group = probe->group;

    probe->code =
        odc_add_locked(group, probe->owner, 0, probe->count, probe->ctx->chunk, group->dtype);
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

static int measure_node(odcomm_ctx *ctx, odcomm_group *group)
{
    struct probe probe = {.ctx = ctx, .group = group, .owner = ctx->nodes.leader[ctx->nodes.mine]};
    int origin = ctx->nodes.ranks > 1 ? 1 : 0;
    int code, shared;

    probe.count = ODC_CHUNK_BYTES / odc_dtype_size(group->dtype);
    if (probe.count > group->block)
        probe.count = group->block;
    if (ctx->nodes.rank == origin)
        be_origin(&probe);
    else
        probe.code = be_target(ctx);
    code = share_findings(ctx);
    if (!code && ctx->nodes.rank == origin)
        compare_speeds(&probe);
    shared = share_findings(ctx);
    return code ? code : shared ? shared : probe.code;
}

/* Everything that is done to other nodes in the work phase, on words that stay zero. */
static int use_sleeper(odcomm_ctx *ctx)
{
    size_t at = odc_remote_place(ctx, (const void *)ctx->control.head->claimed);
    float zero = 0;
    long word;
    int code;

    if ((code = odc_remote_get(ctx, 0, at, &word, sizeof word)) ||
        (code = odc_remote_flush(ctx)) || (code = odc_remote_fetch_add(ctx, 0, at, 0, &word)) ||
        (code = odc_remote_add(ctx, 0, ctx->inbound_at, &zero, ctx->grads_bytes > 0, ODCOMM_F32)) ||
        (code = odc_remote_flush(ctx)))
        return code;
    return ODCOMM_OK;
}

/* The first rank is out of MPI by now and stays so for a while. */
static int time_sleeper(odcomm_ctx *ctx)
{
    double begin;
    int code;

    odc_sleep(ASLEEP_S / 2);
    begin = odc_now();
    code = use_sleeper(ctx);
    ctx->remote_waits = odc_now() - begin > ASLEEP_S;
    return code;
}

/* Between nodes there is no word to tell the other by, so the clock has to do. */
static int measure_remote(odcomm_ctx *ctx)
{
    int code = odc_agree(ctx->comm, &ctx->error, ODCOMM_OK), shared;
    int waits;

    if (code)
        return code;
    if (ctx->rank == 0)
        odc_sleep(3 * ASLEEP_S);
    else if (ctx->rank == ctx->nodes.leader[1])
        code = time_sleeper(ctx);
    waits = ctx->remote_waits;
    shared =
        ODC_MPI(&ctx->error, MPI_Allreduce(MPI_IN_PLACE, &waits, 1, MPI_INT, MPI_LOR, ctx->comm));
    ctx->remote_waits = waits;
    return code ? code : shared;
}

int odc_choose_paths(odcomm_ctx *ctx)
{
    odcomm_group *group = largest_group(ctx);
    int code = ODCOMM_OK, remote = ODCOMM_OK;

    ctx->direct_get = ctx->direct_add = ctx->remote_waits = false;
    if (group && group->block > 0)
        code = measure_node(ctx, group);
    if (ctx->nodes.count > 1)
        remote = measure_remote(ctx);
    return code ? code : remote;
}
