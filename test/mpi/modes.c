/*
 * The rivals give what on-demand gives: one random program, the same calls on all ranks, in each
 * mode. Values and gradients are integers, so there is one right result.
 */
#include "ranked.h"

#include <stdlib.h>
#include <string.h>

#define MINIBATCHES 3
#define MOST_CALLS 2 /* gathers, and gradients, of a group in a minibatch */
#define MOST_GROUPS 24
#define GUARD 64 /* elements behind a buffer that nobody may write */

struct program {
    odcomm_ctx *ctx;
    struct shape shape[MOST_GROUPS];
    odcomm_group *group[MOST_GROUPS];
    size_t groups;
    uint64_t random; /* the same on all ranks */
};

static void make_shapes(struct program *program)
{
    const size_t n = (size_t)ranks;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 4 * n, 999, n * 20011 - 1, n * 16384};

    program->groups = 0;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        program->shape[program->groups++] = (struct shape){counts[c], ODCOMM_F64};
        program->shape[program->groups++] = (struct shape){counts[c], ODCOMM_F32};
    }
}

static double value_of(size_t group, size_t i, long version)
{
    return (double)((group * 37 + i * 3 + (size_t)version * 101) % 4093);
}

/* What a rank adds in its call with this number. */
static double grad_of(int of_rank, int number, size_t i)
{
    return (double)((i + (size_t)number) % 511) + of_rank;
}

static void update(struct program *program)
{
    long version = odcomm_version(program->ctx) + 1;

    for (size_t g = 0; g < program->groups; g++) {
        size_t first, count;
        void *values = odcomm_shard(program->group[g], &first, &count);
        for (size_t i = 0; i < count; i++)
            set_element(values, program->shape[g].dtype, i, value_of(g, first + i, version));
        if (random_below(&program->random, 4) == 0)
            assert_ok(program->ctx, odcomm_publish_group(program->group[g]));
    }
    assert_ok(program->ctx, odcomm_publish(program->ctx));
}

static void check_values(const struct program *program, size_t g, const void *values)
{
    for (size_t i = 0; i < program->shape[g].count; i++)
        assert_element(values, program->shape[g].dtype, i,
                       value_of(g, i, odcomm_version(program->ctx)));
}

/* Held until the end of the minibatch, so that copies of several groups are out at once. */
static void gather_all(struct program *program, const void **held)
{
    for (size_t g = 0; g < program->groups; g++) {
        assert_ok(program->ctx, odcomm_gather(program->group[g], &held[g]));
        assert_int_equal((uintptr_t)held[g] % 64, 0);
        check_values(program, g, held[g]);
    }
}

static void release_all(struct program *program, const void **held)
{
    for (size_t g = 0; g < program->groups; g++) {
        check_values(program, g, held[g]);
        assert_ok(program->ctx, odcomm_release(program->group[g]));
    }
}

/* The buffer is aligned for the dtype only, and followed by what must stay. */
static void gather_into(struct program *program, size_t g)
{
    odcomm_dtype dtype = program->shape[g].dtype;
    size_t count = program->shape[g].count, size = dtype == ODCOMM_F64 ? 8 : 4;
    char *buffer = malloc((count + 1 + GUARD) * size);

    assert_non_null(buffer);
    for (size_t i = 0; i < count + 1 + GUARD; i++)
        set_element(buffer, dtype, i, -7);
    assert_ok(program->ctx, odcomm_gather_into(program->group[g], buffer + size));
    check_values(program, g, buffer + size);
    assert_element(buffer, dtype, 0, -7);
    for (size_t i = 0; i < GUARD; i++)
        assert_element(buffer, dtype, count + 1 + i, -7);
    free(buffer);
}

