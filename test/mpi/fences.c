/*
 * What a minibatch costs in collective calls, counted between the library and MPI: mode on-demand
 * one MPI_Win_fence and nothing else, the rivals what they are named after.
 */
#include "ranked.h"

#include <stdlib.h>
#include <string.h>

/* Every call of MPI-3.1 that waits for all ranks of a communicator or window, or may. */
#define COLLECTIVES(X)                                                                             \
    X(Win_fence, (int assert, MPI_Win win), (assert, win))                                         \
    X(Barrier, (MPI_Comm comm), (comm))                                                            \
    X(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))           \
    X(Gather,                                                                                      \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root,             \
       MPI_Comm c),                                                                                \
      (s, n, t, r, m, u, root, c))                                                                 \
    X(Gatherv,                                                                                     \
      (const void *s, int n, MPI_Datatype t, void *r, const int *m, const int *d, MPI_Datatype u,  \
       int root, MPI_Comm c),                                                                      \
      (s, n, t, r, m, d, u, root, c))                                                              \
    X(Scatter,                                                                                     \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root,             \
       MPI_Comm c),                                                                                \
      (s, n, t, r, m, u, root, c))                                                                 \
    X(Scatterv,                                                                                    \
      (const void *s, const int *n, const int *d, MPI_Datatype t, void *r, int m, MPI_Datatype u,  \
       int root, MPI_Comm c),                                                                      \
      (s, n, d, t, r, m, u, root, c))                                                              \
    X(Allgather,                                                                                   \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),          \
      (s, n, t, r, m, u, c))                                                                       \
    X(Allgatherv,                                                                                  \
      (const void *s, int n, MPI_Datatype t, void *r, const int *m, const int *d, MPI_Datatype u,  \
       MPI_Comm c),                                                                                \
      (s, n, t, r, m, d, u, c))                                                                    \
    X(Alltoall,                                                                                    \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),          \
      (s, n, t, r, m, u, c))                                                                       \
    X(Alltoallv,                                                                                   \
      (const void *s, const int *n, const int *d, MPI_Datatype t, void *r, const int *m,           \
       const int *e, MPI_Datatype u, MPI_Comm c),                                                  \
      (s, n, d, t, r, m, e, u, c))                                                                 \
    X(Alltoallw,                                                                                   \
      (const void *s, const int *n, const int *d, const MPI_Datatype *t, void *r, const int *m,    \
       const int *e, const MPI_Datatype *u, MPI_Comm c),                                           \
      (s, n, d, t, r, m, e, u, c))                                                                 \
    X(Reduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),    \
      (s, r, n, t, op, root, c))                                                                   \
    X(Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),           \
      (s, r, n, t, op, c))                                                                         \
    X(Reduce_scatter,                                                                              \
      (const void *s, void *r, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm c),               \
      (s, r, n, t, op, c))                                                                         \
    X(Reduce_scatter_block,                                                                        \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (s, r, n, t, op, c)) \
    X(Scan, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),                \
      (s, r, n, t, op, c))                                                                         \
    X(Exscan, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),              \
      (s, r, n, t, op, c))                                                                         \
    X(Ibarrier, (MPI_Comm c, MPI_Request * q), (c, q))                                             \
    X(Ibcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *q),              \
      (b, n, t, root, c, q))                                                                       \
    X(Igather,                                                                                     \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root, MPI_Comm c, \
       MPI_Request *q),                                                                            \
      (s, n, t, r, m, u, root, c, q))                                                              \
    X(Igatherv,                                                                                    \
      (const void *s, int n, MPI_Datatype t, void *r, const int *m, const int *d, MPI_Datatype u,  \
       int root, MPI_Comm c, MPI_Request *q),                                                      \
      (s, n, t, r, m, d, u, root, c, q))                                                           \
    X(Iscatter,                                                                                    \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root, MPI_Comm c, \
       MPI_Request *q),                                                                            \
      (s, n, t, r, m, u, root, c, q))                                                              \
    X(Iscatterv,                                                                                   \
      (const void *s, const int *n, const int *d, MPI_Datatype t, void *r, int m, MPI_Datatype u,  \
       int root, MPI_Comm c, MPI_Request *q),                                                      \
      (s, n, d, t, r, m, u, root, c, q))                                                           \
    X(Iallgather,                                                                                  \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c,           \
       MPI_Request *q),                                                                            \
      (s, n, t, r, m, u, c, q))                                                                    \
    X(Iallgatherv,                                                                                 \
      (const void *s, int n, MPI_Datatype t, void *r, const int *m, const int *d, MPI_Datatype u,  \
       MPI_Comm c, MPI_Request *q),                                                                \
      (s, n, t, r, m, d, u, c, q))                                                                 \
    X(Ialltoall,                                                                                   \
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c,           \
       MPI_Request *q),                                                                            \
      (s, n, t, r, m, u, c, q))                                                                    \
    X(Ialltoallv,                                                                                  \
      (const void *s, const int *n, const int *d, MPI_Datatype t, void *r, const int *m,           \
       const int *e, MPI_Datatype u, MPI_Comm c, MPI_Request *q),                                  \
      (s, n, d, t, r, m, e, u, c, q))                                                              \
    X(Ireduce,                                                                                     \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c,             \
       MPI_Request *q),                                                                            \
      (s, r, n, t, op, root, c, q))                                                                \
    X(Iallreduce,                                                                                  \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q),      \
      (s, r, n, t, op, c, q))                                                                      \
    X(Ireduce_scatter,                                                                             \
      (const void *s, void *r, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm c,                \
       MPI_Request *q),                                                                            \
      (s, r, n, t, op, c, q))                                                                      \
    X(Ireduce_scatter_block,                                                                       \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q),      \
      (s, r, n, t, op, c, q))                                                                      \
    X(Iscan,                                                                                       \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q),      \
      (s, r, n, t, op, c, q))                                                                      \
    X(Iexscan,                                                                                     \
      (const void *s, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q),      \
      (s, r, n, t, op, c, q))                                                                      \
    X(Comm_dup, (MPI_Comm c, MPI_Comm * made), (c, made))                                          \
    X(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm * made), (c, i, made))                 \
    X(Comm_idup, (MPI_Comm c, MPI_Comm * made, MPI_Request * q), (c, made, q))                     \
    X(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made))         \
    X(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *made),                \
      (c, type, key, i, made))                                                                     \
    X(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm * made), (c, g, made))                       \
    X(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *made), (c, g, tag, made))    \
    X(Comm_free, (MPI_Comm * c), (c))                                                              \
    X(Comm_set_info, (MPI_Comm c, MPI_Info i), (c, i))                                             \
    X(Win_create, (void *b, MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w),             \
      (b, n, unit, i, c, w))                                                                       \
    X(Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win * w), (i, c, w))                        \
    X(Win_allocate, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w),           \
      (n, unit, i, c, b, w))                                                                       \
    X(Win_allocate_shared, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w),    \
      (n, unit, i, c, b, w))                                                                       \
    X(Win_set_info, (MPI_Win w, MPI_Info i), (w, i))                                               \
    X(Win_free, (MPI_Win * w), (w))                                                                \
    X(Win_start, (MPI_Group g, int assert, MPI_Win w), (g, assert, w))                             \
    X(Win_complete, (MPI_Win w), (w))                                                              \
    X(Win_post, (MPI_Group g, int assert, MPI_Win w), (g, assert, w))                              \
    X(Win_wait, (MPI_Win w), (w))

