/*
 * What cannot be had: groups that do not fit, features that are not available, options that do not
 * exist, asked for by the program or by the environment.
 */
#include "steady.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static int windows; /* made */

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *win)
{
    windows++;
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
}

static void larger_than_dev_shm(const char *mode)
{
    odcomm_options options = options_with(mode, 0);
    struct life *life = prepare(&options);
    unsigned long long need = 0, room = 0;
    struct statvfs status;
    odcomm_group *group;

    assert_int_equal(statvfs("/dev/shm", &status), 0);
    /* all ranks agree on the size, whatever else uses the room meanwhile */
    unsigned long long bytes = (unsigned long long)status.f_blocks * status.f_frsize + 4096;
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "huge", bytes / 4 + 1, ODCOMM_F32, &group));
    windows = 0;
    for (int again = 0; again < 2; again++) {
        assert_code(life->ctx, odcomm_commit(life->ctx), ODCOMM_ERR_NOMEM);
        const char *text = strstr(odcomm_last_error(life->ctx), "/dev/shm has room for");
        assert_non_null(text);
        assert_int_equal(
            sscanf(text, "/dev/shm has room for %llu bytes and %llu are needed", &room, &need), 2);
        assert_true(need > bytes && room < bytes);
    }
    assert_int_equal(windows, 0); /* nothing touched, nothing even asked for */
    assert_no_work(life);
    end(life);
}

static void no_room_in_dev_shm(void **state)
{
    (void)state;
    larger_than_dev_shm("on-demand");
    larger_than_dev_shm("local-sum");
    struct life *life = begin(NULL);
    assert_true(windows > 0); /* so the counter does see the library */
    minibatch(life);
    end(life);
}

static void more_than_can_be_addressed(void **state)
{
    const size_t counts[] = {SIZE_MAX, SIZE_MAX / 4 + 1, PTRDIFF_MAX / 4};
    odcomm_group *group;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct life *life = prepare(NULL);
        assert_ok(life->ctx, odcomm_group_add(life->ctx, "endless", counts[i], ODCOMM_F32, &group));
        windows = 0;
        assert_code(life->ctx, odcomm_commit(life->ctx), ODCOMM_ERR_NOMEM);
        if (counts[i] > PTRDIFF_MAX / 4)
            assert_says(life->ctx, "'endless'");
        assert_int_equal(windows, 0);
        end(life);
    }
}

/* ---- what is not available ----------------------------------------------------------------- */

static void refuse_create(const odcomm_options *options, int code, const char *says)
{
    odcomm_ctx *ctx = (odcomm_ctx *)&code;

    assert_code(NULL, odcomm_create(MPI_COMM_WORLD, options, &ctx), code);
    assert_null(ctx);
    assert_says(NULL, says);
}

static void features_to_come(void **state)
{
    odcomm_options options = options_with(NULL, 0);

    (void)state;
    options.reduce = "exact";
    refuse_create(&options, ODCOMM_ERR_UNSUPPORTED, "exact");
    options = options_with(NULL, 0);
    options.progress = "thread";
    refuse_create(&options, ODCOMM_ERR_UNSUPPORTED, "thread");
    options = options_with(NULL, 0);
    options.trace = "timeline";
    refuse_create(&options, ODCOMM_ERR_UNSUPPORTED, "TRACE");
    options = options_with(NULL, 0);
    options.node_ranks = ranks;
    struct life *life = begin(&options);
    minibatch(life);
    end(life);
}

static void options_by_the_program(void **state)
{
    odcomm_options options = options_with("fastest", 0);

    (void)state;
    refuse_create(&options, ODCOMM_ERR_ARG, "on-demand, collective, local-sum");
    options = options_with(NULL, -1);
    refuse_create(&options, ODCOMM_ERR_ARG, "TIMEOUT");
    options = options_with(NULL, 0);
    if (rank == ranks - 1)
        options.verbose = 3; /* one rank's mistake is everybody's */
    refuse_create(&options, ODCOMM_ERR_ARG, "VERBOSE");
}

/* The variable as it is for this call alone, here and on all ranks. */
static void refuse_variable(const char *name, const char *value, int code, const char *says)
{
    assert_int_equal(setenv(name, value, 1), 0);
    refuse_create(NULL, code, says);
    assert_int_equal(unsetenv(name), 0);
}

static void options_by_the_environment(void **state)
{
    odcomm_options options = options_with("fastest", 0);

    (void)state;
    refuse_variable("ODCOMM_MOOD", "good", ODCOMM_ERR_ARG, "ODCOMM_MODE, ODCOMM_REDUCE");
    refuse_variable("ODCOMM_MODE", "fastest", ODCOMM_ERR_ARG, "on-demand, collective, local-sum");
    refuse_variable("ODCOMM_TIMEOUT", "soon", ODCOMM_ERR_ARG, "ODCOMM_TIMEOUT");
    refuse_variable("ODCOMM_REDUCE", "exact", ODCOMM_ERR_UNSUPPORTED, "exact");
    refuse_variable("ODCOMM_PROGRESS", "thread", ODCOMM_ERR_UNSUPPORTED, "thread");
    refuse_variable("ODCOMM_TRACE", "/tmp/trace", ODCOMM_ERR_UNSUPPORTED, "TRACE");
    if (rank == ranks - 1)
        assert_int_equal(setenv("ODCOMM_MOOD", "good", 1), 0);
    refuse_create(NULL, ODCOMM_ERR_ARG, "ODCOMM_MOOD");
    assert_int_equal(unsetenv("ODCOMM_MOOD"), 0);

    assert_int_equal(setenv("ODCOMM_MODE", "local-sum", 1), 0); /* wins */
    struct life *life = begin(&options);
    assert_int_equal(unsetenv("ODCOMM_MODE"), 0);
    minibatch(life);
    end(life);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(no_room_in_dev_shm),         cmocka_unit_test(more_than_can_be_addressed),
        cmocka_unit_test(features_to_come),           cmocka_unit_test(options_by_the_program),
        cmocka_unit_test(options_by_the_environment),
    };

    return run_ranked(argc, argv, cases);
}
