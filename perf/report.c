#include "report.h"

#include "world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COLUMN 12 /* characters */

void format_bytes(char *text, size_t room, size_t bytes)
{
    static const char *const suffix[] = {"", "K", "M", "G"};
    int power = 0;
    for (; power < 3 && bytes && bytes % 1024 == 0; power++)
        bytes /= 1024;
    snprintf(text, room, "%zu%s", bytes, suffix[power]);
}

/* The first line: MPICH tells how it was configured in the others. */
static void print_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    for (char *c = text; *c; c++)
        if (*c == '\t')
            *c = ' ';
    printf("# MPI library: %.*s\n", (int)strcspn(text, "\r\n"), text);
}

static void print_setting(const struct options *options)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    printf("# rank 0 on %s, %ld processors; %d ranks; %s\n", host, sysconf(_SC_NPROCESSORS_ONLN),
           world_size(), options->dtype == ODCOMM_F64 ? "f64" : "f32");
    printf("# microseconds a rank and operation, all ranks at once: median of %d samples of at "
           "least %g ms\n",
           options->repeat, 1e3 * SHORTEST_SAMPLE_S);
}

static void print_columns(const struct contest *contest)
{
    printf("# %-*s  bytes of the whole group\n", COLUMN, "group");
    for (int i = 0; i < contest->contestants; i++)
        printf("# %-*s  %s\n", COLUMN, contest->contestant[i].title, contest->contestant[i].what);
    for (int i = 0; i < contest->ratios; i++)
        printf("# %-*s  %s\n", COLUMN, contest->ratio[i].title, contest->ratio[i].what);
    printf("%*s", COLUMN, "group");
    for (int i = 0; i < contest->contestants; i++)
        printf(" %*s", COLUMN, contest->contestant[i].title);
    for (int i = 0; i < contest->ratios; i++)
        printf(" %*s", COLUMN, contest->ratio[i].title);
    printf("\n");
}

void report_header(const struct contest *contest, const struct options *options)
{
    if (options->json || world_rank() != 0)
        return;
    printf("# odcomm-perf %s %s: %s\n", PACKAGE_VERSION, contest->name, contest->job);
    print_mpi();
    print_setting(options);
    print_columns(contest);
    fflush(stdout);
}

static void print_json(const struct contest *contest, size_t bytes, const double *seconds)
{
    printf("{\"bench\":\"%s\",\"ranks\":%d,\"bytes\":%zu", contest->name, world_size(), bytes);
    for (int i = 0; i < contest->contestants; i++)
        printf(",\"%s\":%.6g", contest->contestant[i].key, seconds[i]);
    printf("}\n");
}

static void print_line(const struct contest *contest, size_t bytes, const double *seconds)
{
    char text[32];
    format_bytes(text, sizeof text, bytes);
    printf("%*s", COLUMN, text);
    for (int i = 0; i < contest->contestants; i++)
        printf(" %*.*f", COLUMN, seconds[i] < 1e-3 ? 3 : 0, 1e6 * seconds[i]);
    for (int i = 0; i < contest->ratios; i++)
        printf(" %*.2f", COLUMN,
               seconds[contest->ratio[i].over] / seconds[contest->ratio[i].under]);
    printf("\n");
}

void report_row(const struct contest *contest, const struct options *options, size_t bytes,
                const double *seconds)
{
    if (world_rank() != 0)
        return;
    if (options->json)
        print_json(contest, bytes, seconds);
    else
        print_line(contest, bytes, seconds);
    fflush(stdout);
}
