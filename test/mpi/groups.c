/* Groups of every kind, many of them, and used differently by each rank. */
#include "ranked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 3000
#define LONGEST_NAME 255

/* Counts the windows that the library makes. */
static int windows;

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *win)
{
    windows++;
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
}

static double value_of(size_t group, size_t i)
{
    return (double)((group * 4099 + i) % 16777213);
}

static void write_shard(odcomm_group *group, size_t index, odcomm_dtype dtype)
{
    size_t first, count;
    void *values = odcomm_shard(group, &first, &count);

    for (size_t i = 0; i < count; i++)
        set_element(values, dtype, i, value_of(index, first + i));
}

static void check_gather(odcomm_ctx *ctx, odcomm_group *group, size_t index,
                         const struct shape *shape)
{
    const void *values;

    assert_ok(ctx, odcomm_gather(group, &values));
    assert_int_equal((uintptr_t)values % 64, 0);
    for (size_t i = 0; i < shape->count; i++)
        assert_element(values, shape->dtype, i, value_of(index, i));
    assert_ok(ctx, odcomm_release(group));
}

static void add_ones(odcomm_ctx *ctx, odcomm_group *group, size_t count)
{
    double *ones = malloc((count + 1) * sizeof *ones);

    assert_non_null(ones);
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    assert_ok(ctx, odcomm_accumulate(group, ones, ODCOMM_F64));
    free(ones);
}

static void check_grad(odcomm_group *group, odcomm_dtype dtype, double expected)
{
    size_t count;
    const void *grad = odcomm_grad(group, NULL, &count);

    assert_int_equal((uintptr_t)grad % 64, 0);
    for (size_t i = 0; i < count; i++)
        assert_element(grad, dtype, i, expected);
}

/* Shards cover the group in order of ranks, all of one size but for the last that are not empty. */
static void check_shards(odcomm_group *group, size_t count)
{
    size_t block = (count + (size_t)ranks - 1) / (size_t)ranks;
    size_t begin = (size_t)rank * block < count ? (size_t)rank * block : count;
    size_t end = begin + block < count ? begin + block : count;
    size_t first, mine, grad_first, grad_mine;

    assert_non_null(odcomm_shard(group, &first, &mine));
    assert_non_null(odcomm_grad(group, &grad_first, &grad_mine));
    assert_int_equal(first, begin);
    assert_int_equal(mine, end - begin);
    assert_int_equal(grad_first, begin);
    assert_int_equal(grad_mine, end - begin);
}

/* Every odd length from 1 on, of either dtype, behind each other: 64-byte aligned all the same. */
static void alignment(void **state)
{
    enum { GROUPS = 2 * 45 };
    struct shape shape[GROUPS];
    odcomm_group *group[GROUPS];
    odcomm_ctx *ctx;

    (void)state;
    for (size_t g = 0; g < GROUPS; g++)
        shape[g] = (struct shape){g / 2, g % 3 ? ODCOMM_F32 : ODCOMM_F64};
    for (int copy = 0; copy < 2; copy++) {
        odcomm_options options;
        odcomm_options_init(&options);
        options.gather = copy ? "copy" : "view";
        ctx = open_context(MPI_COMM_WORLD, &options, shape, GROUPS, group);
        for (size_t g = 0; g < GROUPS; g++) {
            check_shards(group[g], shape[g].count);
            if (rank == 0)
                assert_int_equal((uintptr_t)odcomm_shard(group[g], NULL, NULL) % 64, 0);
            write_shard(group[g], g, shape[g].dtype);
        }
        assert_ok(ctx, odcomm_publish(ctx));
        for (size_t g = 0; g < GROUPS; g++) {
            check_gather(ctx, group[g], g, &shape[g]);
            add_ones(ctx, group[g], shape[g].count);
        }
        assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
        for (size_t g = 0; g < GROUPS; g++)
            check_grad(group[g], shape[g].dtype, ranks);
        assert_ok(ctx, odcomm_free(&ctx));
    }
}

/* 255 bytes are 85 characters of three bytes; the two longest names differ in the last byte. */
static void names(void **state)
{
    char longest[LONGEST_NAME + 2] = "", other[LONGEST_NAME + 2] = "";
    const char *good[] = {"a", "A", "a ", "λ/层.0", "\xF0\x9F\x8C\x8D", other, longest};
    const char *bad[] = {"", "a", "\xFF", "\xC0\x80", "\xED\xA0\x80", "\xE2\x82", longest};
    const size_t groups = sizeof good / sizeof good[0];
    odcomm_group *group[sizeof good / sizeof good[0]], *none = (odcomm_group *)good;
    odcomm_ctx *ctx;

    (void)state;
    for (int i = 0; i < LONGEST_NAME / 3; i++)
        strcat(longest, "\xE2\x82\xAC");
    strcpy(other, longest);
    other[LONGEST_NAME - 1] = '\xAD';
    assert_ok(NULL, odcomm_create(MPI_COMM_WORLD, NULL, &ctx));
    for (size_t g = 0; g < groups; g++)
        assert_ok(ctx, odcomm_group_add(ctx, good[g], g + 1, ODCOMM_F32, &group[g]));
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
        assert_code(ctx, odcomm_group_add(ctx, bad[b], 1, ODCOMM_F32, &none), ODCOMM_ERR_ARG);
        assert_null(none);
    }
    strcat(longest, "x");
    assert_code(ctx, odcomm_group_add(ctx, longest, 1, ODCOMM_F32, &none), ODCOMM_ERR_ARG);
    assert_ok(ctx, odcomm_commit(ctx));
    for (size_t g = 0; g < groups; g++)
        write_shard(group[g], g, ODCOMM_F32);
    assert_ok(ctx, odcomm_publish(ctx));
    for (size_t g = 0; g < groups; g++)
        check_gather(ctx, group[g], g, &(struct shape){g + 1, ODCOMM_F32});
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    assert_ok(ctx, odcomm_free(&ctx));
}

