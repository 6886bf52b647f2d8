/* Gradients are added up exactly: integer values, whatever the groups, the order, the ranks. */
#include "ranked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINIBATCHES 5
#define MOST_MICROBATCHES 3
#define MOST_GROUPS 32
#define CHUNK 65536 /* bytes after which the library may change its way of adding */

static size_t at_least_one(size_t count)
{
    return count ? count : 1;
}

/* Each count in both dtypes, one behind the other, so that offsets become odd. */
static size_t make_shapes(struct shape *shape)
{
    const size_t n = (size_t)ranks;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 3 * n + 1, 1000, n * 777 - 1};
    const size_t edges[] = {CHUNK - 1, CHUNK, CHUNK + 1}; /* elements, were they of one byte */
    size_t groups = 0;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        shape[groups++] = (struct shape){counts[c], ODCOMM_F32};
        shape[groups++] = (struct shape){counts[c], ODCOMM_F64};
    }
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        size_t off = edges[e] - CHUNK;
        shape[groups++] = (struct shape){n * (CHUNK / 4 + off), ODCOMM_F32};
        shape[groups++] = (struct shape){n * (CHUNK / 8 + off), ODCOMM_F64};
    }
    assert_true(groups <= MOST_GROUPS);
    return groups;
}

/* One odcomm_accumulate(). */
struct call {
    size_t group;
    odcomm_dtype dtype;
    int number;
    bool odd; /* from a buffer that begins one element off */
};

struct calls {
    struct call call[MOST_MICROBATCHES * MOST_GROUPS];
    size_t n;
};