static void accumulate(struct program *program, size_t g, int number)
{
    odcomm_dtype dtype = random_below(&program->random, 2) ? ODCOMM_F64 : ODCOMM_F32;
    size_t count = program->shape[g].count;
    void *grad = malloc((count + 1) * sizeof(double));

    assert_non_null(grad);
    for (size_t i = 0; i < count; i++)
        set_element(grad, dtype, i, grad_of(rank, number, i));
    assert_ok(program->ctx, odcomm_accumulate(program->group[g], grad, dtype));
    memset(grad, 0xFF, (count + 1) * sizeof(double));
    free(grad);
}

static void check_grad(const struct program *program, size_t g, int calls)
{
    size_t first, count;
    const void *grad = odcomm_grad(program->group[g], &first, &count);

    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            for (int number = 0; number < calls; number++)
                sum += grad_of(r, number, first + i);
        assert_element(grad, program->shape[g].dtype, i, sum);
    }
}

/* Each group is gathered and added to some times; zero times is one of them. */
static void work(struct program *program, int *calls)
{
    const void *held[MOST_GROUPS];

    gather_all(program, held);
    for (size_t g = 0; g < program->groups; g++) {
        for (size_t i = random_below(&program->random, MOST_CALLS); i > 0; i--)
            gather_into(program, g);
        calls[g] = (int)random_below(&program->random, MOST_CALLS + 1);
        for (int number = 0; number < calls[g]; number++)
            accumulate(program, g, number);
    }
    release_all(program, held);
}

static void run_program(const char *mode)
{
    struct program program = {.random = 42};
    odcomm_options options;
    int calls[MOST_GROUPS];

    odcomm_options_init(&options);
    options.mode = mode;
    make_shapes(&program);
    program.ctx =
        open_context(MPI_COMM_WORLD, &options, program.shape, program.groups, program.group);
    for (int m = 0; m < MINIBATCHES; m++) {
        double sum = rank + m;
        update(&program);
        work(&program, calls);
        assert_ok(program.ctx, odcomm_fence(program.ctx, &sum, 1));
        assert_true(sum == ranks * (ranks - 1) / 2 + ranks * m);
        for (size_t g = 0; g < program.groups; g++)
            check_grad(&program, g, calls[g]);
    }
    assert_ok(program.ctx, odcomm_free(&program.ctx));
}

static void on_demand(void **state)
{
    (void)state;
    run_program("on-demand");
}

static void collective(void **state)
{
    (void)state;
    run_program("collective");
}

static void local_sum(void **state)
{
    (void)state;
    run_program("local-sum");
}

/* Unlike collective, local-sum leaves each rank its own pace: one works alone, then another. */
static void local_sum_by_turns(void **state)
{
    const struct shape shape[] = {{(size_t)ranks * 100 + 1, ODCOMM_F32}, {3, ODCOMM_F64}};
    odcomm_group *group[2];
    odcomm_options options;
    odcomm_ctx *ctx;
    struct word turn;
    size_t count;

    (void)state;
    odcomm_options_init(&options);
    options.mode = "local-sum";
    ctx = open_context(MPI_COMM_WORLD, &options, shape, 2, group);
    turn = open_word();
    assert_ok(ctx, odcomm_publish(ctx));
    await_word(&turn, rank);
    for (int i = 0; i < rank; i++) {
        const double ones[] = {1, 1, 1};
        const void *values;
        assert_ok(ctx, odcomm_gather(group[0], &values));
        assert_ok(ctx, odcomm_accumulate(group[1], ones, ODCOMM_F64));
        assert_ok(ctx, odcomm_release(group[0]));
    }
    (*turn.value)++;
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    const double *grad = odcomm_grad(group[1], NULL, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(grad[i] == ranks * (ranks - 1) / 2);
    const float *untouched = odcomm_grad(group[0], NULL, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(untouched[i] == 0);
    assert_ok(ctx, odcomm_free(&ctx));
    close_word(&turn);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(on_demand),
        cmocka_unit_test(collective),
        cmocka_unit_test(local_sum),
        cmocka_unit_test(local_sum_by_turns),
    };

    return run_ranked(argc, argv, cases);
}
