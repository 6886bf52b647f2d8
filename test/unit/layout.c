/* Shards and offsets: pure arithmetic, so that sizes no memory holds are tested too. */
#include "../../src/layout.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Wide enough for every product of a count and a number of ranks. */
typedef unsigned __int128 wide;

static size_t least(size_t count, wide position)
{
    return position < count ? (size_t)position : count;
}

/* The definition in the header, word by word. */
static void check_shards(size_t count, int ranks)
{
    const wide block = ((wide)count + (wide)ranks - 1) / (wide)ranks;
    size_t end = 0;

    assert_true(odc_block(count, ranks) == (size_t)block);
    for (int r = 0; r < ranks; r++) {
        odc_extent extent = odc_shard_extent(count, ranks, r);
        size_t first = least(count, (wide)r * block);
        size_t last = least(count, ((wide)r + 1) * block);
        assert_true(extent.first == first);
        assert_true(extent.count == last - first);
        assert_true(extent.first == end); /* behind each other, without a gap */
        end += extent.count;
    }
    assert_true(end == count);
}

static void counts_around_the_number_of_ranks(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 9; ranks++) {
        const size_t n = (size_t)ranks;
        const size_t counts[] = {0, 1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 2 * n + 1, n * n};
        for (size_t i = 0; i < LENGTH(counts); i++)
            check_shards(counts[i], ranks);
    }
}

static void two_elements_on_four_ranks(void **state)
{
    const size_t first[] = {0, 1, 2, 2}, count[] = {1, 1, 0, 0};

    (void)state;
    assert_int_equal(odc_block(2, 4), 1);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(odc_shard_extent(2, 4, r).first, first[r]);
        assert_int_equal(odc_shard_extent(2, 4, r).count, count[r]);
    }
}

static void last_shards_may_be_short_or_empty(void **state)
{
    const size_t sevens[] = {3, 3, 1}, nines[] = {3, 3, 3, 0};

    (void)state;
    for (int r = 0; r < 3; r++)
        assert_int_equal(odc_shard_extent(7, 3, r).count, sevens[r]);
    for (int r = 0; r < 4; r++)
        assert_int_equal(odc_shard_extent(9, 4, r).count, nines[r]);
}

static void beyond_32_bits(void **state)
{
    const size_t edge = (size_t)1 << 31;
    const size_t counts[] = {edge - 1,     edge,         edge + 1,        2 * edge - 1,
                             2 * edge + 1, 8 * edge + 3, SIZE_MAX / 2,    (size_t)PTRDIFF_MAX + 1,
                             SIZE_MAX - 1, SIZE_MAX,     (size_t)1 << 63, (size_t)3 << 62};

    (void)state;
    for (size_t i = 0; i < LENGTH(counts); i++)
        for (int ranks = 1; ranks <= 9; ranks++)
            check_shards(counts[i], ranks);
    assert_true(odc_block(edge + 1, 2) == edge / 2 + 1);
    assert_true(odc_shard_extent(4 * edge + 1, 2, 1).first == 2 * edge + 1);
}

static void any_count_is_cut_without_gaps(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int ranks = 1 + (int)(random >> 33) % 300;
        size_t count = (size_t)(random >> (round % 64));
        check_shards(count, ranks);
    }
}

static void bytes_are_rounded_up_to_64(void **state)
{
    (void)state;
    assert_int_equal(odc_align(0), 0);
    assert_int_equal(odc_align(1), 64);
    assert_int_equal(odc_align(63), 64);
    assert_int_equal(odc_align(64), 64);
    assert_int_equal(odc_align(65), 128);
    assert_true(odc_align(((size_t)1 << 32) + 1) == ((size_t)1 << 32) + 64);
}

static void reservations_lie_behind_each_other(void **state)
{
    size_t end = 0;

    (void)state;
    assert_true(odc_reserve(&end, 3, 4, 1));
    assert_int_equal(end, 64);
    assert_true(odc_reserve(&end, 0, 8, 5));
    assert_int_equal(end, 64);
    assert_true(odc_reserve(&end, 3, 8, 5)); /* 120 bytes */
    assert_int_equal(end, 192);
    assert_true(odc_reserve(&end, ((size_t)1 << 31) + 1, 4, 2));
    assert_true(end == 192 + ((size_t)1 << 34) + 64);
}

static void refuses(size_t begin, size_t elements, size_t size, size_t times)
{
    size_t end = begin;

    assert_false(odc_reserve(&end, elements, size, times));
    assert_true(end == begin);
}

static void what_cannot_be_addressed_is_refused(void **state)
{
    const size_t most = PTRDIFF_MAX;
    size_t end = 0;

    (void)state;
    refuses(0, SIZE_MAX, 1, 1);
    refuses(0, SIZE_MAX, 4, 1);
    refuses(64, SIZE_MAX / 4 + 1, 4, 1); /* 0 bytes, modulo 2^64 */
    refuses(64, SIZE_MAX / 8 + 1, 8, 1);
    refuses(64, SIZE_MAX / 8 + 1, 4, 2);
    refuses(64, (size_t)1 << 32, 1, (size_t)1 << 32);
    refuses(128, most, 1, 1);
    refuses(most - most % 64, 1, 64, 1);
    refuses(most / 2, most / 2, 1, 1);
    refuses(most - most % 64, most, 1, 1); /* SIZE_MAX is not passed */
    assert_true(odc_reserve(&end, most / 2, 1, 1));
    assert_true(end >= most / 2 && end < most);
    refuses(end, most / 2 + 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(counts_around_the_number_of_ranks),
        cmocka_unit_test(two_elements_on_four_ranks),
        cmocka_unit_test(last_shards_may_be_short_or_empty),
        cmocka_unit_test(beyond_32_bits),
        cmocka_unit_test(any_count_is_cut_without_gaps),
        cmocka_unit_test(bytes_are_rounded_up_to_64),
        cmocka_unit_test(reservations_lie_behind_each_other),
        cmocka_unit_test(what_cannot_be_addressed_is_refused),
    };

    return cmocka_run_group_tests_name("layout", cases, NULL, NULL);
}
