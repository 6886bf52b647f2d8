/* The model over its groups: what a rank does in a minibatch, through odcomm. */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include "batch.h"
#include "layout.h"
#include "workspace.h"

#include <odcomm/odcomm.h>

/** Moments of the optimizer for this rank's part of a group. */
struct moments {
    float *mean;
    float *square;
};

struct trainer {
    struct shape shape;
    int rank;
    int ranks;
    bool collective; /**< all ranks must make the same calls */
    odcomm_ctx *ctx;
    odcomm_group **group;
    struct layout *layout;
    struct moments *moments;
    struct workspace workspace;
    struct tokens tokens;
    double compute_s; /**< seconds spent computing since it was last set to 0 */
};

/** Makes context, groups and memory, and publishes the first weights. Collective; ends the program
 * if something is wrong. */
void trainer_init(struct trainer *trainer, const struct shape *shape, const char *mode, int cap,
                  uint64_t seed);

/** Collective. */
void trainer_free(struct trainer *trainer);

/** What a rank has done in a minibatch. */
struct share {
    double loss; /**< its part of the mean over all targets */
    double tokens;
};

/** Forward and backward through this rank's microbatches. Work phase. */
struct share train_microbatches(struct trainer *trainer, const struct packing *packing);

/** Forward only. Work phase. */
struct share measure_microbatches(struct trainer *trainer, const struct packing *packing);

/** Updates this rank's shards and publishes them. Update phase. */
void update_shards(struct trainer *trainer, double rate, long step);

#endif
