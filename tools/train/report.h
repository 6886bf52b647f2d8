/* What rank 0 prints while the model is trained. */
#ifndef TRAIN_REPORT_H
#define TRAIN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/** One step. */
struct step {
    long number; /**< from 1 */
    double loss; /**< nats a token */
    double tokens;
    double seconds;
    double utilization; /**< computing time / time, mean over the ranks */
};

/** The whole run. */
struct outcome {
    double loss;
    double held_out_loss; /**< NaN: nothing was held out */
    uint64_t digest;
};

struct report {
    bool silent; /**< not rank 0 */
    bool json;
    bool live; /**< one line that is written over */
    long steps;
    double seconds;
    double tokens;
};

void report_init(struct report *report, bool silent, bool json, long steps);

void report_step(struct report *report, const struct step *step);

void report_outcome(const struct report *report, const struct outcome *outcome);

#endif