#define INDEX(name, formal, actual) name,
enum { COLLECTIVES(INDEX) CALLS };

#define NAME(name, formal, actual) "MPI_" #name,
static const char *const names[] = {COLLECTIVES(NAME)};

static int calls[CALLS];

#define COUNT(name, formal, actual)                                                                \
    int MPI_##name formal                                                                          \
    {                                                                                              \
        calls[name]++;                                                                             \
        return PMPI_##name actual;                                                                 \
    }
COLLECTIVES(COUNT)

/* Asserts that since the last time only these calls were made, so many times; then forgets. */
static void expect(int fences, int allgathers, int reduce_scatters)
{
    for (int call = 0; call < CALLS; call++) {
        int expected = call == Win_fence              ? fences
                       : call == Allgather            ? allgathers
                       : call == Reduce_scatter_block ? reduce_scatters
                                                      : 0;
        if (calls[call] != expected)
            fail_msg("rank %d: %d calls of %s, not %d", rank, calls[call], names[call], expected);
    }
    memset(calls, 0, sizeof calls);
}

#define GROUPS 4
static const size_t counts[GROUPS] = {1000, 0, 1, 70001};

struct life {
    odcomm_ctx *ctx;
    odcomm_group *group[GROUPS];
    double *grad; /* as long as the longest group, of either dtype */
};

