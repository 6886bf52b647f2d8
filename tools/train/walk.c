/* The walk of a microbatch through the groups, and of a rank through its microbatches. */
#include "trainer.h"

#include "embedding.h"
#include "fail.h"
#include "head.h"

static const float *gather(struct trainer *trainer, int g)
{
    const void *values;
    check(trainer->ctx, odcomm_gather(trainer->group[g], &values));
    return values;
}

static void release(struct trainer *trainer, int g)
{
    check(trainer->ctx, odcomm_release(trainer->group[g]));
}

static void accumulate(struct trainer *trainer, int g, const float *gradient)
{
    check(trainer->ctx, odcomm_accumulate(trainer->group[g], gradient, ODCOMM_F32));
}

static void forward(struct trainer *trainer, const struct packed *packed)
{
    const struct shape *shape = &trainer->shape;
    struct workspace *work = &trainer->workspace;
    const float *weights = gather(trainer, 0);
    double begin = MPI_Wtime();
    embedding_forward(packed, shape->width, weights, work->layer[0].x);
    trainer->compute_s += MPI_Wtime() - begin;
    release(trainer, 0);
    for (int l = 0; l < shape->layers; l++) {
        real *out = l + 1 < shape->layers ? work->layer[l + 1].x : work->top;
        weights = gather(trainer, l + 1);
        begin = MPI_Wtime();
        block_forward(shape, &trainer->layout[l + 1], packed, weights, &work->layer[l],
                      &work->scratch, out);
        trainer->compute_s += MPI_Wtime() - begin;
        release(trainer, l + 1);
    }
}

static size_t output_offset(const struct trainer *trainer)
{
    return trainer->layout[trainer->shape.layers + 1].tensor[HEAD_OUTPUT].first;
}

/* The loss at the top; with `gradient` also the gradients there. A tied output is the embedding. */
static double top(struct trainer *trainer, const struct packed *packed, double weight,
                  const struct head_gradient *gradient)
{
    const struct shape *shape = &trainer->shape;
    int last = shape->layers + 1;
    struct head_weights weights = {.gain = gather(trainer, last)};
    weights.output = shape->untied ? weights.gain + output_offset(trainer) : gather(trainer, 0);
    double begin = MPI_Wtime();
    double loss = head_loss(shape, packed, weight, trainer->workspace.top, &weights,
                            trainer->workspace.head, gradient);
    trainer->compute_s += MPI_Wtime() - begin;
    if (!shape->untied)
        release(trainer, 0);
    release(trainer, last);
    return loss;
}

static double top_backward(struct trainer *trainer, const struct packed *packed, double weight)
{
    struct workspace *work = &trainer->workspace;
    int last = trainer->shape.layers + 1;
    struct head_gradient gradient = {.gain = work->gradient, .dx = work->dx};
    gradient.output =
        trainer->shape.untied ? work->gradient + output_offset(trainer) : work->embedding_gradient;
    memset(work->gradient, 0, trainer->layout[last].count * sizeof(real));
    memset(work->embedding_gradient, 0, trainer->layout[0].count * sizeof(real));
    double loss = top(trainer, packed, weight, &gradient);
    accumulate(trainer, last, work->gradient);
    return loss;
}

static void backward(struct trainer *trainer, const struct packed *packed)
{
    const struct shape *shape = &trainer->shape;
    struct workspace *work = &trainer->workspace;
    double begin;
    for (int l = shape->layers - 1; l >= 0; l--) {
        const float *weights = gather(trainer, l + 1);
        begin = MPI_Wtime();
        block_backward(shape, &trainer->layout[l + 1], packed, weights, &work->layer[l],
                       &work->scratch, work->dx, work->gradient);
        trainer->compute_s += MPI_Wtime() - begin;
        release(trainer, l + 1);
        accumulate(trainer, l + 1, work->gradient);
    }
    begin = MPI_Wtime();
    embedding_backward(packed, shape->width, work->dx, work->embedding_gradient);
    trainer->compute_s += MPI_Wtime() - begin;
    accumulate(trainer, 0, work->embedding_gradient);
}

static double train_one(struct trainer *trainer, const struct packed *packed, double weight)
{
    forward(trainer, packed);
    double loss = top_backward(trainer, packed, weight);
    backward(trainer, packed);
    return loss;
}

static double measure_one(struct trainer *trainer, const struct packed *packed, double weight)
{
    forward(trainer, packed);
    return top(trainer, packed, weight, NULL);
}

/*
 * The next microbatch of this rank, or -1. They are claimed, but in collective mode all ranks need
 * the same number: those that are too many are empty (index packing->microbatches).
 */
static long next_microbatch(struct trainer *trainer, const struct packing *packing, long done)
{
    long task, count = packing->microbatches;
    if (!trainer->collective) {
        check(trainer->ctx, odcomm_claim(trainer->ctx, count, &task));
        return task;
    }
    if (done * trainer->ranks >= count)
        return -1;
    task = done * trainer->ranks + trainer->rank;
    return task < count ? task : count;
}

static struct packed microbatch(struct trainer *trainer, const struct packing *packing, long task)
{
    static const int nothing[1] = {0};
    if (task == packing->microbatches)
        return (struct packed){.start = nothing};
    return tokens_fill(&trainer->tokens, packing, (int)task);
}

typedef double visit(struct trainer *trainer, const struct packed *packed, double weight);

static struct share visit_microbatches(struct trainer *trainer, const struct packing *packing,
                                       visit *one)
{
    struct share share = {0};
    double weight = 1.0 / (double)packing->targets;
    long task;
    for (long done = 0; (task = next_microbatch(trainer, packing, done)) >= 0; done++) {
        struct packed packed = microbatch(trainer, packing, task);
        share.loss += one(trainer, &packed, weight);
        share.tokens += packed.tokens;
    }
    return share;
}

struct share train_microbatches(struct trainer *trainer, const struct packing *packing)
{
    return visit_microbatches(trainer, packing, train_one);
}

struct share measure_microbatches(struct trainer *trainer, const struct packing *packing)
{
    return visit_microbatches(trainer, packing, measure_one);
}
