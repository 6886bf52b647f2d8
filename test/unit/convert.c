/* Conversion and addition of all pairs of types, at every length around a vector's. */
#include "../../src/convert.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define MOST 131
#define GUARD 77.0

static const odcomm_dtype types[] = {ODCOMM_F32, ODCOMM_F64};

/* A vector of either type, with a guard behind it. */
union vector {
    float f32[MOST + 1];
    double f64[MOST + 1];
};

static double get(const union vector *vector, odcomm_dtype type, size_t i)
{
    return type == ODCOMM_F32 ? (double)vector->f32[i] : vector->f64[i];
}

static void set(union vector *vector, odcomm_dtype type, size_t i, double value)
{
    if (type == ODCOMM_F32)
        vector->f32[i] = (float)value;
    else
        vector->f64[i] = value;
}

/* Whole numbers that a float holds, of both signs. */
static double whole(size_t i)
{
    return (i % 2 ? -1.0 : 1.0) * (double)(i * 100003 % (1 << 24));
}

static void check_pair(odcomm_dtype to, odcomm_dtype from, size_t n)
{
    union vector into, values;

    for (size_t i = 0; i <= n; i++) {
        set(&values, from, i, whole(i));
        set(&into, to, i, GUARD);
    }
    odc_convert(&into, to, &values, from, n);
    for (size_t i = 0; i < n; i++)
        assert_true(get(&into, to, i) == whole(i));
    assert_true(get(&into, to, n) == GUARD);

    for (size_t i = 0; i < n; i++) {
        set(&values, from, i, (double)(i + 1));
        set(&into, to, i, 1000.0 * (double)i);
    }
    odc_add(&into, to, &values, from, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(get(&into, to, i) == 1001.0 * (double)i + 1.0);
        assert_true(get(&values, from, i) == (double)(i + 1));
    }
    assert_true(get(&into, to, n) == GUARD);
}

static void whole_numbers_are_exact_at_any_length(void **state)
{
    (void)state;
    for (size_t n = 0; n <= MOST; n++)
        for (size_t to = 0; to < 2; to++)
            for (size_t from = 0; from < 2; from++)
                check_pair(types[to], types[from], n);
}

/* What the caller hands over is aligned to its elements only. */
static void vectors_may_begin_anywhere(void **state)
{
    union vector into, values;

    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        values.f64[i] = (double)i;
        into.f32[i] = 0;
    }
    odc_add(into.f32 + 1, ODCOMM_F32, values.f64 + 1, ODCOMM_F64, MOST - 2);
    assert_true(into.f32[0] == 0 && into.f32[MOST - 1] == 0);
    for (size_t i = 1; i < MOST - 1; i++)
        assert_true(into.f32[i] == (float)i);
}

static void too_large_for_a_float_is_infinite(void **state)
{
    const double values[] = {1e39, -1e39, DBL_MAX, (double)FLT_MAX, 2.0 * (double)FLT_MAX};
    float into[5];

    (void)state;
    odc_convert(into, ODCOMM_F32, values, ODCOMM_F64, 5);
    assert_true(isinf(into[0]) && into[0] > 0);
    assert_true(isinf(into[1]) && into[1] < 0);
    assert_true(isinf(into[2]) && into[2] > 0);
    assert_true(into[3] == FLT_MAX);
    assert_true(isinf(into[4]));

    for (int i = 0; i < 5; i++)
        into[i] = 1;
    odc_add(into, ODCOMM_F32, values, ODCOMM_F64, 5);
    assert_true(isinf(into[0]) && isinf(into[1]) && isinf(into[2]) && isinf(into[4]));
    assert_true(into[3] == FLT_MAX); /* 1 is less than half a unit of it */
}

static void not_a_number_stays(void **state)
{
    (void)state;
    for (size_t to = 0; to < 2; to++)
        for (size_t from = 0; from < 2; from++) {
            union vector into, values;
            for (size_t i = 0; i < 9; i++) {
                set(&values, types[from], i, i == 4 ? NAN : i == 7 ? INFINITY : 1.0);
                set(&into, types[to], i, 0);
            }
            odc_convert(&into, types[to], &values, types[from], 9);
            for (size_t i = 0; i < 9; i++) {
                double value = get(&into, types[to], i);
                assert_true(i == 4 ? isnan(value) : i == 7 ? isinf(value) != 0 : value == 1.0);
                set(&into, types[to], i, 1.0);
            }
            odc_add(&into, types[to], &values, types[from], 9);
            for (size_t i = 0; i < 9; i++) {
                double value = get(&into, types[to], i);
                assert_true(i == 4 ? isnan(value) : i == 7 ? isinf(value) != 0 : value == 2.0);
            }
        }
}

/* Signed zeros and numbers below the normal ones are numbers too. */
static void small_numbers_are_kept(void **state)
{
    const float values[] = {-0.0f, FLT_MIN / 2, -FLT_MIN / 1024};
    double into[3];
    float back[3];

    (void)state;
    odc_convert(into, ODCOMM_F64, values, ODCOMM_F32, 3);
    odc_convert(back, ODCOMM_F32, into, ODCOMM_F64, 3);
    assert_memory_equal(back, values, sizeof values);
    assert_true(into[1] == (double)FLT_MIN / 2);
}

static void the_group_s_precision_counts(void **state)
{
    double wide = 1.0, small = 1e-12;
    float narrow = 1.0f;

    (void)state;
    odc_add(&wide, ODCOMM_F64, &small, ODCOMM_F64, 1);
    assert_true(wide == 1.0 + 1e-12);
    odc_add(&narrow, ODCOMM_F32, &small, ODCOMM_F64, 1);
    assert_true(narrow == 1.0f);
}

static void types_have_sizes_and_names(void **state)
{
    (void)state;
    assert_int_equal(odc_dtype_size(ODCOMM_F32), sizeof(float));
    assert_int_equal(odc_dtype_size(ODCOMM_F64), sizeof(double));
    assert_int_equal(odc_dtype_size(ODCOMM_BF16), 2);
    assert_int_equal(odc_dtype_size(ODCOMM_F16), 2);
    assert_string_equal(odc_dtype_name(ODCOMM_F32), "F32");
    assert_string_equal(odc_dtype_name(ODCOMM_F64), "F64");
    assert_string_equal(odc_dtype_name(ODCOMM_BF16), "BF16");
    assert_string_equal(odc_dtype_name(ODCOMM_F16), "F16");
    for (int type = -3; type < 9; type++)
        assert_int_equal(odc_dtype_valid((odcomm_dtype)type), type >= 0 && type <= ODCOMM_F16);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(whole_numbers_are_exact_at_any_length),
        cmocka_unit_test(vectors_may_begin_anywhere),
        cmocka_unit_test(too_large_for_a_float_is_infinite),
        cmocka_unit_test(not_a_number_stays),
        cmocka_unit_test(small_numbers_are_kept),
        cmocka_unit_test(the_group_s_precision_counts),
        cmocka_unit_test(types_have_sizes_and_names),
    };

    return cmocka_run_group_tests_name("convert", cases, NULL, NULL);
}
