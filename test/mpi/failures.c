/*
 * Whatever fails, the library says so and goes on: the n-th allocation or the n-th MPI call of a
 * whole life is made to fail, for every n, on one rank or on all. Calls are repeated until they
 * succeed, so that a life always comes to its end: without a hang, with right sums, with no memory
 * left over, and with collective calls that failed alike on all ranks.
 *
 * This program is linked with the library's objects, its allocations by -Wl,--wrap.
 */
#include "ranked.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is made to fail ------------------------------------------------------------------ */

enum kind { NOTHING, MEMORY, MPI };

static enum kind kind;     /* whose n-th call fails */
static long countdown;     /* calls up to that */
static long seen[MPI + 1]; /* calls of each kind */
static const char *failed; /* what was made to fail, NULL: nothing yet */
static long live;          /* blocks allocated and not freed */

static bool fails(enum kind asked, const char *call)
{
    seen[asked]++;
    if (asked != kind || countdown == 0 || --countdown > 0)
        return false;
    failed = call;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

static void *counted(void *block)
{
    live += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return fails(MEMORY, "malloc") ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(MEMORY, "calloc") ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (fails(MEMORY, "realloc"))
        return NULL;
    return block ? __real_realloc(block, size) : counted(__real_realloc(block, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY, "aligned_alloc") ? NULL : counted(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text)
{
    return fails(MEMORY, "strdup") ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *block)
{
    live -= block != NULL;
    __real_free(block);
}

/* Local calls are not made at all where they fail. */
#define LOCAL(name, formal, actual)                                                                \
    int MPI_##name formal                                                                          \
    {                                                                                              \
        return fails(MPI, "MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name actual;                      \
    }
LOCAL(Initialized, (int *flag), (flag))
LOCAL(Finalized, (int *flag), (flag))
LOCAL(Comm_test_inter, (MPI_Comm comm, int *flag), (comm, flag))
LOCAL(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
LOCAL(Comm_size, (MPI_Comm comm, int *value), (comm, value))
LOCAL(Info_create, (MPI_Info * info), (info))
LOCAL(Info_set, (MPI_Info info, const char *key, const char *value), (info, key, value))
LOCAL(Win_set_errhandler, (MPI_Win win, MPI_Errhandler handler), (win, handler))
LOCAL(Win_shared_query, (MPI_Win win, int of, MPI_Aint *size, int *unit, void *base),
      (win, of, size, unit, base))
LOCAL(Win_lock_all, (int assert, MPI_Win win), (assert, win))
LOCAL(Win_sync, (MPI_Win win), (win))
LOCAL(Win_flush, (int target, MPI_Win win), (target, win))
LOCAL(Win_flush_local, (int target, MPI_Win win), (target, win))
LOCAL(Win_flush_all, (MPI_Win win), (win))
LOCAL(Get,
      (void *into, int n, MPI_Datatype type, int target, MPI_Aint at, int m, MPI_Datatype there,
       MPI_Win win),
      (into, n, type, target, at, m, there, win))
LOCAL(Accumulate,
      (const void *from, int n, MPI_Datatype type, int target, MPI_Aint at, int m,
       MPI_Datatype there, MPI_Op op, MPI_Win win),
      (from, n, type, target, at, m, there, op, win))

/*
 * Collective calls are made and then said to have failed, since the others would wait for ever
 * where this rank stayed away; so are those that give something up, which nobody can do without.
 */
#define MADE(name, formal, actual)                                                                 \
    int MPI_##name formal                                                                          \
    {                                                                                              \
        int result = PMPI_##name actual;                                                           \
        return fails(MPI, "MPI_" #name) ? MPI_ERR_OTHER : result;                                  \
    }
MADE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MADE(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
     (comm, type, key, info, made))
MADE(Comm_free, (MPI_Comm * comm), (comm))
MADE(Info_free, (MPI_Info * info), (info))
MADE(Win_allocate_shared,
     (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
     (size, unit, info, comm, base, win))
MADE(Win_unlock_all, (MPI_Win win), (win))
MADE(Win_free, (MPI_Win * win), (win))
MADE(Win_fence, (int assert, MPI_Win win), (assert, win))
MADE(Allgather,
     (const void *from, int n, MPI_Datatype type, void *into, int m, MPI_Datatype there,
      MPI_Comm comm),
     (from, n, type, into, m, there, comm))
MADE(Reduce_scatter_block,
     (const void *from, void *into, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, into, n, type, op, comm))

/* Those by which ranks vote (MPI_Comm_rank too) do not fail: there is nothing left to agree by. */
int MPI_Allreduce(const void *from, void *into, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int result = PMPI_Allreduce(from, into, n, type, op, comm);

    return op != MPI_MINLOC && fails(MPI, "MPI_Allreduce") ? MPI_ERR_OTHER : result;
}

int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int result = PMPI_Bcast(buffer, n, type, root, comm);
    bool sentence = type == MPI_CHAR;

    return !sentence && fails(MPI, "MPI_Bcast") ? MPI_ERR_OTHER : result;
}

/* ---- what came of it ----------------------------------------------------------------------- */

#define STEPS 64

struct step {
    const char *call;
    bool collective;
    int failures;
    int code; /* of the last one */
};

static struct step steps[STEPS];
static int step; /* the present one */

/* A life that does not end is ended here, with word of what it was about. */
static void hang(int signal)
{
    char text[256];

    (void)signal;
    snprintf(text, sizeof text, "rank %d: %s failed, then no end of %s\n", rank,
             failed ? failed : "nothing here", steps[step].call);
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(EXIT_FAILURE);
    abort();
}

enum { LOCALLY, TOGETHER };

static void enter(int collective, const char *call)
{
    assert_in_range(++step, 0, STEPS - 1);
    steps[step] = (struct step){.call = call, .collective = collective == TOGETHER};
}

/* Whether to try again. A failure of another rank in a collective call is a failure here too. */
static bool again(const odcomm_ctx *ctx, int code)
{
    if (code == ODCOMM_OK)
        return false;
    if (code != (kind == MEMORY ? ODCOMM_ERR_NOMEM : ODCOMM_ERR_MPI) ||
        odcomm_last_error(ctx)[0] == '\0' || ++steps[step].failures > ranks)
        fail_msg("rank %d: %s gives %d after %s: %s", rank, steps[step].call, code,
                 failed ? failed : "nothing here", odcomm_last_error(ctx));
    steps[step].code = code;
    return true;
}

/* Before anything is communicated a rank fails alone, and after its communicator is gone. */
static bool alone(void)
{
    static const char *const calls[] = {"MPI_Initialized", "MPI_Finalized", "MPI_Comm_test_inter",
                                        "MPI_Comm_free"};

    for (int i = 0; failed && i < 4; i++)
        if (strcmp(failed, calls[i]) == 0)
            return true;
    return false;
}

static bool anywhere(bool here)
{
    int any = here;

    PMPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any;
}

static void assert_failure_is_told(void)
{
    int failures = 0;

    for (int i = 1; i <= step; i++)
        failures += steps[i].failures;
    if (failed && failures == 0)
        fail_msg("rank %d: all is well, they say, but %s has failed", rank, failed);
}

static void assert_the_same_everywhere(void)
{
    bool may_differ = anywhere(alone());

    for (int i = 1; i <= step; i++) {
        int mine[4] = {steps[i].failures, -steps[i].failures, steps[i].code, -steps[i].code};
        int most[4];
        PMPI_Allreduce(mine, most, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (!steps[i].collective || may_differ)
            continue;
        if (most[0] != -most[1] || most[2] != -most[3])
            fail_msg("rank %d: %d times code %d from %s, and other ranks otherwise, after %s", rank,
                     mine[0], mine[2], steps[i].call, failed ? failed : "nothing here");
    }
}

/* ---- a life -------------------------------------------------------------------------------- */

#define MINIBATCHES 2
#define MOST 32

static const struct shape shape[2] = {{23, ODCOMM_F32}, {10, ODCOMM_F64}};
static const char *const name[2] = {"first", "second"};

struct life {
    const odcomm_options *options;
    odcomm_ctx *ctx;
    odcomm_group *group[2];
    bool right[MINIBATCHES];  /* the sums */
    bool spoilt[MINIBATCHES]; /* a gradient was added in part */
};

static void create(struct life *life)
{
    enter(TOGETHER, "odcomm_create");
    while (again(NULL, odcomm_create(MPI_COMM_WORLD, life->options, &life->ctx)))
        assert_null(life->ctx);
    for (int g = 0; g < 2; g++) {
        enter(LOCALLY, "odcomm_group_add");
        while (again(life->ctx, odcomm_group_add(life->ctx, name[g], shape[g].count, shape[g].dtype,
                                                 &life->group[g])))
            assert_null(life->group[g]);
    }
}

static void leave(struct life *life)
{
    enter(TOGETHER, "odcomm_free");
    again(NULL, odcomm_free(&life->ctx));
    assert_null(life->ctx);
}

/* Where it fails, either commits again or gives the context up and makes a new one. */
static void commit(struct life *life, bool gives_up)
{
    enter(TOGETHER, "odcomm_commit");
    while (again(life->ctx, odcomm_commit(life->ctx))) {
        assert_null(odcomm_shard(life->group[0], NULL, NULL));
        if (!gives_up)
            continue;
        leave(life);
        create(life);
        enter(TOGETHER, "odcomm_commit once more");
    }
}

static double value(int minibatch, size_t i)
{
    return 100.0 * minibatch + (double)i;
}

static void publish(struct life *life, int minibatch)
{
    for (int g = 0; g < 2; g++) {
        size_t first, count;
        void *shard = odcomm_shard(life->group[g], &first, &count);
        for (size_t i = 0; i < count; i++)
            set_element(shard, shape[g].dtype, i, value(minibatch, first + i));
    }
    enter(LOCALLY, "odcomm_publish_group");
    while (again(life->ctx, odcomm_publish_group(life->group[1])))
        ;
    enter(LOCALLY, "odcomm_publish");
    while (again(life->ctx, odcomm_publish(life->ctx)))
        ;
}

/* In mode collective the other ranks have made this call as well: it is not made again. */
static bool has_counterparts(const struct life *life)
{
    return failed && strcmp(life->options->mode, "collective") == 0 &&
           (!strcmp(failed, "MPI_Allgather") || !strcmp(failed, "MPI_Reduce_scatter_block"));
}

static void assert_values(const void *values, int g, int minibatch)
{
    for (size_t i = 0; i < shape[g].count; i++)
        assert_element(values, shape[g].dtype, i, value(minibatch, i));
}

static void gather(struct life *life, int g, int minibatch)
{
    const void *values;
    double into[MOST];
    bool failure;

    enter(LOCALLY, "odcomm_gather");
    while ((failure = again(life->ctx, odcomm_gather(life->group[g], &values)))) {
        assert_null(values);
        if (has_counterparts(life))
            break;
    }
    enter(LOCALLY, "odcomm_release"); /* as on all ranks */
    if (!failure) {
        assert_values(values, g, minibatch);
        assert_false(again(life->ctx, odcomm_release(life->group[g])));
    }
    enter(LOCALLY, "odcomm_gather_into");
    while ((failure = again(life->ctx, odcomm_gather_into(life->group[g], into))))
        if (has_counterparts(life))
            break;
    if (!failure)
        assert_values(into, g, minibatch);
}

/* i + rank, once in either type. */
static void accumulate(struct life *life, int g, int minibatch)
{
    for (int dtype = ODCOMM_F32; dtype <= ODCOMM_F64; dtype++) {
        double grad[MOST];
        for (size_t i = 0; i < shape[g].count; i++)
            set_element(grad, (odcomm_dtype)dtype, i, (double)i + rank);
        enter(LOCALLY, "odcomm_accumulate");
        while (again(life->ctx, odcomm_accumulate(life->group[g], grad, (odcomm_dtype)dtype))) {
            life->spoilt[minibatch] = kind == MPI;
            if (has_counterparts(life))
                break;
        }
    }
}

static bool sums_are_right(const struct life *life)
{
    bool right = true;

    for (int g = 0; g < 2; g++) {
        size_t first, count;
        const void *sum = odcomm_grad(life->group[g], &first, &count);
        for (size_t i = 0; i < count; i++)
            right = right && get_element(sum, shape[g].dtype, i) ==
                                 2.0 * ranks * (double)(first + i) + ranks * (ranks - 1);
    }
    return right;
}

static void meet(struct life *life, int minibatch)
{
    double sum = 1, norm = -1;

    enter(TOGETHER, "odcomm_fence");
    while (again(life->ctx, odcomm_fence(life->ctx, &sum, 1)))
        assert_true(sum == 1);
    assert_true(sum == ranks);
    life->right[minibatch] = sums_are_right(life);
    enter(TOGETHER, "odcomm_grad_norm");
    while (again(life->ctx, odcomm_grad_norm(life->ctx, &norm)))
        assert_true(norm == -1);
    assert_true(norm > 0);
}

/* From create to free; the n-th call of this kind fails on victims. */
static void live_through(const odcomm_options *options, enum kind of, long n, bool victim)
{
    struct life life = {.options = options};
    const long live_before = live;

    step = 0, failed = NULL;
    countdown = victim ? n : 0;
    kind = of;
    alarm(60);
    create(&life);
    commit(&life, n % 2);
    for (int minibatch = 0; minibatch < MINIBATCHES; minibatch++) {
        publish(&life, minibatch);
        for (int g = 0; g < 2; g++) {
            gather(&life, g, minibatch);
            accumulate(&life, g, minibatch);
        }
        meet(&life, minibatch);
    }
    leave(&life);
    kind = NOTHING;
    alarm(0);
    if (live != live_before)
        fail_msg("rank %d: %ld blocks are left after %s", rank, live - live_before,
                 failed ? failed : "nothing here");
    assert_failure_is_told();
    assert_the_same_everywhere();
    for (int minibatch = 0; minibatch < MINIBATCHES; minibatch++)
        if (!anywhere(life.spoilt[minibatch]) && !life.right[minibatch])
            fail_msg("rank %d: wrong sums in minibatch %d after %s", rank, minibatch,
                     failed ? failed : "nothing here");
}

/* ---- the sweeps ---------------------------------------------------------------------------- */

/* The most calls of each kind on a rank in a life without failures. */
static void count_calls(const odcomm_options *options, long calls[MPI + 1])
{
    memset(seen, 0, sizeof seen);
    live_through(options, NOTHING, 0, false);
    PMPI_Allreduce(seen, calls, MPI + 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    assert_true(calls[MEMORY] > 5 && calls[MPI] > 50); /* so failures do reach the library */
}

/* Every call in turn on one rank; on more, where lives take long, one in so many. */
static void sweep(const odcomm_options *options, enum kind of, long calls, int victims)
{
    static const long strides[] = {1, 1, 3, 13, 31, 47};
    const long stride = strides[ranks < 5 ? ranks : 5];
    const bool victim = victims == 0 || rank == (victims == 1 ? 0 : ranks - 1);

    for (long n = 1 + victims * stride / 3; n <= calls; n += stride)
        live_through(options, of, n, victim);
}

/* On all ranks, on the first, which is the root of what has one, and on the last. */
static void fail_each(const char *mode, const char *gather_as, int sole_mode_of)
{
    odcomm_options options;
    long calls[MPI + 1];

    if (ranks > 2 && ranks != sole_mode_of)
        skip(); /* more ranks than cores may take seconds for a life */
    assert_int_equal(odcomm_options_init(&options), ODCOMM_OK);
    options.mode = mode;
    options.gather = gather_as;
    count_calls(&options, calls);
    for (int victims = 0; victims < (ranks > 1 ? 3 : 1); victims++) {
        sweep(&options, MEMORY, calls[MEMORY], victims);
        sweep(&options, MPI, calls[MPI], victims);
    }
    live_through(&options, NOTHING, 0, false); /* all is well again */
}

static void on_demand(void **state)
{
    (void)state;
    fail_each("on-demand", "copy", 3);
}

static void collective(void **state)
{
    (void)state;
    fail_each("collective", "auto", 4);
}

static void local_sum(void **state)
{
    (void)state;
    fail_each("local-sum", "view", 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(on_demand),
        cmocka_unit_test(collective),
        cmocka_unit_test(local_sum),
    };

    signal(SIGALRM, hang);
    return run_ranked(argc, argv, cases);
}
