#include "samples.h"

#include <math.h>
#include <stdlib.h>

/* With a fraction of 0.05 each 20th. */
static int is_held_out(size_t record, double fraction)
{
    return floor((double)(record + 1) * fraction) > floor((double)record * fraction);
}

static void add_sample(const struct corpus *corpus, size_t index, int context, double held_out,
                       struct samples *samples)
{
    const struct record *record = &corpus->record[index];
    size_t limit = (size_t)context;
    int long_text = record->length + 1 > limit;
    if (long_text && samples->cut++ == 0)
        samples->first_cut = index;
    if (record->prompt >= limit) {
        samples->dropped++;
        return;
    }
    struct sample sample = {.bytes = corpus->bytes + record->first,
                            .length = record->length,
                            .tokens = long_text ? context : (int)record->length + 1,
                            .prompt = (int)record->prompt};
    if (is_held_out(index, held_out))
        samples->held_out[samples->held++] = sample;
    else
        samples->train[samples->trained++] = sample;
}

int samples_make(const struct corpus *corpus, int context, double held_out, struct samples *samples,
                 struct problem *problem)
{
    *samples = (struct samples){0};
    samples->train = calloc(corpus->records + 1, sizeof *samples->train);
    samples->held_out = calloc(corpus->records + 1, sizeof *samples->held_out);
    if (!samples->train || !samples->held_out) {
        samples_free(samples);
        return problem_set(problem, "not enough memory for %zu samples", corpus->records);
    }
    for (size_t i = 0; i < corpus->records; i++)
        add_sample(corpus, i, context, held_out, samples);
    if (samples->trained == 0) {
        samples_free(samples);
        return problem_set(problem,
                           "none of the %zu texts is left to train on: give more texts, a longer "
                           "--context or a smaller --held-out",
                           corpus->records);
    }
    return 0;
}

void samples_free(struct samples *samples)
{
    free(samples->train);
    free(samples->held_out);
    *samples = (struct samples){0};
}
