/*
 * A context to provoke errors on, which then shows that it is as it was: its minibatches see the
 * values of their version and come to exact sums.
 */
#ifndef STEADY_H
#define STEADY_H

#include "ranked.h"

#define COUNT 1003

/* Two groups, and the gradient that this rank adds: i + rank. */
struct life {
    odcomm_ctx *ctx;
    odcomm_group *first;  /* COUNT of F32 */
    odcomm_group *second; /* 3 of F64 */
    float grad[COUNT];
};

odcomm_options options_with(const char *mode, double timeout);

/* Created, with its groups added; begin() commits as well. */
struct life *prepare(const odcomm_options *options);
struct life *begin(const odcomm_options *options);
void end(struct life *life);

/* From the update phase, with new values, to the next. */
void minibatch(struct life *life);

/* Asserts that the gradient of the first group is `times` the sum over ranks of i + rank. */
void assert_gradient(const struct life *life, int times);

/* Asserts that no call of the work phase is allowed. */
void assert_no_work(struct life *life);

#endif
