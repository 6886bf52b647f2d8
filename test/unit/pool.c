/* Buffers for copies: aligned, distinct while held, and the same ones again later. */
#include "../../src/pool.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define BYTES 192
#define HELD 40

static void buffers_are_aligned_and_distinct(void **state)
{
    odc_pool pool = {.bytes = BYTES};
    char *buffer[HELD];

    (void)state;
    for (int i = 0; i < HELD; i++) {
        buffer[i] = odc_pool_take(&pool);
        assert_non_null(buffer[i]);
        assert_int_equal((uintptr_t)buffer[i] % 64, 0);
        memset(buffer[i], i, BYTES);
    }
    for (int i = 0; i < HELD; i++)
        for (int at = 0; at < BYTES; at++)
            assert_int_equal(buffer[i][at], i);
    for (int i = 0; i < HELD; i++)
        odc_pool_give(&pool, buffer[i]);
    odc_pool_free(&pool);
}

static void buffers_are_used_again(void **state)
{
    odc_pool pool = {.bytes = BYTES};
    void *first, *second;

    (void)state;
    for (int round = 0; round < 100; round++) {
        first = odc_pool_take(&pool);
        second = odc_pool_take(&pool);
        assert_non_null(first);
        assert_non_null(second);
        assert_ptr_not_equal(first, second);
        odc_pool_give(&pool, round % 2 ? first : second);
        odc_pool_give(&pool, round % 2 ? second : first);
    }
    assert_int_equal(pool.buffers, 2);
    assert_int_equal(pool.idles, 2);
    odc_pool_free(&pool);
}

/* As many as were ever held at once, however they come and go. */
static void no_more_are_made_than_held(void **state)
{
    odc_pool pool = {.bytes = BYTES};
    void *held[HELD];
    size_t n = 0, most = 0;
    unsigned random = 7;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        random = random * 1103515245u + 12345u;
        if (n < HELD && (n == 0 || random >> 16 & 1)) {
            held[n++] = odc_pool_take(&pool);
            assert_non_null(held[n - 1]);
        } else
            odc_pool_give(&pool, held[--n]);
        most = n > most ? n : most;
        assert_int_equal(pool.buffers, most);
        assert_int_equal(pool.idles, most - n);
    }
    while (n)
        odc_pool_give(&pool, held[--n]);
    odc_pool_free(&pool);
}

static void a_freed_pool_can_be_used_again(void **state)
{
    odc_pool pool = {.bytes = BYTES};
    void *buffer;

    (void)state;
    odc_pool_free(&pool); /* nothing taken yet */
    assert_non_null(buffer = odc_pool_take(&pool));
    odc_pool_give(&pool, buffer);
    odc_pool_free(&pool);
    assert_int_equal(pool.bytes, BYTES);
    assert_int_equal(pool.buffers, 0);
    assert_non_null(buffer = odc_pool_take(&pool));
    memset(buffer, 1, BYTES);
    odc_pool_give(&pool, buffer);
    odc_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(buffers_are_aligned_and_distinct),
        cmocka_unit_test(buffers_are_used_again),
        cmocka_unit_test(no_more_are_made_than_held),
        cmocka_unit_test(a_freed_pool_can_be_used_again),
    };

    return cmocka_run_group_tests_name("pool", cases, NULL, NULL);
}
