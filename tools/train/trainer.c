#include "trainer.h"

#include "adamw.h"
#include "fail.h"
#include "weights.h"

#include <stdlib.h>

static void add_groups(struct trainer *trainer)
{
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        struct layout *layout = &trainer->layout[g];
        layout_fill(&trainer->shape, g, layout);
        check(trainer->ctx, odcomm_group_add(trainer->ctx, layout->name, layout->count, ODCOMM_F32,
                                             &trainer->group[g]));
    }
}

static int make_memory(struct trainer *trainer, int cap)
{
    size_t groups = (size_t)group_count(&trainer->shape);
    trainer->group = calloc(groups, sizeof(odcomm_group *));
    trainer->layout = calloc(groups, sizeof *trainer->layout);
    trainer->moments = calloc(groups, sizeof *trainer->moments);
    if (!trainer->group || !trainer->layout || !trainer->moments)
        return -1;
    return workspace_init(&trainer->workspace, &trainer->shape, cap) ||
           tokens_init(&trainer->tokens, cap);
}

static int make_moments(struct trainer *trainer)
{
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        struct moments *moments = &trainer->moments[g];
        size_t count;
        odcomm_shard(trainer->group[g], NULL, &count);
        moments->mean = calloc(count + 1, sizeof *moments->mean);
        moments->square = calloc(count + 1, sizeof *moments->square);
        if (!moments->mean || !moments->square)
            return -1;
    }
    return 0;
}

static void first_weights(struct trainer *trainer, uint64_t seed)
{
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        size_t first, count;
        float *shard = odcomm_shard(trainer->group[g], &first, &count);
        weights_init(&trainer->layout[g], g, seed, first, count, shard);
    }
    check(trainer->ctx, odcomm_publish(trainer->ctx));
}

void trainer_init(struct trainer *trainer, const struct shape *shape, const char *mode, int cap,
                  uint64_t seed)
{
    odcomm_options options;
    *trainer = (struct trainer){.shape = *shape, .collective = strcmp(mode, "collective") == 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &trainer->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &trainer->ranks);
    quit_if_any(make_memory(trainer, cap),
                "not enough memory for the activations: give a smaller --cap or model");
    check(NULL, odcomm_options_init(&options));
    options.mode = mode;
    settle(&trainer->ctx, odcomm_create(MPI_COMM_WORLD, &options, &trainer->ctx));
    add_groups(trainer);
    settle(&trainer->ctx, odcomm_commit(trainer->ctx));
    quit_if_any(make_moments(trainer), "not enough memory for the optimizer: give a smaller model");
    first_weights(trainer, seed);
}

void trainer_free(struct trainer *trainer)
{
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        free(trainer->moments[g].mean);
        free(trainer->moments[g].square);
    }
    free(trainer->moments);
    free(trainer->layout);
    free(trainer->group);
    workspace_free(&trainer->workspace);
    tokens_free(&trainer->tokens);
    check(NULL, odcomm_free(&trainer->ctx));
}

static void update_shard(struct trainer *trainer, int g, double rate, long step)
{
    double begin = MPI_Wtime();
    struct shard shard = {.mean = trainer->moments[g].mean,
                          .square = trainer->moments[g].square,
                          .gradient = odcomm_grad(trainer->group[g], NULL, NULL)};
    shard.value = odcomm_shard(trainer->group[g], &shard.first, &shard.count);
    adamw_update(&trainer->layout[g], &shard, rate, step);
    trainer->compute_s += MPI_Wtime() - begin;
}

/* In the order in which they are needed, so that other ranks can start early. */
void update_shards(struct trainer *trainer, double rate, long step)
{
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        update_shard(trainer, g, rate, step);
        check(trainer->ctx, odcomm_publish_group(trainer->group[g]));
    }
    check(trainer->ctx, odcomm_publish(trainer->ctx));
}
