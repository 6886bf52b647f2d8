#include "ranked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rank;
int ranks;

void check_code(const odcomm_ctx *ctx, int code, int expected, const char *call, const char *file,
                int line)
{
    if (code == expected)
        return;
    print_error("rank %d: %s gives %d (%s), not %d: %s\n", rank, call, code, odcomm_strerror(code),
                expected, odcomm_last_error(ctx));
    _fail(file, line);
}

void check_says(const odcomm_ctx *ctx, const char *part, const char *file, int line)
{
    if (strstr(odcomm_last_error(ctx), part))
        return;
    print_error("rank %d: '%s' does not say '%s'\n", rank, odcomm_last_error(ctx), part);
    _fail(file, line);
}

/* splitmix64 */
uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)(random_next(state) % limit);
}

void sleep_ms(int ms)
{
    struct timespec duration = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&duration, NULL);
}

int run_cases(int argc, char **argv, const char *name, const struct CMUnitTest *cases, size_t n)
{
    int failed;

    setenv("CMOCKA_TEST_ABORT", "1", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0 && !freopen("/dev/null", "w", stdout))
        return EXIT_FAILURE;
    failed = _cmocka_run_group_tests(name, cases, n, NULL, NULL);
    MPI_Finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
