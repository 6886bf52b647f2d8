/* What the program can measure: one file each, and a line in the table of main.c. */
#ifndef PERF_BENCH_H
#define PERF_BENCH_H

/* Called by all ranks; argv[0] is the bench's name, its options follow. */
typedef void (*bench_function)(int argc, char **argv);

void bench_gather(int argc, char **argv);
void bench_accumulate(int argc, char **argv);

#endif
