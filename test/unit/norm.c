/* The norm of values that cannot be squared, and of those that are not finite. */
#include "../../src/norm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static double norm_of(const double *values, size_t count)
{
    odc_squares squares = {{0}};

    odc_squares_add_f64(&squares, values, count);
    return odc_squares_norm(&squares);
}

#define NORM(...)                                                                                  \
    norm_of((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void ordinary_values(void **state)
{
    const float f32[] = {3, -4, 12};
    odc_squares squares = {{0}};

    (void)state;
    assert_true(NORM(3, -4, 12) == 13);
    assert_true(norm_of(NULL, 0) == 0);
    odc_squares_add_f32(&squares, f32, 3);
    assert_true(odc_squares_norm(&squares) == 13);
}

static void extreme_values(void **state)
{
    (void)state;
    assert_true(fabs(NORM(3e200, 4e200) / 5e200 - 1) < 1e-15);
    assert_true(fabs(NORM(3e-200, -4e-200) / 5e-200 - 1) < 1e-15);
    assert_true(fabs(NORM(3e300, 1, 1e-300, 4e300) / 5e300 - 1) < 1e-15);
    assert_true(NORM(1, 1e-200) == 1);
    assert_true(NORM(0x1p-1074) == 0x1p-1074);
    assert_true(isinf(NORM(1.7e308, 1.7e308)));
}

/* What ranks bring is added up before the root is taken. */
static void sums_add_up(void **state)
{
    odc_squares squares = {{0}};
    const double one[] = {3e200}, other[] = {4e200, 7};

    (void)state;
    odc_squares_add_f64(&squares, one, 1);
    odc_squares_add_f64(&squares, other, 2);
    assert_true(fabs(odc_squares_norm(&squares) / 5e200 - 1) < 1e-15);
}

static void not_finite(void **state)
{
    const float f32[] = {1, INFINITY};
    odc_squares squares = {{0}};

    (void)state;
    assert_true(isnan(NORM(1, NAN, 2)));
    assert_true(isnan(NORM(1, INFINITY)));
    assert_true(isnan(NORM(-INFINITY, 1e300)));
    odc_squares_add_f32(&squares, f32, 2);
    assert_true(isnan(odc_squares_norm(&squares)));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(ordinary_values),
        cmocka_unit_test(extreme_values),
        cmocka_unit_test(sums_add_up),
        cmocka_unit_test(not_finite),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
