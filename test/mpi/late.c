/* Ranks that are late, with a time-out: who is named, and what calling again comes to. */
#include "steady.h"

#include <stdatomic.h>

#define SOON 0.1

/* How many times ranks have found that rank 1 is late, which it is until all of them have. */
static struct word late;

static odcomm_options open_late(const char *mode)
{
    late = open_word();
    return options_with(mode, SOON);
}

static void assert_names_the_late_one(const struct life *life, const char *call)
{
    assert_says(life->ctx, call);
    assert_says(life->ctx, "rank 1");
    atomic_fetch_add(late.value, 1);
}

static void late_to_publish(void **state)
{
    odcomm_options options;
    struct life *life;
    const void *values = &values;

    (void)state;
    if (ranks < 2)
        skip();
    options = open_late(NULL);
    life = begin(&options);
    if (rank == 1)
        await_word(&late, 3 * (ranks - 1));
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    if (rank != 1) {
        assert_code(life->ctx, odcomm_gather(life->first, &values), ODCOMM_ERR_TIMEOUT);
        assert_null(values);
        assert_says(life->ctx, "odcomm_commit"); /* what it last did */
        assert_names_the_late_one(life, "odcomm_gather of group 'first'");
        assert_code(life->ctx, odcomm_gather_into(life->first, life->grad), ODCOMM_ERR_TIMEOUT);
        assert_names_the_late_one(life, "group 'first'");
        assert_code(life->ctx, odcomm_accumulate(life->second, life->grad, ODCOMM_F32),
                    ODCOMM_ERR_TIMEOUT);
        assert_names_the_late_one(life, "odcomm_accumulate of group 'second'");
        while (odcomm_gather(life->first, &values) == ODCOMM_ERR_TIMEOUT)
            ;
        assert_non_null(values);
        assert_ok(life->ctx, odcomm_release(life->first));
    }
    while (odcomm_fence(life->ctx, NULL, 0) == ODCOMM_ERR_TIMEOUT)
        ;
    for (int i = 0; i < COUNT; i++)
        life->grad[i] = (float)(i + rank); /* a part of it was gathered into */
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    while (odcomm_accumulate(life->second, life->grad, ODCOMM_F32) == ODCOMM_ERR_TIMEOUT)
        ;
    while (odcomm_fence(life->ctx, NULL, 0) == ODCOMM_ERR_TIMEOUT)
        ;
    end(life);
    close_word(&late);
}

/* Until then nothing else may be done: for the others this rank has come already. */
static void assert_nothing_else_goes(struct life *life, const char *call)
{
    const void *values;
    long task;

    assert_code(life->ctx, odcomm_claim(life->ctx, 1, &task), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, call);
    assert_code(life->ctx, odcomm_gather(life->first, &values), ODCOMM_ERR_PHASE);
    assert_code(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32),
                ODCOMM_ERR_PHASE);
    assert_code(life->ctx, odcomm_publish_group(life->first), ODCOMM_ERR_PHASE);
    assert_code(life->ctx, odcomm_publish(life->ctx), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, call);
}

/* The late rank comes to the call `meet` at last, the others call it until it has. */
static void wait_out(struct life *life, int (*meet)(struct life *), const char *call)
{
    int code = ODCOMM_ERR_TIMEOUT;

    if (rank == 1)
        await_word(&late, ranks - 1);
    else {
        assert_code(life->ctx, meet(life), ODCOMM_ERR_TIMEOUT);
        assert_names_the_late_one(life, call);
        assert_nothing_else_goes(life, call);
    }
    for (int i = 0; i < 100 && code == ODCOMM_ERR_TIMEOUT; i++)
        code = meet(life);
    assert_ok(life->ctx, code);
    MPI_Barrier(MPI_COMM_WORLD);
    atomic_store(late.value, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double sums[2];

static int fence_with_sums(struct life *life)
{
    return odcomm_fence(life->ctx, sums, 2);
}

static int grad_norm(struct life *life)
{
    return odcomm_grad_norm(life->ctx, sums);
}

static void late_to_the_fence(const char *mode)
{
    odcomm_options options = open_late(mode);
    struct life *life = begin(&options);
    double squares = 0;

    assert_ok(life->ctx, odcomm_publish(life->ctx));
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is late for the gradients */
    assert_ok(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32));
    assert_ok(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32));
    sums[0] = rank, sums[1] = 1;
    wait_out(life, fence_with_sums, "odcomm_fence");
    assert_true(sums[0] == ranks * (ranks - 1) / 2);
    assert_true(sums[1] == ranks);
    assert_gradient(life, 2);

    wait_out(life, grad_norm, "odcomm_grad_norm");
    for (int i = 0; i < COUNT; i++) {
        double element = 2.0 * (ranks * i + ranks * (ranks - 1) / 2);
        squares += element * element;
    }
    assert_true(sums[0] * sums[0] > squares * (1 - 1e-12));
    assert_true(sums[0] * sums[0] < squares * (1 + 1e-12));
    end(life);
    close_word(&late);
}

static void calling_again_goes_on_waiting(void **state)
{
    (void)state;
    if (ranks < 2)
        skip();
    late_to_the_fence("on-demand");
    late_to_the_fence("local-sum");
}

/* What it brought the first time is what counts, and as many. */
static void calling_again_with_other_sums(void **state)
{
    odcomm_options options;
    struct life *life;
    double mine[2] = {1, 1};
    int code;

    (void)state;
    if (ranks < 2)
        skip();
    options = open_late(NULL);
    life = begin(&options);
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    if (rank == 1)
        await_word(&late, ranks - 1);
    else {
        assert_code(life->ctx, odcomm_fence(life->ctx, mine, 2), ODCOMM_ERR_TIMEOUT);
        assert_true(mine[0] == 1 && mine[1] == 1);
        assert_code(life->ctx, odcomm_fence(life->ctx, mine, 1), ODCOMM_ERR_ARG);
        atomic_fetch_add(late.value, 1);
        mine[0] = mine[1] = 0;
    }
    while ((code = odcomm_fence(life->ctx, mine, 2)) == ODCOMM_ERR_TIMEOUT)
        ;
    assert_ok(life->ctx, code);
    assert_true(mine[0] == ranks && mine[1] == ranks);
    end(life);
    close_word(&late);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(late_to_publish),
        cmocka_unit_test(calling_again_goes_on_waiting),
        cmocka_unit_test(calling_again_with_other_sums),
    };

    return run_ranked(argc, argv, cases);
}
