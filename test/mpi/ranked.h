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

/* What a group is made of. */
struct shape {
    size_t count;
    odcomm_dtype dtype;
};

/* A committed context with groups of these shapes; their handles in `group`. Collective. */
odcomm_ctx *open_context(MPI_Comm comm, const odcomm_options *options, const struct shape *shape,
                         size_t groups, odcomm_group **group);

/* An element of a vector of either dtype. */
double get_element(const void *values, odcomm_dtype dtype, size_t i);
void set_element(void *values, odcomm_dtype dtype, size_t i, double value);

/* Asserts that an element is exactly what is expected. */
#define assert_element(values, dtype, i, expected)                                                 \
    check_element((values), (dtype), (i), (expected), __FILE__, __LINE__)
void check_element(const void *values, odcomm_dtype dtype, size_t i, double expected,
                   const char *file, int line);

/*
 * A word that all ranks see, zero at first, by which a case makes one rank wait for another while
 * both stay out of MPI. Made and freed collectively.
 */
struct word {
    MPI_Win win;
    _Atomic int *value;
};
struct word open_word(void);
void close_word(struct word *word);

/* Waits until the word is at least `least`; fails where that takes half a minute. */
#define await_word(word, least) check_word((word), (least), __FILE__, __LINE__)
void check_word(const struct word *word, int least, const char *file, int line);

/* Runs the cases, initialising and finalising MPI around them; what main returns. */
#define run_ranked(argc, argv, cases)                                                              \
    run_cases((argc), (argv), #cases, (cases), sizeof(cases) / sizeof((cases)[0]))
int run_cases(int argc, char **argv, const char *name, const struct CMUnitTest *cases, size_t n);

#endif
