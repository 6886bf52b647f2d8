/*
 * Bad arguments and calls in the wrong phase, each once on the public interface; what the sentence
 * says; and that afterwards everything is as it was.
 */
#include "steady.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The context of the cases that leave it in the update phase, as they have found it. */
static struct life *common;

static int open_common(void **state)
{
    (void)state;
    common = begin(NULL);
    return 0;
}

static int close_common(void **state)
{
    (void)state;
    end(common);
    return 0;
}

/* ---- bad arguments ------------------------------------------------------------------------- */

static void arguments_of_create(void **state)
{
    MPI_Comm halves, bridge;
    odcomm_ctx *ctx = (odcomm_ctx *)&halves;

    (void)state;
    assert_code(NULL, odcomm_create(MPI_COMM_WORLD, NULL, NULL), ODCOMM_ERR_ARG);
    assert_says(NULL, "NULL");
    assert_code(NULL, odcomm_create(MPI_COMM_NULL, NULL, &ctx), ODCOMM_ERR_ARG);
    assert_says(NULL, "MPI_COMM_NULL");
    assert_null(ctx);
    assert_int_equal(odcomm_options_init(NULL), ODCOMM_ERR_ARG);
    assert_ok(NULL, odcomm_free(NULL));
    assert_ok(NULL, odcomm_free(&ctx));
    if (ranks < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &halves);
    MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &bridge);
    ctx = (odcomm_ctx *)&halves;
    assert_code(NULL, odcomm_create(bridge, NULL, &ctx), ODCOMM_ERR_ARG);
    assert_says(NULL, "inter-communicator");
    assert_null(ctx);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&halves);
}

static void null_handles(void **state)
{
    const void *values = &values;
    odcomm_group *group = (odcomm_group *)&values;
    odcomm_stats stats;
    size_t count;
    double norm;
    float grad = 0;
    long task = 7;

    (void)state;
    assert_int_equal(odcomm_group_add(NULL, "x", 1, ODCOMM_F32, &group), ODCOMM_ERR_ARG);
    assert_null(group);
    assert_int_equal(odcomm_commit(NULL), ODCOMM_ERR_ARG);
    assert_null(odcomm_shard(NULL, &count, &count));
    assert_null(odcomm_grad(NULL, &count, &count));
    assert_int_equal(odcomm_publish(NULL), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_publish_group(NULL), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_gather(NULL, &values), ODCOMM_ERR_ARG);
    assert_null(values);
    assert_int_equal(odcomm_gather_into(NULL, &grad), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_prefetch(NULL), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_release(NULL), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_accumulate(NULL, &grad, ODCOMM_F32), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_claim(NULL, 1, &task), ODCOMM_ERR_ARG);
    assert_int_equal(task, -1);
    assert_int_equal(odcomm_fence(NULL, NULL, 0), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_grad_norm(NULL, &norm), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_stats_get(NULL, &stats), ODCOMM_ERR_ARG);
    assert_int_equal(odcomm_version(NULL), 0);
    assert_non_null(odcomm_last_error(NULL));
}

static void refuse_group(struct life *life, const char *name, int dtype, int code, const char *says)
{
    odcomm_group *group = life->first;

    assert_code(life->ctx, odcomm_group_add(life->ctx, name, 5, (odcomm_dtype)dtype, &group), code);
    assert_null(group);
    assert_says(life->ctx, says);
}

