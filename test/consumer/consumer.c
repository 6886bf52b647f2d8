/*
 * A program as users write it, complete and outside of this tree: layers that are gathered, used
 * and released, tasks that are claimed, an optimizer on the shards. Its numbers are whole, so that
 * every result is known exactly, whoever does which task.
 */
#include <odcomm/odcomm.h>

#include <stdio.h>
#include <stdlib.h>

#define LAYERS 3
#define STEPS 4
#define TASKS 5

static const char *const name[LAYERS] = {"embedding", "block", "head"};
static const size_t count[LAYERS] = {1000, 77, 1};

static int failures;

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "consumer: %s is wrong\n", what);
    failures++;
}

static void must(const odcomm_ctx *ctx, int code)
{
    if (code == ODCOMM_OK)
        return;
    fprintf(stderr, "consumer: %s: %s\n", odcomm_strerror(code), odcomm_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void initialise(float *shard, size_t n)
{
    for (size_t i = 0; i < n; i++)
        shard[i] = 1000;
}

/* The loss of a task: the sum of all weights. */
static double forward(int layer, const float *w)
{
    double sum = 0;

    for (size_t i = 0; i < count[layer]; i++)
        sum += w[i];
    return sum;
}

/* Task t has the gradient t + 1 everywhere. */
static void backward(int layer, long task, float *grad)
{
    for (size_t i = 0; i < count[layer]; i++)
        grad[i] = (float)(task + 1);
}

static void optimizer(float *shard, const float *grad, size_t n)
{
    for (size_t i = 0; i < n; i++)
        shard[i] -= grad[i];
}

static double learn(odcomm_ctx *ctx, odcomm_group *group[LAYERS], long task, float *grad)
{
    const void *w;
    double loss = 0;

    for (int l = 0; l < LAYERS; l++) {
        must(ctx, odcomm_gather(group[l], &w));
        loss += forward(l, (const float *)w);
        must(ctx, odcomm_release(group[l]));
    }
    for (int l = LAYERS; l-- > 0;) {
        must(ctx, odcomm_gather(group[l], &w));
        backward(l, task, grad);
        must(ctx, odcomm_release(group[l]));
        must(ctx, odcomm_accumulate(group[l], grad, ODCOMM_F32));
    }
    return loss;
}

static void train(odcomm_ctx *ctx, odcomm_group *group[LAYERS])
{
    static float grad[1000];
    double weight = 1000;
    size_t first, n;

    for (int l = 0; l < LAYERS; l++) {
        float *shard = (float *)odcomm_shard(group[l], &first, &n);
        initialise(shard, n);
    }
    must(ctx, odcomm_publish(ctx));
    for (int step = 0; step < STEPS; step++) {
        double loss = 0;
        long task;
        while (odcomm_claim(ctx, TASKS, &task) == ODCOMM_OK && task >= 0)
            loss += learn(ctx, group, task, grad);
        must(ctx, odcomm_fence(ctx, &loss, 1));
        check(loss == TASKS * weight * 1078, "the loss");
        for (int l = 0; l < LAYERS; l++) {
            float *shard = (float *)odcomm_shard(group[l], &first, &n);
            optimizer(shard, (const float *)odcomm_grad(group[l], NULL, NULL), n);
        }
        weight -= TASKS * (TASKS + 1) / 2;
        must(ctx, odcomm_publish(ctx));
    }
    for (int l = 0; l < LAYERS; l++) {
        const float *shard = (const float *)odcomm_shard(group[l], &first, &n);
        for (size_t i = 0; i < n; i++)
            check(shard[i] == (float)weight, "a weight");
    }
}

int main(int argc, char **argv)
{
    odcomm_group *group[LAYERS];
    odcomm_ctx *ctx;

    MPI_Init(&argc, &argv);
    must(NULL, odcomm_create(MPI_COMM_WORLD, NULL, &ctx));
    for (int l = 0; l < LAYERS; l++)
        must(ctx, odcomm_group_add(ctx, name[l], count[l], ODCOMM_F32, &group[l]));
    must(ctx, odcomm_commit(ctx));
    train(ctx, group);
    must(NULL, odcomm_free(&ctx));
    MPI_Finalize();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
