/*
 * cmocka under mpirun. All ranks run the same cases; rank 0 reports. A failed assertion aborts its
 * rank, and with it the job, so that the others are not left in a collective call.
 */
#ifndef RANKED_H
#define RANKED_H

#include <odcomm/odcomm.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

extern int rank; /* of MPI_COMM_WORLD */
extern int ranks;

/* Asserts that a call succeeds, and shows odcomm_last_error() where it does not. */
#define assert_ok(ctx, call) assert_code((ctx), (call), ODCOMM_OK)

/* Asserts that a call returns `expected`. */
#define assert_code(ctx, call, expected)                                                           \
    check_code((ctx), (call), (expected), #call, __FILE__, __LINE__)

void check_code(const odcomm_ctx *ctx, int code, int expected, const char *call, const char *file,
                int line);

/* Asserts that the sentence of the last error contains `part`. */
#define assert_says(ctx, part) check_says((ctx), (part), __FILE__, __LINE__)
void check_says(const odcomm_ctx *ctx, const char *part, const char *file, int line);

/* The same pseudo-random numbers on every rank that starts from the same state. */
uint64_t random_next(uint64_t *state);
size_t random_below(uint64_t *state, size_t limit);

/* Keeps a rank computing, as far as the others can see, without using its core. */
void sleep_ms(int ms);

/* Runs the cases, initialising and finalising MPI around them; what main returns. */
#define run_ranked(argc, argv, cases)                                                              \
    run_cases((argc), (argv), #cases, (cases), sizeof(cases) / sizeof((cases)[0]))
int run_cases(int argc, char **argv, const char *name, const struct CMUnitTest *cases, size_t n);

#endif
