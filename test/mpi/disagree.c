/* Ranks that disagree: about groups, options, sums, and about what they are doing. */
#include "steady.h"

#include <stdio.h>

struct description {
    const char *name;
    size_t count;
    odcomm_dtype dtype;
};

/* Adds `mine` on the last rank and `theirs` on the others, between two common groups. */
static void disagree(struct description mine, struct description theirs, const char *says[2])
{
    struct life *life = prepare(NULL);
    struct description *added = rank == ranks - 1 ? &mine : &theirs;
    odcomm_group *group;

    assert_ok(life->ctx,
              odcomm_group_add(life->ctx, added->name, added->count, added->dtype, &group));
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "last", 9, ODCOMM_F32, &group));
    for (int again = 0; again < 2; again++) {
        assert_code(life->ctx, odcomm_commit(life->ctx), ODCOMM_ERR_MISMATCH);
        assert_says(life->ctx, says[0]);
        assert_says(life->ctx, says[1]);
    }
    assert_no_work(life); /* still before commit */
    end(life);
}

static void groups_that_differ(void **state)
{
    const char *names[] = {"'bias' (7 F32)", "'weight' (7 F32)"};
    const char *sizes[] = {"'weight' (8 F32)", "'weight' (7 F32)"};
    const char *types[] = {"'weight' (7 F64)", "'weight' (7 F32)"};
    const struct description weight = {"weight", 7, ODCOMM_F32};

    (void)state;
    if (ranks < 2)
        skip();
    disagree((struct description){"bias", 7, ODCOMM_F32}, weight, names);
    disagree((struct description){"weight", 8, ODCOMM_F32}, weight, sizes);
    disagree((struct description){"weight", 7, ODCOMM_F64}, weight, types);
}

static void groups_in_another_order(void **state)
{
    const int first = rank == 0;
    odcomm_group *group;
    odcomm_ctx *ctx;

    (void)state;
    if (ranks < 2)
        skip();
    assert_ok(NULL, odcomm_create(MPI_COMM_WORLD, NULL, &ctx));
    assert_ok(ctx, odcomm_group_add(ctx, "same", 2, ODCOMM_F32, &group));
    assert_ok(ctx, odcomm_group_add(ctx, first ? "a" : "b", first ? 3 : 4, ODCOMM_F32, &group));
    assert_ok(ctx, odcomm_group_add(ctx, first ? "b" : "a", first ? 4 : 3, ODCOMM_F32, &group));
    assert_code(ctx, odcomm_commit(ctx), ODCOMM_ERR_MISMATCH);
    assert_says(ctx, "group 1");
    assert_says(ctx, "'b' (4 F32)");
    assert_says(ctx, "'a' (3 F32)");
    assert_ok(NULL, odcomm_free(&ctx));
}

/* The missing ones can be added afterwards; so many that they are compared in several batches. */
static void another_number_of_groups(void **state)
{
    struct life *life = prepare(NULL);
    odcomm_group *group;
    char name[16];

    (void)state;
    if (ranks < 2) {
        end(life);
        skip();
    }
    for (int g = 0; g < (rank == 1 ? 70 : 75); g++) {
        snprintf(name, sizeof name, "layer %d", g);
        assert_ok(life->ctx, odcomm_group_add(life->ctx, name, 5, ODCOMM_F32, &group));
    }
    assert_code(life->ctx, odcomm_commit(life->ctx), ODCOMM_ERR_MISMATCH);
    assert_says(life->ctx, "72");
    assert_says(life->ctx, "77");
    for (int g = 70; rank == 1 && g < 75; g++) {
        snprintf(name, sizeof name, "layer %d", g);
        assert_ok(life->ctx, odcomm_group_add(life->ctx, name, 5, ODCOMM_F32, &group));
    }
    assert_ok(life->ctx, odcomm_commit(life->ctx));
    minibatch(life);
    end(life);
}

static void another_number_of_sums(void **state)
{
    struct life *life;
    double sums[3] = {1, 2, 3};

    (void)state;
    if (ranks < 2)
        skip();
    life = begin(NULL);
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_ok(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32));
    assert_code(life->ctx, odcomm_fence(life->ctx, sums, rank == 1 ? 3 : 2), ODCOMM_ERR_MISMATCH);
    assert_says(life->ctx, "rank 1 brings 3");
    assert_true(sums[0] == 1 && sums[1] == 2 && sums[2] == 3);
    assert_ok(life->ctx, odcomm_fence(life->ctx, sums, 2));
    assert_true(sums[0] == ranks && sums[1] == 2 * ranks && sums[2] == 3);
    assert_gradient(life, 1);
    minibatch(life);
    end(life);
}

/* One rank has published already and comes to the next fence. */
static void another_call(void **state)
{
    struct life *life;
    double norm = 5;

    (void)state;
    if (ranks < 2)
        skip();
    life = begin(NULL);
    minibatch(life);
    if (rank == 1) {
        assert_ok(life->ctx, odcomm_publish(life->ctx));
        assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 0), ODCOMM_ERR_MISMATCH);
    } else {
        assert_code(life->ctx, odcomm_grad_norm(life->ctx, &norm), ODCOMM_ERR_MISMATCH);
        assert_true(norm == 5);
    }
    assert_says(life->ctx, "odcomm_grad_norm");
    assert_says(life->ctx, "odcomm_fence");
    if (rank != 1)
        assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_ok(life->ctx, odcomm_fence(life->ctx, NULL, 0));
    minibatch(life);
    end(life);
}

static void modes_that_differ(void **state)
{
    odcomm_options options = options_with(rank == 0 ? "collective" : "local-sum", 0);
    odcomm_ctx *ctx = (odcomm_ctx *)&options;

    (void)state;
    if (ranks < 2)
        skip();
    assert_code(NULL, odcomm_create(MPI_COMM_WORLD, &options, &ctx), ODCOMM_ERR_MISMATCH);
    assert_null(ctx);
    assert_says(NULL, "collective");
    assert_says(NULL, "local-sum");
    options = options_with("on-demand", 0);
    options.node_ranks = rank == ranks - 1 ? ranks : 0;
    assert_code(NULL, odcomm_create(MPI_COMM_WORLD, &options, &ctx), ODCOMM_ERR_MISMATCH);
    assert_says(NULL, "node_ranks");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(groups_that_differ),
        cmocka_unit_test(groups_in_another_order),
        cmocka_unit_test(another_number_of_groups),
        cmocka_unit_test(another_number_of_sums),
        cmocka_unit_test(another_call),
        cmocka_unit_test(modes_that_differ),
    };

    return run_ranked(argc, argv, cases);
}
