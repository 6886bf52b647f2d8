/* odcomm-perf: what the library's operations cost, beside their rivals and their limits. */
#include "bench.h"

#include "options.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench {
    const char *name;
    const char *purpose;
    bench_function run;
} benches[] = {
    {"gather", "getting the values of a whole group", bench_gather},
    {"accumulate", "adding a gradient of a whole group", bench_accumulate},
};

enum { BENCHES = sizeof benches / sizeof benches[0] };

static void print_help(void)
{
    printf("usage: mpiexec -n RANKS odcomm-perf BENCH [OPTION...]\n\n"
           "Measures operations of odcomm, their rivals and their limits in one run.\n\n"
           "benches:\n");
    for (int i = 0; i < BENCHES; i++)
        printf("  %-14s  %s\n", benches[i].name, benches[i].purpose);
    printf("\noptions:\n%s"
           "  --help          print this and exit\n"
           "  --version       print the version and exit\n",
           options_help);
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

static const struct bench *find_bench(const char *name)
{
    for (int i = 0; i < BENCHES; i++)
        if (strcmp(benches[i].name, name) == 0)
            return &benches[i];
    return NULL;
}

static void list_benches(char *text, size_t room)
{
    text[0] = '\0';
    for (int i = 0; i < BENCHES; i++) {
        strncat(text, i == 0 ? "" : i + 1 < BENCHES ? ", " : " or ", room - strlen(text) - 1);
        strncat(text, benches[i].name, room - strlen(text) - 1);
    }
}

static void run(int argc, char **argv)
{
    const struct bench *bench = argc > 1 ? find_bench(argv[1]) : NULL;
    char names[256];

    if (bench) {
        bench->run(argc - 1, argv + 1);
        return;
    }
    list_benches(names, sizeof names);
    if (argc > 1)
        quit(EXIT_USAGE, "'%.64s' is not something to measure: first say %s; see --help", argv[1],
             names);
    quit(EXIT_USAGE, "say what to measure: %s; see --help", names);
}

static int check_output(void)
{
    int unwritten = fflush(stdout) != 0 || ferror(stdout);
    MPI_Bcast(&unwritten, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return unwritten;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (has_word(argc, argv, "--help")) {
        if (world_rank() == 0)
            print_help();
    } else if (has_word(argc, argv, "--version")) {
        if (world_rank() == 0)
            printf("odcomm-perf %s\n", PACKAGE_VERSION);
    } else {
        run(argc, argv);
    }
    if (check_output())
        quit(EXIT_PROBLEM, "standard output could not be written");
    MPI_Finalize();
    return EXIT_SUCCESS;
}
