/* The command line. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "corpus.h"

#include <stdbool.h>
#include <stdio.h>

struct options {
    const char **data;
    long data_count;
    long layers;
    long width;
    long heads;
    long kv_heads;
    long context;
    long steps;
    long minibatch;
    long cap;
    long seed;
    long sample;
    double lr;
    double held_out;
    const char *mode;
    const char *prompt;
    bool untied;
    bool json;
    bool help;
    bool version;
};

/** Fills in the defaults, then what the command line says. Returns 0, or -1 with the problem. */
int options_parse(struct options *options, int argc, char **argv, struct problem *problem);

void options_help(FILE *stream);

void options_free(struct options *options);

#endif