static struct life begin(const char *mode, const char *gather)
{
    static const char *const name[GROUPS] = {"embedding", "empty", "scale", "head"};
    struct life life = {0};
    odcomm_options options;

    assert_ok(NULL, odcomm_options_init(&options));
    options.mode = mode;
    options.gather = gather;
    assert_non_null(life.grad = calloc(70001, sizeof *life.grad));
    assert_ok(NULL, odcomm_create(MPI_COMM_WORLD, &options, &life.ctx));
    for (int g = 0; g < GROUPS; g++)
        assert_ok(life.ctx, odcomm_group_add(life.ctx, name[g], counts[g],
                                             g % 2 ? ODCOMM_F64 : ODCOMM_F32, &life.group[g]));
    assert_ok(life.ctx, odcomm_commit(life.ctx));
    memset(calls, 0, sizeof calls);
    return life;
}

static void end(struct life *life)
{
    expect(0, 0, 0);
    assert_ok(NULL, odcomm_free(&life->ctx));
    assert_true(calls[Win_free] > 0); /* so the counters do see the library */
    free(life->grad);
}

/* One microbatch over all groups. */
static void work(struct life *life)
{
    for (int g = 0; g < GROUPS; g++) {
        const void *values;
        assert_ok(life->ctx, odcomm_prefetch(life->group[g]));
        assert_ok(life->ctx, odcomm_gather(life->group[g], &values));
        assert_ok(life->ctx, odcomm_accumulate(life->group[g], life->grad, ODCOMM_F64));
        assert_ok(life->ctx, odcomm_release(life->group[g]));
    }
    assert_ok(life->ctx, odcomm_gather_into(life->group[0], life->grad));
}

/* Ranks work 0, 2, 4 ... times, the last shall be first: nobody is waited for but at the fence. */
static void uneven_minibatches(const char *gather)
{
    struct life life = begin("on-demand", gather);
    double sums[2] = {1, 2};

    for (int minibatch = 0; minibatch < 3; minibatch++) {
        if (minibatch == 1)
            assert_ok(life.ctx, odcomm_publish_group(life.group[2]));
        assert_ok(life.ctx, odcomm_publish(life.ctx));
        for (int i = 0; i < 2 * ((rank + minibatch) % ranks); i++)
            work(&life);
        expect(0, 0, 0);
        assert_ok(life.ctx, odcomm_fence(life.ctx, minibatch ? sums : NULL, minibatch));
        expect(1, 0, 0);
    }
    end(&life);
}

static void one_fence_a_minibatch(void **state)
{
    (void)state;
    uneven_minibatches("view");
    uneven_minibatches("copy");
}

static void claims_are_free(void **state)
{
    struct life life = begin("on-demand", "auto");

    (void)state;
    for (int minibatch = 0; minibatch < 2; minibatch++) {
        long task = -1;
        assert_ok(life.ctx, odcomm_publish(life.ctx));
        do {
            assert_ok(life.ctx, odcomm_claim(life.ctx, 3L * ranks, &task));
            if (task >= 0)
                work(&life);
        } while (task >= 0);
        expect(0, 0, 0);
        assert_ok(life.ctx, odcomm_fence(life.ctx, NULL, 0));
        expect(1, 0, 0);
    }
    end(&life);
}

