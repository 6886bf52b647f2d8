/*
 * Texts as the model sees them. A text of n bytes is n + 1 tokens: the boundary and its bytes go
 * in, its bytes and the boundary are to be predicted. What a prompt predicts of itself does not
 * count.
 */
#ifndef TRAIN_SAMPLES_H
#define TRAIN_SAMPLES_H

#include "corpus.h"
#include "shape.h"

struct sample {
    const unsigned char *bytes;
    size_t length; /**< bytes of the whole text */
    int tokens;    /**< at most the context */
    int prompt;    /**< the first target that counts */
};

/** Targets of a sample that count. */
static inline int target_count(const struct sample *sample)
{
    return sample->tokens - sample->prompt;
}

struct samples {
    struct sample *train;
    size_t trained;
    struct sample *held_out;
    size_t held;
    size_t cut;       /**< texts that are longer than the context */
    size_t first_cut; /**< the first such record */
    size_t dropped;   /**< those of them whose response lies behind it */
};

/**
 * Cuts the texts to the context and puts the given fraction, spread evenly, aside. They point into
 * the corpus. Returns 0, or -1 with the problem.
 */
int samples_make(const struct corpus *corpus, int context, double held_out, struct samples *samples,
                 struct problem *problem);

void samples_free(struct samples *samples);

#endif
