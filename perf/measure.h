/* Taking times: fair to all that compete, and of all ranks together. */
#ifndef PERF_MEASURE_H
#define PERF_MEASURE_H

/* One way to do the job. All functions are called by all ranks, with the bench's state. */
struct contestant {
    const char *key;                           /* of its seconds in JSON */
    const char *title;                         /* of its column */
    const char *what;                          /* one line about it */
    void (*begin)(void *state);                /* before each sample, not timed; or NULL */
    void (*operate)(void *state);              /* timed */
    void (*end)(void *state, long operations); /* after it, not timed: verifies; or NULL */
};

/* Seconds that a sample lasts at least, unless `most` operations are done before. */
#define SHORTEST_SAMPLE_S 4e-3

/*
 * seconds[i] of one operation of contestant i: the median of `samples` samples, taken in turn with
 * those of the others. A sample is as many operations on every rank as make it long enough, at
 * most `most`; its time runs on each node from the first rank's begin to the last rank's end, and
 * the slowest node counts. (A rank's own time would hide, on more ranks than cores, that it has
 * the core only while others have not.) Samples before the number of operations is found are
 * dropped. Collective; the same on all ranks.
 */
void measure(const struct contestant *contestant, int contestants, void *state, int samples,
             long most, double *seconds);

/* The middle one, or the mean of the two in the middle; sorts them. */
double median(double *values, int count);

#endif
