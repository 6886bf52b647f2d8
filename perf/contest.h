/* A bench in which several ways to do one job compete over a range of group sizes. */
#ifndef PERF_CONTEST_H
#define PERF_CONTEST_H

#include "measure.h"

#include <odcomm/odcomm.h>

#define MOST_CONTESTANTS 8

/* A figure of the table: the seconds of one contestant over those of another. */
struct ratio {
    const char *title;
    const char *what;
    int over;
    int under;
};

struct contest {
    const char *name;
    const char *job; /* what all of them do */
    const struct contestant *contestant;
    int contestants;
    const struct ratio *ratio;
    int ratios;

    /* The state for groups of `count` elements; collective. */
    void *(*open)(size_t count, odcomm_dtype dtype);
    void (*close)(void *state);
    /* The most operations of a sample that can still be verified. */
    long (*most)(void);
};

/* Reads the command line, runs, and reports. Collective. */
void contest_run(const struct contest *contest, int argc, char **argv);

#endif
