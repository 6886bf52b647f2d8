/*
 * What the library leaves alone: the caller's communicator, its error handler, its output, its
 * messages under way; at any thread level.
 */
#include "ranked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- thread levels ------------------------------------------------------------------------- */

static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                             MPI_THREAD_MULTIPLE};

/* Another level for each number of ranks, which launchers tell before MPI does. */
static int wanted_level(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");

    if (!size)
        size = getenv("PMI_SIZE");
    return levels[size ? atoi(size) % 4 : 0];
}

int MPI_Init(int *argc, char ***argv)
{
    int provided;

    /* so that a large message needs its sender, which Open MPI can do without on one node */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    return PMPI_Init_thread(argc, argv, wanted_level(), &provided);
}

static odcomm_options defaults(void)
{
    odcomm_options options;

    assert_ok(NULL, odcomm_options_init(&options));
    return options;
}

/* A life with every call in it, on either kind of path. */
static void live(MPI_Comm comm, const odcomm_options *options)
{
    const struct shape shape[2] = {{1001, ODCOMM_F32}, {77, ODCOMM_F64}};
    odcomm_group *group[2];
    odcomm_ctx *ctx = open_context(comm, options, shape, 2, group);
    double grad[1001] = {0}, sum = 1, norm;
    int size;

    MPI_Comm_size(comm, &size);
    for (int minibatch = 0; minibatch < 2; minibatch++) {
        assert_ok(ctx, odcomm_publish(ctx));
        for (int g = 0; g < 2; g++) {
            const void *values;
            long task;
            assert_ok(ctx, odcomm_gather(group[g], &values));
            assert_ok(ctx, odcomm_accumulate(group[g], grad, ODCOMM_F64));
            assert_ok(ctx, odcomm_release(group[g]));
            assert_ok(ctx, odcomm_gather_into(group[g], grad));
            assert_ok(ctx, odcomm_claim(ctx, 1, &task));
        }
        sum = 1;
        assert_ok(ctx, odcomm_fence(ctx, &sum, 1));
        assert_true(sum == size);
        assert_ok(ctx, odcomm_grad_norm(ctx, &norm));
    }
    assert_ok(NULL, odcomm_free(&ctx));
}

static void any_thread_level(void **state)
{
    odcomm_options options = defaults();
    odcomm_ctx *ctx;
    int provided;

    (void)state;
    MPI_Query_thread(&provided);
    assert_true(provided >= wanted_level()); /* so the level is what this test is about */
    options.progress = "thread";
    if (provided < MPI_THREAD_MULTIPLE) {
        assert_code(NULL, odcomm_create(MPI_COMM_WORLD, &options, &ctx), ODCOMM_ERR_UNSUPPORTED);
        assert_says(NULL, "MPI_THREAD_MULTIPLE");
    } else
        live(MPI_COMM_WORLD, &options);
    options.progress = "none";
    live(MPI_COMM_WORLD, &options);
}

/* ---- the caller's communicator ------------------------------------------------------------- */

static int handled; /* errors that came to the caller's handler */
static int copied;  /* of the caller's attribute */
static int deleted;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_deletion(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void assert_untouched(MPI_Comm comm, MPI_Errhandler expected, int keyval, const void *value)
{
    MPI_Errhandler found;
    void *attribute = NULL;
    int flag = 0, same;

    MPI_Comm_get_errhandler(comm, &found);
    same = found == expected;
    MPI_Errhandler_free(&found);
    assert_true(same);
    MPI_Comm_get_attr(comm, keyval, &attribute, &flag);
    assert_true(flag);
    assert_ptr_equal(attribute, value);
    assert_int_equal(handled, 0);
    assert_int_equal(copied, deleted); /* the library's duplicate is gone */
}

static void the_communicator_is_left_alone(void **state)
{
    odcomm_options wrong = defaults();
    MPI_Comm comm;
    MPI_Errhandler own;
    odcomm_ctx *ctx;
    int keyval, value = 7;

    (void)state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &value);
    copied = deleted = 0;

    live(comm, NULL);
    assert_untouched(comm, own, keyval, &value);
    wrong.mode = "nonsense";
    assert_code(NULL, odcomm_create(comm, &wrong, &ctx), ODCOMM_ERR_ARG);
    assert_untouched(comm, own, keyval, &value);

    MPI_Send(&value, 1, MPI_INT, ranks, 0, comm); /* an error of the caller's goes its way still */
    assert_int_equal(handled, 1);
    MPI_Errhandler_free(&own);
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free_keyval(&keyval);

    /* and it may go before the context does */
    assert_ok(NULL, odcomm_create(comm, NULL, &ctx));
    MPI_Comm_free(&comm);
    assert_ok(ctx, odcomm_commit(ctx));
    assert_ok(ctx, odcomm_publish(ctx));
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    assert_ok(NULL, odcomm_free(&ctx));
}

static void the_default_handler_stays(void **state)
{
    MPI_Errhandler before, after;

    (void)state;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    live(MPI_COMM_WORLD, NULL);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    assert_true(before == after && after == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &after);
    assert_true(after == MPI_ERRORS_ARE_FATAL);
}

/* ---- output -------------------------------------------------------------------------------- */

/* What is printed meanwhile, both by this process and by what it calls, goes to a file. */
struct capture {
    FILE *file;
    int saved[2]; /* stdout, stderr */
};

