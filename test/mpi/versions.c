/*
 * Values seen by gathers are exactly those of the current version, however slow or fast their
 * owners are, and nobody waits for anything else. What a rank must not wait for is proved by order:
 * the rank that others must not depend on stays out of MPI until they are through.
 */
#include "ranked.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MINIBATCHES 10
#define ACTIONS 12
#define GROUPS 7

struct world {
    odcomm_ctx *ctx;
    struct shape shape[GROUPS];
    odcomm_group *group[GROUPS];
};

static struct world open_world(const char *gather)
{
    const size_t n = (size_t)ranks;
    struct world world = {
        .shape = {{1, ODCOMM_F32},
                  {n + 1, ODCOMM_F64},
                  {1000, ODCOMM_F32},
                  {20001, ODCOMM_F64},
                  {0, ODCOMM_F64},
                  {2, ODCOMM_F32},
                  {70001, ODCOMM_F32}},
    };
    odcomm_options options;

    odcomm_options_init(&options);
    options.gather = gather;
    options.timeout = 30;
    world.ctx = open_context(MPI_COMM_WORLD, &options, world.shape, GROUPS, world.group);
    return world;
}

static double value_of(size_t group, size_t i, long version)
{
    return (double)((group * 131 + i * 7 + (size_t)version * 1009) % 16381);
}

static void write_shard(struct world *world, size_t g, long version)
{
    size_t first, count;
    void *values = odcomm_shard(world->group[g], &first, &count);

    for (size_t i = 0; i < count; i++)
        set_element(values, world->shape[g].dtype, i, value_of(g, first + i, version));
}

static void check_values(const struct world *world, size_t g, const void *values)
{
    long version = odcomm_version(world->ctx);

    for (size_t i = 0; i < world->shape[g].count; i++)
        assert_element(values, world->shape[g].dtype, i, value_of(g, i, version));
}

static void check_gather(struct world *world, size_t g)
{
    const void *values;

    assert_ok(world->ctx, odcomm_prefetch(world->group[g]));
    assert_ok(world->ctx, odcomm_gather(world->group[g], &values));
    check_values(world, g, values);
    assert_ok(world->ctx, odcomm_release(world->group[g]));
}

static void check_gather_into(struct world *world, size_t g)
{
    void *buffer = malloc((world->shape[g].count + 1) * sizeof(double));

    assert_non_null(buffer);
    memset(buffer, 0xFF, (world->shape[g].count + 1) * sizeof(double));
    assert_ok(world->ctx, odcomm_gather_into(world->group[g], buffer));
    check_values(world, g, buffer);
    free(buffer);
}

/* `early` is out already; GROUPS: none is. */
static void publish_but(struct world *world, size_t early)
{
    for (size_t g = 0; g < GROUPS; g++)
        if (g != early)
            write_shard(world, g, odcomm_version(world->ctx) + 1);
    assert_ok(world->ctx, odcomm_publish(world->ctx));
}

static void publish_all(struct world *world)
{
    publish_but(world, GROUPS);
}

/* ---- slow and fast owners -------------------------------------------------- */

/* One rank a minibatch takes its time; the others run ahead as far as they may. */
static void dawdle(long version, uint64_t *random)
{
    if (version % ranks == rank)
        sleep_ms((int)random_below(random, 4));
}

static void update_at_random(struct world *world, uint64_t *random)
{
    long version = odcomm_version(world->ctx) + 1;
    size_t begin = random_below(random, GROUPS);

    for (size_t i = 0; i < GROUPS; i++) {
        size_t g = (begin + i) % GROUPS;
        dawdle(version, random);
        write_shard(world, g, version);
        if (random_below(random, 3) == 0)
            assert_ok(world->ctx, odcomm_publish_group(world->group[g]));
    }
    dawdle(version, random);
    assert_ok(world->ctx, odcomm_publish(world->ctx));
    assert_int_equal(odcomm_version(world->ctx), version);
}