static void arguments_of_group_add(void **state)
{
    struct life *life = prepare(NULL);
    char longest[257];
    odcomm_group *group;

    (void)state;
    memset(longest, 'n', 256);
    longest[256] = '\0';
    assert_string_equal(odcomm_last_error(life->ctx), "");
    refuse_group(life, NULL, ODCOMM_F32, ODCOMM_ERR_ARG, "1 to 255 bytes");
    refuse_group(life, "", ODCOMM_F32, ODCOMM_ERR_ARG, "1 to 255 bytes");
    refuse_group(life, longest, ODCOMM_F32, ODCOMM_ERR_ARG, "1 to 255 bytes");
    refuse_group(life, "M\xFCller", ODCOMM_F32, ODCOMM_ERR_ARG, "UTF-8");
    refuse_group(life, "cut \xE5\xB1", ODCOMM_F32, ODCOMM_ERR_ARG, "UTF-8");
    refuse_group(life, "first", ODCOMM_F64, ODCOMM_ERR_ARG, "'first'");
    refuse_group(life, "odd", -1, ODCOMM_ERR_ARG, "'odd'");
    refuse_group(life, "odd", 4, ODCOMM_ERR_ARG, "dtype: 4");
    refuse_group(life, "half", ODCOMM_BF16, ODCOMM_ERR_UNSUPPORTED, "16-bit");
    refuse_group(life, "half", ODCOMM_F16, ODCOMM_ERR_UNSUPPORTED, "'half'");
    assert_code(life->ctx, odcomm_group_add(life->ctx, "x", 1, ODCOMM_F32, NULL), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "NULL");

    /* the refused names are free; the longest and another alphabet are fine */
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "odd", 1, ODCOMM_F32, &group));
    assert_ok(life->ctx, odcomm_group_add(life->ctx, longest + 1, 1, ODCOMM_F32, &group));
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "\xE5\xB1\x82", 1, ODCOMM_F32, &group));
    assert_ok(life->ctx, odcomm_commit(life->ctx));
    minibatch(life);
    end(life);
}

static void arguments_of_work(void **state)
{
    struct life *life = common;
    long task = 7;
    double sums[ODCOMM_MAX_SUMS + 1] = {0};

    (void)state;
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_code(life->ctx, odcomm_gather(life->first, NULL), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "'first'");
    assert_code(life->ctx, odcomm_gather_into(life->second, NULL), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "'second'");
    assert_code(life->ctx, odcomm_accumulate(life->first, NULL, ODCOMM_F32), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "'first'");
    assert_code(life->ctx, odcomm_accumulate(life->first, life->grad, (odcomm_dtype)9),
                ODCOMM_ERR_ARG);
    assert_says(life->ctx, "dtype: 9");
    assert_code(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_BF16),
                ODCOMM_ERR_UNSUPPORTED);
    assert_says(life->ctx, "16-bit");
    assert_code(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F16),
                ODCOMM_ERR_UNSUPPORTED);
    assert_code(life->ctx, odcomm_claim(life->ctx, -1, &task), ODCOMM_ERR_ARG);
    assert_int_equal(task, -1);
    assert_code(life->ctx, odcomm_claim(life->ctx, 1, NULL), ODCOMM_ERR_ARG);
    assert_code(life->ctx, odcomm_fence(life->ctx, sums, -1), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "-1");
    assert_code(life->ctx, odcomm_fence(life->ctx, sums, ODCOMM_MAX_SUMS + 1), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "17");
    assert_code(life->ctx, odcomm_fence(life->ctx, sums, INT_MAX), ODCOMM_ERR_ARG);
    assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 1), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "NULL");
    assert_ok(life->ctx, odcomm_fence(life->ctx, sums, ODCOMM_MAX_SUMS));
    assert_gradient(life, 0);
    assert_code(life->ctx, odcomm_grad_norm(life->ctx, NULL), ODCOMM_ERR_ARG);
    assert_says(life->ctx, "NULL");
    assert_int_equal(odcomm_stats_get(life->ctx, NULL), ODCOMM_ERR_ARG);
    minibatch(life);
}

/* ---- the wrong phase ----------------------------------------------------------------------- */

