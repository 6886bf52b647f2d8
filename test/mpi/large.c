/*
 * A group with more than 2^31 bytes in each shard is moved for real. That takes as many bytes again
 * for the gradients; where there are fewer, the test is skipped. Only the surroundings of the edges
 * are looked at, so that the caller's buffer can do with a few megabytes.
 */
#include "ranked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SHARD (((size_t)1 << 28) + 12345) /* doubles: the int of a byte count is too small */
#define AROUND ((size_t)1 << 20)          /* bytes on either side of an edge */
#define REST ((size_t)1 << 26)            /* bytes that all between the edges share */
#define MOST_RANKS 2

static int skipped;

static size_t count_of(void)
{
    return (size_t)ranks * SHARD - 1;
}

/* ---- a buffer that is large in addresses only ------------------------------ */

static void map_rest(char *begin, char *end, int file)
{
    for (char *at = begin; at < end; at += REST) {
        size_t bytes = (size_t)(end - at) < REST ? (size_t)(end - at) : REST;
        assert_true(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == at);
    }
}

/* Room for the group. All bytes but those around the bounds of shards lie in the same place. */
static double *open_buffer(size_t bytes)
{
    int file = memfd_create("rest", 0);
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(file >= 0 && base != MAP_FAILED);
    assert_int_equal(ftruncate(file, REST), 0);
    for (int r = 0; r < ranks; r++) {
        size_t begin = (size_t)r * SHARD * sizeof(double), end = begin + SHARD * sizeof(double);
        map_rest(base + begin / AROUND * AROUND + 2 * AROUND, base + end / AROUND * AROUND - AROUND,
                 file);
    }
    close(file);
    return (double *)base;
}

/* ---- values at the edges, zeros between them ------------------------------- */

/* Calls `at` for some elements at both ends of the shards of ranks from `r` to `end`. */
static void at_edges(int r, int end, void (*at)(double *element, size_t i, double factor),
                     double *group, double factor)
{
    for (; r < end; r++)
        for (size_t i = 0; i < 2000; i++) {
            size_t first = (size_t)r * SHARD + i, last = (size_t)(r + 1) * SHARD - 1 - i;
            at(group + first, first, factor);
            if (last < count_of())
                at(group + last, last, factor);
        }
}

static double value_of(size_t i)
{
    return (double)i + 1;
}

static void set(double *element, size_t i, double factor)
{
    *element = factor * value_of(i);
}

static void check(double *element, size_t i, double factor)
{
    assert_true(*element == factor * value_of(i));
}

static void write_shard(odcomm_group *group)
{
    size_t first, count;
    double *values = odcomm_shard(group, &first, &count);

    assert_int_equal(first, (size_t)rank * SHARD);
    assert_int_equal(count, rank == ranks - 1 ? SHARD - 1 : SHARD);
    at_edges(rank, rank + 1, set, values - first, 1);
}

/* Some elements in the middle are checked as well, where all values are zero. */
static void check_values(const double *values, double factor)
{
    at_edges(0, ranks, check, (double *)values, factor);
    for (size_t i = SHARD / 2; i < SHARD / 2 + 1000; i++)
        assert_true(values[i] == 0);
}

static void check_grad(odcomm_group *group)
{
    size_t first;
    const double *grad = odcomm_grad(group, &first, NULL);

    at_edges(rank, rank + 1, check, (double *)grad - first, 2 * ranks);
    assert_true(grad[SHARD / 2] == 0);
}

/* ---- whether it can be done here -------------------------------------------- */

static unsigned long long available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kilobytes = 0;
    char line[128];

    while (file && fgets(line, sizeof line, file))
        sscanf(line, "MemAvailable: %llu", &kilobytes);
    if (file)
        fclose(file);
    return kilobytes << 10;
}

static unsigned long long shared_room(void)
{
    struct statvfs status;

    if (statvfs("/dev/shm", &status) != 0)
        return 0;
    return (unsigned long long)status.f_bavail * status.f_frsize;
}

static bool fits(void)
{
    unsigned long long shared = 2 * (unsigned long long)count_of() * sizeof(double) + (64 << 20);
    unsigned long long all = shared + ((unsigned long long)ranks + 4) * 256 * (1 << 20);

    if (rank == 0 && ranks > MOST_RANKS)
        printf("skip: each rank takes 4 GiB, which is enough to try with %d\n", MOST_RANKS);
    else if (rank == 0 && (available() < all || shared_room() < shared))
        printf("skip: %llu MiB of memory and %llu MiB in /dev/shm are needed\n", all >> 20,
               shared >> 20);
    else
        skipped = 0;
    MPI_Bcast(&skipped, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return !skipped;
}

static void over_two_gigabytes(void **state)
{
    struct shape shape = {count_of(), ODCOMM_F64};
    size_t bytes = count_of() * sizeof(double);
    odcomm_group *group;
    odcomm_ctx *ctx;
    double *buffer;
    const void *view;

    (void)state;
    skipped = 1;
    if (!fits())
        return;
    buffer = open_buffer(bytes);
    ctx = open_context(MPI_COMM_WORLD, NULL, &shape, 1, &group);
    write_shard(group);
    assert_ok(ctx, odcomm_publish(ctx));
    assert_ok(ctx, odcomm_gather(group, &view));
    check_values(view, 1);
    assert_ok(ctx, odcomm_release(group));
    assert_ok(ctx, odcomm_gather_into(group, buffer));
    check_values(buffer, 1);
    at_edges(0, ranks, set, buffer, 2);
    assert_ok(ctx, odcomm_accumulate(group, buffer, ODCOMM_F64));
    assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
    check_grad(group);
    assert_ok(ctx, odcomm_free(&ctx));
    munmap(buffer, bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(over_two_gigabytes)};
    int status = run_ranked(argc, argv, cases);

    return status == EXIT_SUCCESS && skipped ? 77 : status;
}
