/*
 * Which samples make a minibatch and how they share microbatches. Everything here is the same on
 * all ranks and does not depend on how many they are.
 */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include "samples.h"

#include <stdint.h>

/** All samples in a random order, a new one each time through. */
struct order {
    uint64_t seed;
    uint64_t epoch; /**< the one that `permutation` is for */
    size_t samples;
    size_t *permutation;
};

int order_init(struct order *order, size_t samples, uint64_t seed);
void order_free(struct order *order);

/** The sample at a place of the endless sequence. */
size_t order_at(struct order *order, uint64_t place);

/** Samples dealt out to microbatches: i holds sample[first[i] .. first[i + 1]). */
struct packing {
    int microbatches;
    int *first;
    const struct sample **sample;
    long targets; /**< that count, in all microbatches */
    struct bin *bin;
    struct item *item;
};

/** Makes room for `samples` samples. */
int packing_init(struct packing *packing, size_t samples);
void packing_free(struct packing *packing);

/**
 * Packs `count` samples under `cap` tokens a microbatch, each of which has no more tokens than
 * that: the longest first, each where it first fits. The largest microbatches come first.
 */
void packing_make(struct packing *packing, const struct sample *const *sample, size_t count,
                  int cap);

/** Memory for the tokens of one microbatch. */
struct tokens {
    int *start;
    int *input;
    int *target;
};

int tokens_init(struct tokens *tokens, int cap);
void tokens_free(struct tokens *tokens);

/** The tokens of microbatch i. */
struct packed tokens_fill(struct tokens *tokens, const struct packing *packing, int i);

#endif
