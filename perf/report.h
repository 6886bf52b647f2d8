/* Figures for readers and for programs, written by rank 0. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "contest.h"
#include "options.h"

/* What the table shows and how it was taken; nothing for JSON. */
void report_header(const struct contest *contest, const struct options *options);

void report_row(const struct contest *contest, const struct options *options, size_t bytes,
                const double *seconds);

/* A number of bytes in its shortest exact form: 4K, 64M, 1000. */
void format_bytes(char *text, size_t room, size_t bytes);

#endif
