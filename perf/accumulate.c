/* Adding a gradient of the whole group: to its owners, by the collective call, and by an add loop
 * in private memory as the limit. */
#include "bench.h"

#include "contest.h"
#include "pattern.h"
#include "trial.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_VALUE 11L                /* of a gradient's element: 7 + 4, see gradient_of() */
#define LARGEST_EXACT (INT32_C(1) << 24) /* in a float */

struct accumulate {
    struct trial trial;
    void *grad;    /* `padded` elements, zero behind the group */
    void *reduced; /* `block` elements, what MPI_Reduce_scatter_block yields */
    void *sum;     /* `count` elements, what the loop adds to */
};

static struct pattern gradient_of(int rank)
{
    return (struct pattern){.bits = 3, .scale = 1, .offset = 1 + rank % 4};
}

/* What `operations` gradients of every rank add up to. */
static struct pattern sum_of_all(long operations)
{
    struct pattern sum = gradient_of(0);
    for (int rank = 1; rank < world_size(); rank++) {
        sum.scale += gradient_of(rank).scale;
        sum.offset += gradient_of(rank).offset;
    }
    sum.scale *= (double)operations;
    sum.offset *= (double)operations;
    return sum;
}

static long most(void)
{
    long operations = LARGEST_EXACT / LARGEST_VALUE / world_size();
    return operations > 1 ? operations : 1;
}

static void *open(size_t count, odcomm_dtype dtype)
{
    struct accumulate *accumulate = take_memory(sizeof *accumulate);
    struct trial *trial = &accumulate->trial;
    struct pattern gradient = gradient_of(world_rank());

    trial_open(trial, count, dtype);
    accumulate->grad = take_memory(trial->padded * trial->size);
    accumulate->reduced = take_memory(trial->block * trial->size);
    accumulate->sum = take_memory(count * trial->size);
    pattern_fill(&gradient, accumulate->grad, dtype, 0, count);
    return accumulate;
}

static void close(void *state)
{
    struct accumulate *accumulate = state;

    trial_close(&accumulate->trial);
    free(accumulate->sum);
    free(accumulate->reduced);
    free(accumulate->grad);
    free(accumulate);
}

static void publish(void *state)
{
    struct accumulate *accumulate = state;
    check(accumulate->trial.ctx, odcomm_publish(accumulate->trial.ctx));
}

static void on_demand(void *state)
{
    struct accumulate *accumulate = state;
    struct trial *trial = &accumulate->trial;
    check(trial->ctx, odcomm_accumulate(trial->group, accumulate->grad, trial->dtype));
}

static void fence_and_verify(void *state, long operations)
{
    struct accumulate *accumulate = state;
    struct trial *trial = &accumulate->trial;
    struct pattern sum = sum_of_all(operations);

    check(trial->ctx, odcomm_fence(trial->ctx, NULL, 0));
    pattern_check(&sum, odcomm_grad(trial->group, NULL, NULL), trial->dtype, trial->first,
                  trial->mine, "odcomm_accumulate");
}

static void spoil(void *state)
{
    struct accumulate *accumulate = state;
    memset(accumulate->reduced, 0xff, accumulate->trial.block * accumulate->trial.size);
}

static void reduce_scatter(void *state)
{
    struct accumulate *accumulate = state;
    struct trial *trial = &accumulate->trial;
    MPI_Reduce_scatter_block(accumulate->grad, accumulate->reduced, (int)trial->block,
                             trial_type(trial), MPI_SUM, MPI_COMM_WORLD);
}

static void verify_reduced(void *state, long operations)
{
    struct accumulate *accumulate = state;
    struct trial *trial = &accumulate->trial;
    struct pattern sum = sum_of_all(1);

    (void)operations;
    pattern_check(&sum, accumulate->reduced, trial->dtype, trial->first, trial->mine,
                  "MPI_Reduce_scatter_block");
}

static void zero(void *state)
{
    struct accumulate *accumulate = state;
    memset(accumulate->sum, 0, accumulate->trial.count * accumulate->trial.size);
}

static void add_f32(float *restrict into, const float *restrict from, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        into[i] += from[i];
}

static void add_f64(double *restrict into, const double *restrict from, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        into[i] += from[i];
}

static void add(void *state)
{
    struct accumulate *accumulate = state;
    if (accumulate->trial.dtype == ODCOMM_F64)
        add_f64(accumulate->sum, accumulate->grad, accumulate->trial.count);
    else
        add_f32(accumulate->sum, accumulate->grad, accumulate->trial.count);
}

static void verify_sum(void *state, long operations)
{
    struct accumulate *accumulate = state;
    struct trial *trial = &accumulate->trial;
    struct pattern sum = gradient_of(world_rank());

    sum.scale *= (double)operations;
    sum.offset *= (double)operations;
    pattern_check(&sum, accumulate->sum, trial->dtype, 0, trial->count, "the add loop");
}

enum { ACCUMULATE, REDUCE_SCATTER, ADD };

static const struct contestant contestants[] = {
    [ACCUMULATE] = {"accumulate_s", "accumulate", "odcomm_accumulate of a gradient of the group",
                    publish, on_demand, fence_and_verify},
    [REDUCE_SCATTER] = {"reduce_scatter_s", "red-scatter",
                        "MPI_Reduce_scatter_block of the same gradients", spoil, reduce_scatter,
                        verify_reduced},
    [ADD] = {"add_s", "add", "an add loop over as many elements in private memory, the limit", zero,
             add, verify_sum},
};

static const struct ratio ratios[] = {
    {"gain", "times that accumulate is faster than red-scatter", REDUCE_SCATTER, ACCUMULATE},
    {"of add", "speed of accumulate as a part of the add loop's", ADD, ACCUMULATE},
};

void bench_accumulate(int argc, char **argv)
{
    static const struct contest contest = {
        .name = "accumulate",
        .job = "every rank adds a gradient of the whole group",
        .contestant = contestants,
        .contestants = sizeof contestants / sizeof contestants[0],
        .ratio = ratios,
        .ratios = sizeof ratios / sizeof ratios[0],
        .open = open,
        .close = close,
        .most = most,
    };
    contest_run(&contest, argc, argv);
}