static void a_norm_is_no_collective_call(void **state)
{
    struct life life = begin("on-demand", "auto");
    double norm = -1;

    (void)state;
    for (int minibatch = 0; minibatch < 2; minibatch++) {
        assert_ok(life.ctx, odcomm_publish(life.ctx));
        if (rank == ranks - 1)
            work(&life);
        assert_ok(life.ctx, odcomm_fence(life.ctx, NULL, 0));
        expect(1, 0, 0);
        assert_ok(life.ctx, odcomm_grad_norm(life.ctx, &norm));
        assert_true(norm >= 0);
        expect(0, 0, 0);
    }
    end(&life);
}

/* What is asked in vain costs nothing either. */
static void errors_are_free(void **state)
{
    struct life life = begin("on-demand", "auto");
    const void *values;
    double norm;

    (void)state;
    assert_code(life.ctx, odcomm_fence(life.ctx, NULL, 0), ODCOMM_ERR_PHASE);
    assert_code(life.ctx, odcomm_gather(life.group[0], &values), ODCOMM_ERR_PHASE);
    assert_code(life.ctx, odcomm_grad_norm(life.ctx, &norm), ODCOMM_ERR_PHASE);
    assert_ok(life.ctx, odcomm_publish(life.ctx));
    assert_ok(life.ctx, odcomm_gather(life.group[0], &values));
    assert_code(life.ctx, odcomm_fence(life.ctx, NULL, 0), ODCOMM_ERR_PHASE);
    assert_ok(life.ctx, odcomm_release(life.group[0]));
    expect(0, 0, 0);
    assert_ok(life.ctx, odcomm_fence(life.ctx, NULL, 0));
    expect(1, 0, 0);
    end(&life);
}

static void collective_pays_for_every_call(void **state)
{
    struct life life = begin("collective", NULL);

    (void)state;
    for (int minibatch = 0; minibatch < 2; minibatch++) {
        assert_ok(life.ctx, odcomm_publish(life.ctx));
        expect(0, 0, 0);
        for (int g = 0; g < GROUPS; g++) {
            const void *values;
            assert_ok(life.ctx, odcomm_gather(life.group[g], &values));
            expect(0, 1, 0);
            assert_ok(life.ctx, odcomm_release(life.group[g]));
            assert_ok(life.ctx, odcomm_gather_into(life.group[g], life.grad));
            expect(0, 1, 0);
            assert_ok(life.ctx, odcomm_accumulate(life.group[g], life.grad, ODCOMM_F64));
            expect(0, 0, 1);
            assert_ok(life.ctx, odcomm_accumulate(life.group[g], life.grad, ODCOMM_F32));
            expect(0, 0, 1);
        }
        assert_ok(life.ctx, odcomm_fence(life.ctx, NULL, 0));
        expect(1, 0, 0);
    }
    end(&life);
}

static void local_sum_pays_at_the_fence(void **state)
{
    struct life life = begin("local-sum", NULL);

    (void)state;
    for (int minibatch = 0; minibatch < 2; minibatch++) {
        assert_ok(life.ctx, odcomm_publish(life.ctx));
        for (int i = 0; i < 2 * ((rank + minibatch) % ranks); i++)
            work(&life);
        expect(0, 0, 0);
        assert_ok(life.ctx, odcomm_fence(life.ctx, NULL, 0));
        expect(1, 0, GROUPS);
    }
    end(&life);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(one_fence_a_minibatch),
        cmocka_unit_test(claims_are_free),
        cmocka_unit_test(a_norm_is_no_collective_call),
        cmocka_unit_test(errors_are_free),
        cmocka_unit_test(collective_pays_for_every_call),
        cmocka_unit_test(local_sum_pays_at_the_fence),
    };

    return run_ranked(argc, argv, cases);
}