static int windows_of(size_t groups, const struct shape *shape, odcomm_group **group,
                      odcomm_ctx **ctx)
{
    int before = windows;
    double begin = MPI_Wtime();

    *ctx = open_context(MPI_COMM_WORLD, NULL, shape, groups, group);
    print_message("%zu groups committed in %.2f s\n", groups, MPI_Wtime() - begin);
    return windows - before;
}

static void three_thousand(void **state)
{
    struct shape *shape = malloc(MANY * sizeof *shape);
    odcomm_group **group = malloc(MANY * sizeof(odcomm_group *));
    odcomm_ctx *ctx, *small;
    int few;

    (void)state;
    assert_non_null(shape);
    assert_non_null(group);
    for (size_t g = 0; g < MANY; g++)
        shape[g] = (struct shape){g % 37, g % 3 ? ODCOMM_F32 : ODCOMM_F64};
    few = windows_of(1, shape, group, &small);
    assert_ok(small, odcomm_free(&small));
    assert_true(few > 0);
    assert_int_equal(windows_of(MANY, shape, group, &ctx), few);
    for (size_t g = 0; g < MANY; g++)
        write_shard(group[g], g, shape[g].dtype);
    assert_ok(ctx, odcomm_publish(ctx));
    for (size_t g = 0; g < MANY; g++) {
        check_gather(ctx, group[g], g, &shape[g]);
        add_ones(ctx, group[g], shape[g].count);
    }
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    for (size_t g = 0; g < MANY; g++)
        check_grad(group[g], shape[g].dtype, ranks);
    assert_ok(ctx, odcomm_free(&ctx));
    free(group);
    free(shape);
}

/* Without groups there are still claims, sums and norms. */
static void none(void **state)
{
    odcomm_ctx *ctx = open_context(MPI_COMM_WORLD, NULL, NULL, 0, NULL);
    double sum = 1, norm = -1, claimed = 0;
    long task;

    (void)state;
    assert_ok(ctx, odcomm_publish(ctx));
    while (odcomm_claim(ctx, 10, &task) == ODCOMM_OK && task >= 0)
        claimed++;
    assert_ok(ctx, odcomm_fence(ctx, &sum, 1));
    assert_true(sum == ranks);
    assert_ok(ctx, odcomm_grad_norm(ctx, &norm));
    assert_true(norm == 0);
    assert_ok(ctx, odcomm_publish(ctx));
    assert_ok(ctx, odcomm_fence(ctx, &claimed, 1));
    assert_true(claimed == 10);
    assert_ok(ctx, odcomm_free(&ctx));
}

/* Six microbatches on the first rank, one on the second, none elsewhere; each rank its own order.
 */
static void uneven(void **state)
{
    enum { GROUPS = 6 };
    const int microbatches = rank == 0 ? 6 : rank == 1 ? 1 : 0;
    struct shape shape[GROUPS];
    odcomm_group *group[GROUPS];
    odcomm_ctx *ctx;

    (void)state;
    for (size_t g = 0; g < GROUPS; g++)
        shape[g] = (struct shape){100 * g + 3, g % 2 ? ODCOMM_F64 : ODCOMM_F32};
    ctx = open_context(MPI_COMM_WORLD, NULL, shape, GROUPS, group);
    for (size_t g = 0; g < GROUPS; g++)
        write_shard(group[g], g, shape[g].dtype);
    for (int m = 0; m < 3; m++) {
        assert_ok(ctx, odcomm_publish(ctx));
        for (int b = 0; b < microbatches; b++)
            for (size_t i = 0; i < GROUPS - 1; i++) { /* the last group is never used */
                size_t g = rank == 0 ? i : GROUPS - 2 - i;
                check_gather(ctx, group[g], g, &shape[g]);
                if (g != 2 || rank == 1) /* and one by the second rank alone */
                    add_ones(ctx, group[g], shape[g].count);
            }
        assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
        for (size_t g = 0; g < GROUPS; g++)
            check_grad(group[g], shape[g].dtype,
                       g == GROUPS - 1 ? 0 : (g == 2 ? 0 : 6) + (ranks > 1 ? 1 : 0));
    }
    assert_ok(ctx, odcomm_free(&ctx));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(alignment), cmocka_unit_test(names),  cmocka_unit_test(three_thousand),
        cmocka_unit_test(none),      cmocka_unit_test(uneven),
    };

    return run_ranked(argc, argv, cases);
}
