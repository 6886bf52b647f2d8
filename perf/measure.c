#include "measure.h"

#include "world.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define NOTICE_S 4e-4 /* from agreeing on a start to it: all must have heard by then */
#define TRIES 3
#define WAKING_S 1e-4 /* that a sleeper may take to wake up */

/* The clock that all processes of a node share. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double time)
{
    struct timespec when = {.tv_sec = (time_t)time};
    when.tv_nsec = (long)(1e9 * (time - (double)when.tv_sec));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

/*
 * At a time that the node agrees on. A barrier would let ranks go one after the other where there
 * are fewer cores than ranks: those that are still in it spin.
 */
static void start_together(MPI_Comm node)
{
    double start = 0;
    polite_max(&start, 1, MPI_COMM_WORLD);
    start = now();
    polite_max(&start, 1, node);
    start += NOTICE_S;
    sleep_until(start - WAKING_S);
    while (now() < start)
        sched_yield();
}

/* From the first begin to the last end on the node; the slowest node's. */
static double span(MPI_Comm node, double begin, double end)
{
    double extremes[2] = {-begin, end}, longest;
    polite_max(extremes, 2, node);
    longest = extremes[0] + extremes[1];
    polite_max(&longest, 1, MPI_COMM_WORLD);
    return longest;
}

static double sample(const struct contestant *contestant, void *state, MPI_Comm node,
                     long operations)
{
    double begin, seconds;
    if (contestant->begin)
        contestant->begin(state);
    start_together(node);
    begin = now();
    for (long i = 0; i < operations; i++)
        contestant->operate(state);
    seconds = span(node, begin, now());
    if (contestant->end)
        contestant->end(state, operations);
    return seconds;
}

/* At least twice as many as before, aiming a little beyond what is needed. */
static long more(long operations, double seconds, long most)
{
    double factor = seconds > 0 ? 1.25 * SHORTEST_SAMPLE_S / seconds : 100;
    factor = factor < 2 ? 2 : factor > 100 ? 100 : factor;
    return factor * (double)operations < (double)most ? (long)(factor * (double)operations) : most;
}

/* The shortest of a few: one that was interrupted would seem long enough. */
static double shortest(const struct contestant *contestant, void *state, MPI_Comm node,
                       long operations)
{
    double best = sample(contestant, state, node, operations);
    for (int i = 1; i < TRIES && best >= SHORTEST_SAMPLE_S; i++) {
        double seconds = sample(contestant, state, node, operations);
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* Operations that make a sample long enough; warms up on the way. */
static long enough(const struct contestant *contestant, void *state, MPI_Comm node, long most)
{
    long operations = 1;
    double seconds;
    while ((seconds = shortest(contestant, state, node, operations)) < SHORTEST_SAMPLE_S &&
           operations < most)
        operations = more(operations, seconds, most);
    return operations;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void measure(const struct contestant *contestant, int contestants, void *state, int samples,
             long most, double *seconds)
{
    size_t n = (size_t)contestants, length = (size_t)samples;
    long *operations = take_memory(n * sizeof *operations);
    double *taken = take_memory(n * length * sizeof *taken);
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    for (size_t i = 0; i < n; i++)
        operations[i] = enough(&contestant[i], state, node, most);
    for (size_t s = 0; s < length; s++)
        for (size_t i = 0; i < n; i++)
            taken[i * length + s] = sample(&contestant[i], state, node, operations[i]);
    for (size_t i = 0; i < n; i++)
        seconds[i] = median(taken + i * length, samples) / (double)operations[i];
    MPI_Comm_free(&node);
    free(taken);
    free(operations);
}
