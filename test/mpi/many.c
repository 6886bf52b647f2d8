/*
 * More ranks than cores train together: tasks of random cost are claimed, values gathered layer by
 * layer, gradients added, and the owners add these to their values. Waiting ranks must leave the
 * cores to those that compute, or this does not end in time. Meant for 8 ranks on 2 cores.
 */
#include "ranked.h"

#include <math.h>
#include <stdlib.h>

#define LAYERS 6
#define TASKS 40
#define MINIBATCHES 5

struct model {
    odcomm_ctx *ctx;
    struct shape shape[LAYERS];
    odcomm_group *layer[LAYERS];
};

static struct model open_model(MPI_Comm comm)
{
    struct model model = {
        .shape = {{30011, ODCOMM_F32},
                  {3, ODCOMM_F64},
                  {1, ODCOMM_F32},
                  {0, ODCOMM_F32},
                  {8192, ODCOMM_F64},
                  {999, ODCOMM_F32}},
    };

    model.ctx = open_context(comm, NULL, model.shape, LAYERS, model.layer);
    return model;
}

static double grad_of(long task, size_t i)
{
    return (double)task + (double)(i % 3);
}

/* The gradient of a whole minibatch. */
static double sum_of(size_t i)
{
    return TASKS * (TASKS - 1) / 2 + TASKS * (double)(i % 3);
}

static double value_of(size_t i, long version)
{
    return (double)(i % 100) + sum_of(i) * (double)(version - 1);
}

static void forward(struct model *model, size_t l)
{
    const void *values;

    assert_ok(model->ctx, odcomm_gather(model->layer[l], &values));
    for (size_t i = 0; i < model->shape[l].count; i++)
        assert_element(values, model->shape[l].dtype, i, value_of(i, odcomm_version(model->ctx)));
    assert_ok(model->ctx, odcomm_release(model->layer[l]));
}

static void backward(struct model *model, size_t l, long task)
{
    size_t count = model->shape[l].count;
    float *grad = malloc((count + 1) * sizeof *grad);

    assert_non_null(grad);
    for (size_t i = 0; i < count; i++)
        grad[i] = (float)grad_of(task, i);
    assert_ok(model->ctx, odcomm_accumulate(model->layer[l], grad, ODCOMM_F32));
    free(grad);
}

/* Waiting takes no core here, as on a device that computes. */
static void do_tasks(struct model *model, uint64_t *random)
{
    double done = 0;
    long task;

    for (;;) {
        assert_ok(model->ctx, odcomm_claim(model->ctx, TASKS, &task));
        if (task < 0)
            break;
        for (size_t l = 0; l < LAYERS; l++)
            forward(model, l);
        sleep_ms((int)random_below(random, 5));
        for (size_t l = LAYERS; l-- > 0;)
            backward(model, l, task);
        done++;
    }
    assert_ok(model->ctx, odcomm_fence(model->ctx, &done, 1));
    assert_true(done == TASKS);
}

static void check_norm(struct model *model)
{
    double sum = 0, norm;

    for (size_t l = 0; l < LAYERS; l++)
        for (size_t i = 0; i < model->shape[l].count; i++)
            sum += sum_of(i) * sum_of(i);
    assert_ok(model->ctx, odcomm_grad_norm(model->ctx, &norm));
    assert_true(norm == sqrt(sum));
}

static void initialise(struct model *model)
{
    for (size_t l = 0; l < LAYERS; l++) {
        size_t first, count;
        void *values = odcomm_shard(model->layer[l], &first, &count);
        for (size_t i = 0; i < count; i++)
            set_element(values, model->shape[l].dtype, i, value_of(first + i, 1));
    }
    assert_ok(model->ctx, odcomm_publish(model->ctx));
}

/* Layers are published as they are ready. */
static void optimise(struct model *model)
{
    for (size_t l = 0; l < LAYERS; l++) {
        odcomm_dtype dtype = model->shape[l].dtype;
        size_t first, count;
        void *values = odcomm_shard(model->layer[l], &first, &count);
        const void *grad = odcomm_grad(model->layer[l], NULL, NULL);
        for (size_t i = 0; i < count; i++) {
            assert_element(grad, dtype, i, sum_of(first + i));
            set_element(values, dtype, i,
                        get_element(values, dtype, i) + get_element(grad, dtype, i));
        }
        assert_ok(model->ctx, odcomm_publish_group(model->layer[l]));
    }
    assert_ok(model->ctx, odcomm_publish(model->ctx));
}

static void train(struct model *model, int minibatches)
{
    uint64_t random = (uint64_t)rank;

    for (int m = 0; m < minibatches; m++) {
        do_tasks(model, &random);
        check_norm(model);
        optimise(model);
    }
}

static void all_ranks(void **state)
{
    struct model model = open_model(MPI_COMM_WORLD);

    (void)state;
    initialise(&model);
    train(&model, MINIBATCHES);
    assert_ok(model.ctx, odcomm_free(&model.ctx));
}

/* Two trainings at once, at different paces, and one of all ranks in between. */
static void halves(void **state)
{
    struct model all, half;
    MPI_Comm comm;

    (void)state;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    all = open_model(MPI_COMM_WORLD);
    half = open_model(comm);
    initialise(&all);
    initialise(&half);
    train(&half, rank % 2 ? 1 : MINIBATCHES);
    train(&all, 1);
    train(&half, 1);
    assert_ok(half.ctx, odcomm_free(&half.ctx));
    assert_ok(all.ctx, odcomm_free(&all.ctx));
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(all_ranks), cmocka_unit_test(halves)};

    return run_ranked(argc, argv, cases);
}