static void shuffle(size_t *order, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* Groups in random order; some left out by this rank, some by all in this minibatch. */
static void add_microbatch(struct calls *calls, int minibatch, size_t groups, uint64_t *random)
{
    size_t order[MOST_GROUPS];

    shuffle(order, groups, random);
    for (size_t i = 0; i < groups; i++) {
        struct call call = {.group = order[i]};
        call.dtype = random_below(random, 2) ? ODCOMM_F64 : ODCOMM_F32;
        call.number = (int)random_below(random, 1000);
        call.odd = random_below(random, 2);
        if (random_below(random, 4) && (order[i] + (size_t)minibatch) % 5)
            calls->call[calls->n++] = call;
    }
}

/* What a rank does in a minibatch: any rank can tell. One of four has no microbatch at all. */
static void make_calls(struct calls *calls, int minibatch, int of_rank, size_t groups)
{
    uint64_t random = (uint64_t)(minibatch * 100 + of_rank);

    calls->n = 0;
    for (int m = 0; m < (minibatch + of_rank) % (MOST_MICROBATCHES + 1); m++)
        add_microbatch(calls, minibatch, groups, &random);
}

/* Doubles have values that would not survive a detour through floats. */
static double element_of(const struct call *call, odcomm_dtype group_dtype, size_t i)
{
    int value = (int)((i * 31 + (size_t)call->number * 17) % 2001) - 1000;
    bool wide = call->dtype == ODCOMM_F64 && group_dtype == ODCOMM_F64;

    return wide ? value * 0x1p30 + 1 : value;
}

/* The buffer is overwritten as soon as the library has said that it is free again. */
static void accumulate(odcomm_ctx *ctx, odcomm_group *group, const struct shape *shape,
                       const struct call *call)
{
    size_t size = call->dtype == ODCOMM_F64 ? sizeof(double) : sizeof(float);
    char *buffer = malloc((shape->count + 1) * size);
    char *grad = buffer + (call->odd ? size : 0);

    assert_non_null(buffer);
    for (size_t i = 0; i < shape->count; i++)
        set_element(grad, call->dtype, i, element_of(call, shape->dtype, i));
    assert_ok(ctx, odcomm_accumulate(group, grad, call->dtype));
    memset(buffer, 0xFF, (shape->count + 1) * size);
    free(buffer);
}

static void check_grad(odcomm_group *group, size_t index, const struct shape *shape,
                       const struct calls *calls)
{
    size_t first, count;
    const void *grad = odcomm_grad(group, &first, &count);
    double *sum = calloc(at_least_one(count), sizeof *sum);

    assert_non_null(sum);
    for (int r = 0; r < ranks; r++)
        for (size_t c = 0; c < calls[r].n; c++)
            for (size_t i = 0; i < count && calls[r].call[c].group == index; i++)
                sum[i] += element_of(&calls[r].call[c], shape->dtype, first + i);
    for (size_t i = 0; i < count; i++)
        assert_element(grad, shape->dtype, i, sum[i]);
    free(sum);
}

static void random_gradients(void **state)
{
    struct shape shape[MOST_GROUPS];
    odcomm_group *group[MOST_GROUPS];
    struct calls *calls = malloc((size_t)ranks * sizeof *calls);
    size_t groups = make_shapes(shape);
    odcomm_ctx *ctx = open_context(MPI_COMM_WORLD, NULL, shape, groups, group);

    (void)state;
    assert_non_null(calls);
    for (int m = 0; m < MINIBATCHES; m++) {
        for (int r = 0; r < ranks; r++)
            make_calls(&calls[r], m, r, groups);
        if (m % ranks == rank)
            sleep_ms(10); /* others begin to add before this rank has published */
        assert_ok(ctx, odcomm_publish(ctx));
        for (size_t c = 0; c < calls[rank].n; c++) {
            const struct call *call = &calls[rank].call[c];
            accumulate(ctx, group[call->group], &shape[call->group], call);
        }
        assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
        for (size_t g = 0; g < groups; g++)
            check_grad(group[g], g, &shape[g], calls);
    }
    assert_ok(ctx, odcomm_free(&ctx));
    free(calls);
}

/* All ranks add to the same elements as often and as fast as they can: not one is lost. */
static void contended(void **state)
{
    enum { TIMES = 150, SHARD = 20000 };
    const size_t count = (size_t)ranks * SHARD;
    const struct shape shape[] = {{count, ODCOMM_F32}, {count, ODCOMM_F64}};
    odcomm_group *group[2];
    odcomm_ctx *ctx = open_context(MPI_COMM_WORLD, NULL, shape, 2, group);
    float *ones = malloc(count * sizeof *ones);

    (void)state;
    assert_non_null(ones);
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    for (int m = 0; m < 2; m++) {
        assert_ok(ctx, odcomm_publish(ctx));
        for (int t = 0; t < TIMES; t++)
            assert_ok(ctx, odcomm_accumulate(group[m], ones, ODCOMM_F32));
        assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
        for (size_t i = 0; i < SHARD; i++)
            assert_element(odcomm_grad(group[m], NULL, NULL), shape[m].dtype, i, TIMES * ranks);
    }
    assert_ok(ctx, odcomm_free(&ctx));
    free(ones);
}

/* All ranks add (i % 50) + rank to all groups; on the last rank `strange` replaces one element. */
static double norm_with(odcomm_ctx *ctx, odcomm_group **group, const struct shape *shape,
                        size_t groups, size_t strange_group, double strange)
{
    double norm = -1, again = -1;

    assert_ok(ctx, odcomm_publish(ctx));
    for (size_t g = 0; g < groups; g++) {
        double *grad = malloc((shape[g].count + 1) * sizeof *grad);
        assert_non_null(grad);
        for (size_t i = 0; i < shape[g].count; i++)
            grad[i] = (double)(i % 50) + rank;
        if (g == strange_group && rank == ranks - 1)
            grad[shape[g].count / 2] = strange;
        assert_ok(ctx, odcomm_accumulate(group[g], grad, ODCOMM_F64));
        free(grad);
    }
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    assert_ok(ctx, odcomm_grad_norm(ctx, &norm));
    assert_ok(ctx, odcomm_grad_norm(ctx, &again));
    assert_memory_equal(&norm, &again, sizeof norm);
    return norm;
}

static double expected_norm(const struct shape *shape, size_t groups)
{
    double sum = 0;

    for (size_t g = 0; g < groups; g++)
        for (size_t i = 0; i < shape[g].count; i++) {
            double element = (double)(i % 50) * ranks + ranks * (ranks - 1) / 2;
            sum += element * element;
        }
    return sqrt(sum);
}

/* Integers small enough that the sum of squares is exact. Most shards of most groups are empty. */
static void norm(void **state)
{
    const struct shape shape[] = {{1000, ODCOMM_F32}, {0, ODCOMM_F32},
                                  {1, ODCOMM_F64},    {(size_t)ranks * 77 + 1, ODCOMM_F64},
                                  {1, ODCOMM_F32},    {2, ODCOMM_F32}};
    const size_t groups = sizeof shape / sizeof shape[0];
    const struct {
        size_t group;
        double value;
    } strange[] = {{0, NAN}, {2, NAN}, {4, INFINITY}, {3, -INFINITY}, {5, 1e300}};
    odcomm_group *group[sizeof shape / sizeof shape[0]];
    odcomm_ctx *ctx = open_context(MPI_COMM_WORLD, NULL, shape, groups, group);
    double expected = expected_norm(shape, groups), untouched = -1;

    (void)state;
    assert_true(norm_with(ctx, group, shape, groups, groups, 0) == expected);
    for (size_t s = 0; s < sizeof strange / sizeof strange[0]; s++) {
        assert_true(
            isnan(norm_with(ctx, group, shape, groups, strange[s].group, strange[s].value)));
        assert_true(norm_with(ctx, group, shape, groups, groups, 0) == expected);
    }
    assert_ok(ctx, odcomm_publish(ctx));
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    assert_ok(ctx, odcomm_grad_norm(ctx, &untouched));
    assert_true(untouched == 0);
    assert_ok(ctx, odcomm_free(&ctx));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(random_gradients),
                                       cmocka_unit_test(contended), cmocka_unit_test(norm)};

    return run_ranked(argc, argv, cases);
}