static struct capture begin_capture(void)
{
    struct capture capture = {.file = tmpfile()};

    assert_non_null(capture.file);
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        capture.saved[fd - 1] = dup(fd);
        assert_int_equal(dup2(fileno(capture.file), fd), fd);
    }
    return capture;
}

static void end_capture(struct capture *capture, char *text, size_t size)
{
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        dup2(capture->saved[fd - 1], fd);
        close(capture->saved[fd - 1]);
    }
    rewind(capture->file);
    text[fread(text, 1, size - 1, capture->file)] = '\0';
    fclose(capture->file);
}

static void captured_life(const odcomm_options *options, char *text, size_t size)
{
    struct capture capture = begin_capture();

    live(MPI_COMM_WORLD, options);
    end_capture(&capture, text, size);
}

static void nothing_is_printed_unasked(void **state)
{
    const char *const modes[] = {"on-demand", "collective", "local-sum"};
    odcomm_options options = defaults();
    struct capture capture;
    odcomm_ctx *ctx;
    char text[4096];

    (void)state;
    for (int i = 0; i < 3; i++) {
        options.mode = modes[i];
        captured_life(&options, text, sizeof text);
        assert_string_equal(text, "");
    }
    options.mode = "nonsense";
    capture = begin_capture();
    int code = odcomm_create(MPI_COMM_WORLD, &options, &ctx);
    int code_free = odcomm_free(&ctx);
    end_capture(&capture, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(code, ODCOMM_ERR_ARG);
    assert_int_equal(code_free, ODCOMM_OK);
}

static void assert_report(const char *text)
{
    if (rank == 0) {
        assert_non_null(strstr(text, "odcomm:"));
        assert_non_null(strstr(text, "on-demand"));
    } else
        assert_string_equal(text, "");
}

static void rank_0_prints_what_is_asked_for(void **state)
{
    odcomm_options options = defaults();
    char once[4096], more[4096], text[4096];

    (void)state;
    options.verbose = 1;
    captured_life(&options, once, sizeof once);
    assert_report(once);
    options.verbose = 2;
    captured_life(&options, more, sizeof more);
    assert_report(more);
    assert_null(strstr(once, "bytes shared"));
    assert_true(rank != 0 || strstr(more, "bytes shared"));

    assert_int_equal(setenv("ODCOMM_VERBOSE", "1", 1), 0);
    captured_life(NULL, text, sizeof text);
    assert_report(text);
    assert_int_equal(setenv("ODCOMM_VERBOSE", "0", 1), 0);
    captured_life(&options, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(unsetenv("ODCOMM_VERBOSE"), 0);
}

/* ---- messages under way -------------------------------------------------------------------- */

#define LARGE 4000000 /* bytes: no MPI sends so many before they are received */

/* The sender waits at the fence already, where its message must go on. */
static void send_and_meet(const char *mode)
{
    odcomm_options options = defaults();
    const struct shape shape = {10, ODCOMM_F32};
    odcomm_group *group;
    odcomm_ctx *ctx;
    MPI_Request request = MPI_REQUEST_NULL;
    char *message = calloc(LARGE, 1);

    assert_non_null(message);
    options.mode = mode;
    ctx = open_context(MPI_COMM_WORLD, &options, &shape, 1, &group);
    assert_ok(ctx, odcomm_publish(ctx));
    if (rank == 0) {
        memset(message, 5, LARGE);
        MPI_Isend(message, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
    } else if (rank == 1) {
        sleep_ms(50); /* until it waits */
        MPI_Recv(message, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        assert_int_equal(message[LARGE - 1], 5);
    }
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    assert_ok(NULL, odcomm_free(&ctx));
    free(message);
}

static void a_message_goes_on_at_the_fence(void **state)
{
    (void)state;
    if (ranks < 2)
        skip();
    send_and_meet("on-demand");
    send_and_meet("local-sum");
}

/* The same where the sender waits for the receiver's parameters. */
static void a_message_goes_on_in_a_gather(void **state)
{
    const struct shape shape = {10, ODCOMM_F32};
    odcomm_group *group;
    odcomm_ctx *ctx;
    MPI_Request request = MPI_REQUEST_NULL;
    const void *values;
    char *message = calloc(LARGE, 1);

    (void)state;
    assert_non_null(message);
    ctx = open_context(MPI_COMM_WORLD, NULL, &shape, 1, &group);
    if (rank == 0 && ranks > 1)
        MPI_Isend(message, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
    if (rank == 1) {
        sleep_ms(50);
        MPI_Recv(message, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    assert_ok(ctx, odcomm_publish(ctx));
    assert_ok(ctx, odcomm_gather(group, &values));
    assert_ok(ctx, odcomm_release(group));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    assert_ok(NULL, odcomm_free(&ctx));
    free(message);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(any_thread_level),
        cmocka_unit_test(the_communicator_is_left_alone),
        cmocka_unit_test(the_default_handler_stays),
        cmocka_unit_test(nothing_is_printed_unasked),
        cmocka_unit_test(rank_0_prints_what_is_asked_for),
        cmocka_unit_test(a_message_goes_on_at_the_fence),
        cmocka_unit_test(a_message_goes_on_in_a_gather),
    };

    return run_ranked(argc, argv, cases);
}
