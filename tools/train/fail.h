/* How the program ends when something is wrong: one sentence, and no rank left waiting. */
#ifndef TRAIN_FAIL_H
#define TRAIN_FAIL_H

#include <odcomm/odcomm.h>

/** Exit codes. */
enum { EXIT_PROBLEM = 1, EXIT_USAGE = 2 };

/** Called by all ranks: rank 0 prints the sentence, all leave MPI and exit. */
void quit(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/** Called by any rank: prints the sentence and ends all ranks. */
void give_up(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** Gives up unless `code` is ODCOMM_OK. */
void check(const odcomm_ctx *ctx, int code);

/**
 * The same for collective calls while a context is made, where ranks usually fail together: called
 * by all ranks, the first that failed prints why, all free the context and exit.
 */
void settle(odcomm_ctx **ctx, int code);

/** Called by all ranks: quits with the sentence if `failed` on any. */
void quit_if_any(int failed, const char *sentence);

#endif
