/* The command line of a bench that runs over group sizes. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include <odcomm/odcomm.h>
#include <stdbool.h>

struct options {
    size_t min; /* bytes of the smallest group */
    size_t max;
    int repeat;
    odcomm_dtype dtype;
    bool json;
};

struct problem {
    char text[256];
};

/* Understands argv[1] and on. Returns 0, or -1 with the problem in words. */
int options_parse(struct options *options, int argc, char **argv, struct problem *problem);

/* Bytes such as 4096, 4K, 64M or 1G; 0: not understood. */
size_t parse_bytes(const char *text);

extern const char options_help[];

#endif
