#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST ((size_t)1 << 32) /* counts of the MPI calls compared with are ints */
#define MOST_REPEATS 100000

const char options_help[] =
    "  --json          one JSON object a line instead of a table\n"
    "  --min BYTES     smallest group (4K); suffixes K, M, G are powers of 1024\n"
    "  --max BYTES     largest group (64M); sizes between go up by factors of 4\n"
    "  --repeat N      samples that the median is taken of (11)\n"
    "  --dtype TYPE    f32 or f64 (f32)\n";

static const struct options defaults = {
    .min = (size_t)4 << 10, .max = (size_t)64 << 20, .repeat = 11, .dtype = ODCOMM_F32};

static int fail(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(struct problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return -1;
}

/* The power of 1024 that the rest of a number stands for, -1 if none. */
static int suffix_bits(const char *suffix)
{
    static const char letters[] = "KMG";
    const char *found;
    if (*suffix == '\0')
        return 0;
    found = strchr(letters, toupper((unsigned char)*suffix));
    return found && suffix[1] == '\0' ? 10 * (int)(found - letters + 1) : -1;
}

size_t parse_bytes(const char *text)
{
    char *end;
    unsigned long long number;
    int bits;
    if (!isdigit((unsigned char)*text))
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    bits = suffix_bits(end);
    if (errno || bits < 0 || number > (SIZE_MAX >> bits))
        return 0;
    return (size_t)number << bits;
}

static int read_bytes(size_t *bytes, const char *name, const char *text, struct problem *problem)
{
    *bytes = parse_bytes(text);
    if (*bytes >= sizeof(double) && *bytes <= LARGEST)
        return 0;
    return fail(problem, "--%s %.64s: from 8 to 4G bytes are possible, such as 4096, 64K or 16M",
                name, text);
}

static int read_repeat(int *repeat, const char *text, struct problem *problem)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || number < 1 || number > MOST_REPEATS)
        return fail(problem, "--repeat %.64s: from 1 to %d samples are possible", text,
                    MOST_REPEATS);
    *repeat = (int)number;
    return 0;
}

static int read_dtype(odcomm_dtype *dtype, const char *text, struct problem *problem)
{
    if (strcmp(text, "f32") == 0)
        *dtype = ODCOMM_F32;
    else if (strcmp(text, "f64") == 0)
        *dtype = ODCOMM_F64;
    else
        return fail(problem, "--dtype %.64s: it is f32 or f64", text);
    return 0;
}

static int read_option(struct options *options, int option, const char *text,
                       struct problem *problem)
{
    switch (option) {
    case 'j':
        options->json = true;
        return 0;
    case 'm':
        return read_bytes(&options->min, "min", text, problem);
    case 'M':
        return read_bytes(&options->max, "max", text, problem);
    case 'r':
        return read_repeat(&options->repeat, text, problem);
    default:
        return read_dtype(&options->dtype, text, problem);
    }
}

int options_parse(struct options *options, int argc, char **argv, struct problem *problem)
{
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'},        {"min", required_argument, NULL, 'm'},
        {"max", required_argument, NULL, 'M'},   {"repeat", required_argument, NULL, 'r'},
        {"dtype", required_argument, NULL, 'd'}, {NULL, 0, NULL, 0}};
    int option;

    *options = defaults;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        if (option == ':')
            return fail(problem, "%.64s needs a value", argv[optind - 1]);
        if (option == '?' && strncmp(argv[optind - 1], "--", 2) != 0)
            return fail(problem, "-%c is no option; see --help", optopt);
        if (option == '?')
            return fail(problem, "%.64s is no option, or has a value it does not take; see --help",
                        argv[optind - 1]);
        if (read_option(options, option, optarg, problem))
            return -1;
    }
    if (optind < argc)
        return fail(problem, "'%.64s' is one word too many; see --help", argv[optind]);
    if (options->min > options->max)
        return fail(problem, "--min (%zu) is larger than --max (%zu)", options->min, options->max);
    return 0;
}