/* Gathers at random and holds some until the end: they must not have changed by then. */
static void work_at_random(struct world *world, uint64_t *random)
{
    const void *held[GROUPS] = {NULL};

    for (int i = 0; i < ACTIONS; i++) {
        size_t g = random_below(random, GROUPS);
        dawdle(odcomm_version(world->ctx), random);
        if (random_below(random, 3) == 0)
            check_gather_into(world, g);
        else if (held[g] || random_below(random, 2))
            check_gather(world, g);
        else
            assert_ok(world->ctx, odcomm_gather(world->group[g], &held[g]));
    }
    for (size_t g = 0; g < GROUPS; g++) {
        if (!held[g])
            continue;
        check_values(world, g, held[g]);
        assert_ok(world->ctx, odcomm_release(world->group[g]));
    }
}

static void run_at_random(struct world *world)
{
    uint64_t random = (uint64_t)rank + 1;

    for (int m = 0; m < MINIBATCHES; m++) {
        update_at_random(world, &random);
        work_at_random(world, &random);
        assert_ok(world->ctx, odcomm_fence(world->ctx, NULL, 0));
    }
}

static void nest(struct world *world)
{
    const void *outer, *inner;

    publish_all(world);
    for (size_t g = 0; g < GROUPS; g++) {
        assert_ok(world->ctx, odcomm_gather(world->group[g], &outer));
        assert_ok(world->ctx, odcomm_gather(world->group[g], &inner));
        assert_ptr_equal(inner, outer);
        assert_ok(world->ctx, odcomm_release(world->group[g]));
        check_values(world, g, outer);
        assert_code(world->ctx, odcomm_fence(world->ctx, NULL, 0), ODCOMM_ERR_PHASE);
        assert_ok(world->ctx, odcomm_release(world->group[g]));
        assert_code(world->ctx, odcomm_release(world->group[g]), ODCOMM_ERR_PHASE);
    }
    assert_ok(world->ctx, odcomm_fence(world->ctx, NULL, 0));
}

static bool copies(const struct world *world)
{
    odcomm_stats stats;

    assert_ok(world->ctx, odcomm_stats_get(world->ctx, &stats));
    return stats.bytes_copied > 0;
}

static void views(void **state)
{
    struct world world = open_world(NULL);

    (void)state;
    nest(&world);
    assert_false(copies(&world));
    run_at_random(&world);
    assert_ok(world.ctx, odcomm_free(&world.ctx));
}

static void copies_by_option(void **state)
{
    struct world world = open_world("copy");

    (void)state;
    nest(&world);
    assert_true(copies(&world));
    run_at_random(&world);
    assert_ok(world.ctx, odcomm_free(&world.ctx));
}

static void copies_by_environment(void **state)
{
    struct world world;

    (void)state;
    setenv("ODCOMM_GATHER", "copy", 1);
    world = open_world("view");
    unsetenv("ODCOMM_GATHER");
    nest(&world);
    assert_true(copies(&world));
    run_at_random(&world);
    assert_ok(world.ctx, odcomm_free(&world.ctx));
}

/* ---- what must not be waited for ------------------------------------------- */

static void add_ones(struct world *world, size_t g)
{
    size_t count = world->shape[g].count;
    float *ones = malloc((count + 1) * sizeof *ones);

    assert_non_null(ones);
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    assert_ok(world->ctx, odcomm_accumulate(world->group[g], ones, ODCOMM_F32));
    free(ones);
}

static void check_grad(struct world *world, size_t g, double expected)
{
    size_t count;
    const void *grad = odcomm_grad(world->group[g], NULL, &count);

    for (size_t i = 0; i < count; i++)
        assert_element(grad, world->shape[g].dtype, i, expected);
}

static void work_on(struct world *world, size_t g)
{
    check_gather(world, g);
    check_gather_into(world, g);
    add_ones(world, g);
}

/* Its first group is out; the others are written only when all ranks have worked on that one. */
static void be_late(struct world *world, size_t early, const struct word *done, int until)
{
    long version = odcomm_version(world->ctx) + 1;

    write_shard(world, early, version);
    assert_ok(world->ctx, odcomm_publish_group(world->group[early]));
    await_word(done, until);
    publish_but(world, early);
    work_on(world, early);
}

