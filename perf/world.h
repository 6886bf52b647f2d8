/*
 * The ranks of this run, and how they end when something is wrong: with one sentence, and with no
 * rank left waiting.
 *
 * MPI_COMM_WORLD keeps its error handler, MPI_ERRORS_ARE_FATAL: an MPI call of the program's own
 * that fails ends all ranks with MPI's message, so return codes need no check.
 */
#ifndef PERF_WORLD_H
#define PERF_WORLD_H

#include <odcomm/odcomm.h>

enum { EXIT_PROBLEM = 1, EXIT_USAGE = 2 };

int world_rank(void);
int world_size(void);

/* Called by all ranks: rank 0 prints the sentence, all leave MPI and exit. */
_Noreturn void quit(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Called by any rank: prints the sentence and ends all ranks. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives up unless `code` is ODCOMM_OK. `ctx` NULL: what odcomm_create() says. */
void check(const odcomm_ctx *ctx, int code);

/* Memory of this rank alone, 64-byte aligned and touched; gives up where there is too little. */
void *take_memory(size_t bytes);

/*
 * Replaces each value by the largest among the ranks of `comm`. Sleeps while it waits: ranks that
 * spin in a collective call take the cores from those that are still being timed.
 */
void polite_max(double *values, int count, MPI_Comm comm);

#endif
