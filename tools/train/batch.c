#include "batch.h"

#include "random.h"

#include <stdlib.h>

static void shuffle(struct order *order)
{
    size_t *at = order->permutation;
    for (size_t i = 0; i < order->samples; i++)
        at[i] = i;
    for (size_t i = order->samples; i > 1; i--) {
        size_t j = (size_t)(random_bits(order->seed, STREAM_SHUFFLE + order->epoch, i) % i);
        size_t other = at[j];
        at[j] = at[i - 1];
        at[i - 1] = other;
    }
}

int order_init(struct order *order, size_t samples, uint64_t seed)
{
    *order = (struct order){.seed = seed, .samples = samples};
    order->permutation = calloc(samples, sizeof *order->permutation);
    if (!order->permutation)
        return -1;
    shuffle(order);
    return 0;
}

void order_free(struct order *order)
{
    free(order->permutation);
    *order = (struct order){0};
}

size_t order_at(struct order *order, uint64_t place)
{
    uint64_t epoch = place / order->samples;
    if (epoch != order->epoch) {
        order->epoch = epoch;
        shuffle(order);
    }
    return order->permutation[place % order->samples];
}

/* A sample on its way into a microbatch. */
struct item {
    const struct sample *sample;
    size_t place;
    int bin;
};

/* A microbatch that is being filled. */
struct bin {
    int tokens;
    int samples;
};

int packing_init(struct packing *packing, size_t samples)
{
    *packing = (struct packing){0};
    packing->first = calloc(samples + 1, sizeof *packing->first);
    packing->sample = calloc(samples + 1, sizeof *packing->sample);
    packing->item = calloc(samples + 1, sizeof *packing->item);
    packing->bin = calloc(samples + 1, sizeof *packing->bin);
    if (packing->first && packing->sample && packing->item && packing->bin)
        return 0;
    packing_free(packing);
    return -1;
}

void packing_free(struct packing *packing)
{
    free(packing->first);
    free(packing->sample);
    free(packing->item);
    free(packing->bin);
    *packing = (struct packing){0};
}

static int longest_first(const void *a, const void *b)
{
    const struct item *one = a, *other = b;
    int tokens = one->sample->tokens, more = other->sample->tokens;
    if (tokens != more)
        return tokens < more ? 1 : -1;
    return one->place < other->place ? -1 : 1;
}

static int first_fit(struct packing *packing, int tokens, int cap)
{
    int bin = 0;
    while (bin < packing->microbatches && packing->bin[bin].tokens + tokens > cap)
        bin++;
    if (bin == packing->microbatches)
        packing->bin[packing->microbatches++] = (struct bin){0};
    packing->bin[bin].tokens += tokens;
    packing->bin[bin].samples++;
    return bin;
}

/* Sorts the samples by microbatch, in the order in which they were put there. */
static void deal_out(struct packing *packing, size_t count)
{
    packing->first[0] = 0;
    for (int bin = 0; bin < packing->microbatches; bin++) {
        packing->first[bin + 1] = packing->first[bin] + packing->bin[bin].samples;
        packing->bin[bin].samples = 0;
    }
    for (size_t i = 0; i < count; i++) {
        int bin = packing->item[i].bin;
        packing->sample[packing->first[bin] + packing->bin[bin].samples++] =
            packing->item[i].sample;
    }
}

void packing_make(struct packing *packing, const struct sample *const *sample, size_t count,
                  int cap)
{
    packing->microbatches = 0;
    packing->targets = 0;
    for (size_t i = 0; i < count; i++) {
        packing->item[i] = (struct item){.sample = sample[i], .place = i};
        packing->targets += target_count(sample[i]);
    }
    qsort(packing->item, count, sizeof *packing->item, longest_first);
    for (size_t i = 0; i < count; i++)
        packing->item[i].bin = first_fit(packing, packing->item[i].sample->tokens, cap);
    deal_out(packing, count);
}

int tokens_init(struct tokens *tokens, int cap)
{
    size_t room = (size_t)cap;
    tokens->start = calloc(room + 1, sizeof *tokens->start);
    tokens->input = calloc(room, sizeof *tokens->input);
    tokens->target = calloc(room, sizeof *tokens->target);
    if (tokens->start && tokens->input && tokens->target)
        return 0;
    tokens_free(tokens);
    return -1;
}

void tokens_free(struct tokens *tokens)
{
    free(tokens->start);
    free(tokens->input);
    free(tokens->target);
    *tokens = (struct tokens){0};
}

static void fill_sample(const struct sample *sample, int *input, int *target)
{
    for (int t = 0; t < sample->tokens; t++) {
        input[t] = t == 0 ? BOUNDARY : sample->bytes[t - 1];
        if (t < sample->prompt)
            target[t] = NO_TARGET;
        else
            target[t] = (size_t)t < sample->length ? sample->bytes[t] : BOUNDARY;
    }
}

struct packed tokens_fill(struct tokens *tokens, const struct packing *packing, int i)
{
    struct packed packed = {
        .start = tokens->start, .input = tokens->input, .target = tokens->target};
    tokens->start[0] = 0;
    for (int k = packing->first[i]; k < packing->first[i + 1]; k++) {
        const struct sample *sample = packing->sample[k];
        fill_sample(sample, tokens->input + packed.tokens, tokens->target + packed.tokens);
        packed.tokens += sample->tokens;
        tokens->start[++packed.texts] = packed.tokens;
    }
    return packed;
}
