#include "ranked.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
#    include <sanitizer/lsan_interface.h>
#endif

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

odcomm_ctx *open_context(MPI_Comm comm, const odcomm_options *options, const struct shape *shape,
                         size_t groups, odcomm_group **group)
{
    odcomm_ctx *ctx;
    char name[32];

    assert_ok(NULL, odcomm_create(comm, options, &ctx));
    for (size_t g = 0; g < groups; g++) {
        snprintf(name, sizeof name, "group %zu", g);
        assert_ok(ctx, odcomm_group_add(ctx, name, shape[g].count, shape[g].dtype, &group[g]));
    }
    assert_ok(ctx, odcomm_commit(ctx));
    return ctx;
}

double get_element(const void *values, odcomm_dtype dtype, size_t i)
{
    return dtype == ODCOMM_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

void set_element(void *values, odcomm_dtype dtype, size_t i, double value)
{
    if (dtype == ODCOMM_F64)
        ((double *)values)[i] = value;
    else
        ((float *)values)[i] = (float)value;
}

void check_element(const void *values, odcomm_dtype dtype, size_t i, double expected,
                   const char *file, int line)
{
    double found = get_element(values, dtype, i);

    if (found == expected)
        return;
    print_error("rank %d: element %zu is %.17g, not %.17g\n", rank, i, found, expected);
    _fail(file, line);
}

struct word open_word(void)
{
    struct word word;
    MPI_Aint size;
    int unit;

    MPI_Win_allocate_shared(rank == 0 ? sizeof *word.value : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &word.value, &word.win);
    MPI_Win_shared_query(word.win, 0, &size, &unit, &word.value);
    if (rank == 0)
        atomic_init(word.value, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return word;
}

void close_word(struct word *word)
{
    MPI_Win_free(&word->win);
}

void check_word(const struct word *word, int least, const char *file, int line)
{
    for (int i = 0; i < 30000; i++) {
        if (atomic_load(word->value) >= least)
            return;
        sleep_ms(1);
    }
    print_error("rank %d: waited in vain for %d, is %d\n", rank, least, atomic_load(word->value));
    _fail(file, line);
}

/* Between nodes the library needs a thread of its own, but for the lowest level elsewhere. */
static void init_mpi(int *argc, char ***argv)
{
    int provided;

    if (getenv("ODCOMM_NODE_RANKS"))
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
}

#ifdef __SANITIZE_ADDRESS__
/* What MPI allocates for itself at the start is not ours to free. */
static void start_mpi(int *argc, char ***argv)
{
    __lsan_disable();
    init_mpi(argc, argv);
    __lsan_enable();
}

/* Before MPI unloads its components: a leak is then known by the library it is in. */
static int count_leaks(void)
{
    return __lsan_do_recoverable_leak_check();
}
#else
static void start_mpi(int *argc, char ***argv)
{
    init_mpi(argc, argv);
}

static int count_leaks(void)
{
    return 0;
}
#endif

int run_cases(int argc, char **argv, const char *name, const struct CMUnitTest *cases, size_t n)
{
    int failed;

    setenv("CMOCKA_TEST_ABORT", "1", 1);
    start_mpi(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0 && !freopen("/dev/null", "w", stdout))
        return EXIT_FAILURE;
    failed = _cmocka_run_group_tests(name, cases, n, NULL, NULL);
    failed += count_leaks();
    MPI_Finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