static void early_groups(void **state)
{
    struct world world = open_world(NULL);
    struct word done = open_word();
    int until = 0;

    (void)state;
    for (size_t early = 0; early < GROUPS; early += 3)
        for (int late = 0; late < ranks; late++) {
            until += ranks - 1;
            if (rank == late)
                be_late(&world, early, &done, until);
            else {
                publish_all(&world);
                work_on(&world, early);
                atomic_fetch_add(done.value, 1);
            }
            for (size_t g = 0; g < GROUPS; g++)
                check_gather(&world, g);
            assert_ok(world.ctx, odcomm_fence(world.ctx, NULL, 0));
            check_grad(&world, early, ranks);
        }
    assert_ok(world.ctx, odcomm_free(&world.ctx));
    close_word(&done);
}

/* A rank computes, holding a view, until all others have done all that they do in a minibatch. */
static void slow_worker(void **state)
{
    struct world world = open_world(NULL);
    struct word done = open_word();
    const void *held = NULL;
    int until = 0;
    long task;

    (void)state;
    for (int slow = 0; slow < ranks; slow++) {
        publish_all(&world);
        until += ranks - 1;
        if (rank == slow) {
            assert_ok(world.ctx, odcomm_gather(world.group[3], &held));
            await_word(&done, until);
            check_values(&world, 3, held);
            assert_ok(world.ctx, odcomm_release(world.group[3]));
        }
        for (size_t g = 0; g < GROUPS; g++)
            work_on(&world, g);
        assert_ok(world.ctx, odcomm_claim(world.ctx, ranks, &task));
        assert_true(task >= 0);
        if (rank != slow)
            atomic_fetch_add(done.value, 1);
        assert_ok(world.ctx, odcomm_fence(world.ctx, NULL, 0));
        for (size_t g = 0; g < GROUPS; g++)
            check_grad(&world, g, ranks);
    }
    assert_ok(world.ctx, odcomm_free(&world.ctx));
    close_word(&done);
}

/* ---- claims ---------------------------------------------------------------- */

#define MOST_TASKS 1000

/* Claims up to `most` tasks and counts in `claimed` how often each came. */
static void claim(odcomm_ctx *ctx, long tasks, long most, int *claimed)
{
    long task, last = -1;

    for (long i = 0; i < most; i++) {
        assert_ok(ctx, odcomm_claim(ctx, tasks, &task));
        if (task == -1)
            break;
        assert_true(task > last && task < tasks);
        claimed[last = task]++;
        if (rank == 1 && task % 16 == 0)
            sleep_ms(1);
    }
    if (most <= tasks)
        return;
    for (int i = 0; i < 3; i++) {
        assert_ok(ctx, odcomm_claim(ctx, tasks, &task));
        assert_int_equal(task, -1);
    }
}

/* Even minibatches hand out all tasks, odd ones only some, which the next must not notice. */
static void claims(void **state)
{
    const long tasks[] = {0, 1, 1, 7, 7, MOST_TASKS, MOST_TASKS, 3, 3, 0, 50, 2, 2};
    const struct shape shape = {1, ODCOMM_F32};
    odcomm_group *group;
    odcomm_ctx *ctx = open_context(MPI_COMM_WORLD, NULL, &shape, 1, &group);
    odcomm_stats stats;
    long mine = 0;

    (void)state;
    for (size_t m = 0; m < sizeof tasks / sizeof tasks[0]; m++) {
        int claimed[MOST_TASKS + 1] = {0};
        long most = m % 2 ? tasks[m] / (2 * ranks) : tasks[m] + 1;
        double sum = 0, expected = (double)(m % 2 ? most * ranks : tasks[m]);

        assert_ok(ctx, odcomm_publish(ctx));
        claim(ctx, tasks[m], most, claimed);
        for (long t = 0; t < tasks[m]; t++)
            sum += claimed[t];
        mine += (long)sum;
        assert_ok(ctx, odcomm_fence(ctx, &sum, 1));
        assert_true(sum == expected);
        MPI_Allreduce(MPI_IN_PLACE, claimed, MOST_TASKS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (long t = 0; t < MOST_TASKS; t++)
            assert_int_equal(claimed[t], t < (long)expected);
    }
    assert_ok(ctx, odcomm_stats_get(ctx, &stats));
    assert_int_equal(stats.claims, mine);
    assert_ok(ctx, odcomm_free(&ctx));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(copies_by_option),
        cmocka_unit_test(copies_by_environment),
        cmocka_unit_test(early_groups),
        cmocka_unit_test(slow_worker),
        cmocka_unit_test(claims),
    };

    return run_ranked(argc, argv, cases);
}