static void assert_no_update(struct life *life)
{
    double norm = 0;

    assert_code(life->ctx, odcomm_publish(life->ctx), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_publish");
    assert_code(life->ctx, odcomm_publish_group(life->first), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_publish_group");
    assert_code(life->ctx, odcomm_grad_norm(life->ctx, &norm), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_grad_norm");
}

static void assert_no_setup(struct life *life)
{
    odcomm_group *group = life->first;

    assert_code(life->ctx, odcomm_group_add(life->ctx, "x", 1, ODCOMM_F32, &group),
                ODCOMM_ERR_PHASE);
    assert_null(group);
    assert_says(life->ctx, "odcomm_group_add");
    assert_code(life->ctx, odcomm_commit(life->ctx), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_commit");
}

static void every_call_in_every_wrong_phase(void **state)
{
    struct life *life = prepare(NULL);
    size_t first, count;
    double norm;

    (void)state;
    assert_no_work(life);
    assert_no_update(life);
    assert_null(odcomm_shard(life->first, &first, &count));
    assert_null(odcomm_grad(life->first, &first, &count));
    assert_ok(life->ctx, odcomm_commit(life->ctx));
    assert_no_setup(life);
    assert_no_work(life);
    assert_code(life->ctx, odcomm_grad_norm(life->ctx, &norm), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "first fence");
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_no_setup(life);
    assert_no_update(life);
    assert_ok(life->ctx, odcomm_fence(life->ctx, NULL, 0));
    assert_no_setup(life);
    assert_no_work(life);
    minibatch(life);
    end(life);
}

static void a_group_still_held(void **state)
{
    struct life *life = common;
    const void *values;

    (void)state;
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_ok(life->ctx, odcomm_gather(life->second, &values));
    assert_ok(life->ctx, odcomm_gather(life->second, &values));
    for (int left = 2; left > 0; left--) {
        assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 0), ODCOMM_ERR_PHASE);
        assert_says(life->ctx, "'second'");
        assert_ok(life->ctx, odcomm_release(life->second));
    }
    assert_code(life->ctx, odcomm_release(life->second), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "'second'");
    assert_code(life->ctx, odcomm_release(life->first), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "'first'");
    assert_ok(life->ctx, odcomm_fence(life->ctx, NULL, 0));
    minibatch(life);
}

/* On one rank only: it puts it right while the others wait for it at the fence. */
static void one_rank_puts_it_right(void **state)
{
    struct life *life = common;
    const void *values;

    (void)state;
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_ok(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32));
    if (rank == ranks - 1) {
        assert_ok(life->ctx, odcomm_gather(life->first, &values));
        assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 0), ODCOMM_ERR_PHASE);
        assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 3), ODCOMM_ERR_ARG);
        assert_ok(life->ctx, odcomm_release(life->first));
    }
    assert_ok(life->ctx, odcomm_fence(life->ctx, NULL, 0));
    assert_gradient(life, 1);
}

static void published_twice(void **state)
{
    struct life *life = common;
    double norm = 5;

    (void)state;
    minibatch(life);
    assert_ok(life->ctx, odcomm_grad_norm(life->ctx, &norm));
    assert_true(norm >= 0);
    norm = 5;
    assert_ok(life->ctx, odcomm_publish_group(life->second));
    assert_code(life->ctx, odcomm_publish_group(life->second), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "'second'");
    assert_code(life->ctx, odcomm_grad_norm(life->ctx, &norm), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "'second'");
    assert_true(norm == 5);
    minibatch(life);
}

/* ---- outside of MPI ------------------------------------------------------------------------ */

static int outside_of_mpi(void)
{
    odcomm_ctx *ctx = (odcomm_ctx *)&ctx;

    if (odcomm_create(MPI_COMM_WORLD, NULL, &ctx) == ODCOMM_ERR_PHASE && !ctx &&
        strstr(odcomm_last_error(NULL), "MPI_Init"))
        return EXIT_SUCCESS;
    fprintf(stderr, "odcomm_create outside of MPI: %s\n", odcomm_last_error(NULL));
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(arguments_of_create),
        cmocka_unit_test(null_handles),
        cmocka_unit_test(arguments_of_group_add),
        cmocka_unit_test(every_call_in_every_wrong_phase),
        cmocka_unit_test_setup(arguments_of_work, open_common),
        cmocka_unit_test(a_group_still_held),
        cmocka_unit_test(one_rank_puts_it_right),
        cmocka_unit_test_teardown(published_twice, close_common),
    };
    int before = outside_of_mpi();
    int failed = run_ranked(argc, argv, cases);

    return before || failed || outside_of_mpi() ? EXIT_FAILURE : EXIT_SUCCESS;
}
