/* The order of samples, their packing into microbatches, random numbers, AdamW. */
#include "adamw.h"
#include "batch.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SAMPLES = 200, CAP = 100 };

static void each_epoch_has_each_sample_once(void **state)
{
    (void)state;
    struct order order;
    size_t epoch[2][SAMPLES];
    assert_int_equal(order_init(&order, SAMPLES, 1), 0);
    for (int e = 0; e < 2; e++) {
        int seen[SAMPLES] = {0};
        for (size_t i = 0; i < SAMPLES; i++) {
            epoch[e][i] = order_at(&order, (uint64_t)e * SAMPLES + i);
            assert_true(epoch[e][i] < SAMPLES);
            assert_int_equal(seen[epoch[e][i]]++, 0);
        }
    }
    assert_memory_not_equal(epoch[0], epoch[1], sizeof epoch[0]);
    assert_int_equal(order_at(&order, 0), epoch[0][0]);
    order_free(&order);
}

static void order_depends_on_the_seed_only(void **state)
{
    (void)state;
    struct order one, same, other;
    size_t differ = 0;
    assert_int_equal(order_init(&one, SAMPLES, 1), 0);
    assert_int_equal(order_init(&same, SAMPLES, 1), 0);
    assert_int_equal(order_init(&other, SAMPLES, 2), 0);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        assert_int_equal(order_at(&one, i), order_at(&same, i));
        differ += order_at(&one, i) != order_at(&other, i);
    }
    assert_true(differ > SAMPLES / 2);
    order_free(&one);
    order_free(&same);
    order_free(&other);
}

static void make_samples(struct sample *sample, const struct sample **chosen)
{
    for (int i = 0; i < SAMPLES; i++) {
        int tokens = 1 + (int)(random_bits(5, 0, (uint64_t)i) % CAP);
        sample[i] = (struct sample){.tokens = tokens, .prompt = i % 2 ? 0 : tokens / 2};
        chosen[i] = &sample[i];
    }
}

static int tokens_in(const struct packing *packing, int microbatch)
{
    int tokens = 0;
    for (int k = packing->first[microbatch]; k < packing->first[microbatch + 1]; k++)
        tokens += packing->sample[k]->tokens;
    return tokens;
}

static void packing_keeps_each_sample_under_the_cap(void **state)
{
    (void)state;
    struct sample sample[SAMPLES];
    const struct sample *chosen[SAMPLES];
    struct packing packing;
    int seen[SAMPLES] = {0}, tokens = 0;
    long targets = 0;
    make_samples(sample, chosen);
    assert_int_equal(packing_init(&packing, SAMPLES), 0);
    packing_make(&packing, chosen, SAMPLES, CAP);
    for (int i = 0; i < packing.microbatches; i++) {
        assert_in_range(tokens_in(&packing, i), 1, CAP);
        tokens += tokens_in(&packing, i);
        assert_true(tokens_in(&packing, 0) >= tokens_in(&packing, i) / 2);
    }
    for (int k = 0; k < SAMPLES; k++) {
        assert_int_equal(seen[packing.sample[k] - sample]++, 0);
        targets += target_count(&sample[k]);
    }
    assert_int_equal(packing.first[packing.microbatches], SAMPLES);
    assert_int_equal(packing.targets, targets);
    /* first-fit decreasing needs at most 11/9 of the least number and 2/3 more */
    assert_true(packing.microbatches <= 11.0 / 9 * ceil((double)tokens / CAP) + 1 + 5);
    packing_free(&packing);
}

static void packing_may_hold_a_sample_twice(void **state)
{
    (void)state;
    struct sample sample = {.tokens = 60};
    const struct sample *chosen[2] = {&sample, &sample};
    struct packing packing;
    assert_int_equal(packing_init(&packing, 2), 0);
    packing_make(&packing, chosen, 2, CAP);
    assert_int_equal(packing.microbatches, 2);
    packing_make(&packing, chosen, 2, 2 * CAP);
    assert_int_equal(packing.microbatches, 1);
    packing_free(&packing);
}

/* "ab" as it is, "xyz" behind the prompt "x", "long" cut to two tokens. */
static void tokens_of_a_microbatch(void **state)
{
    (void)state;
    static const int input[] = {BOUNDARY, 'x', 'y', 'z', BOUNDARY, 'a', 'b', BOUNDARY, 'l'};
    static const int target[] = {NO_TARGET, 'y', 'z', BOUNDARY, 'a', 'b', BOUNDARY, 'l', 'o'};
    static const int start[] = {0, 4, 7, 9};
    struct sample sample[] = {
        {.bytes = (const unsigned char *)"ab", .length = 2, .tokens = 3},
        {.bytes = (const unsigned char *)"xyz", .length = 3, .tokens = 4, .prompt = 1},
        {.bytes = (const unsigned char *)"long", .length = 4, .tokens = 2}};
    const struct sample *chosen[] = {&sample[0], &sample[1], &sample[2]};
    struct packing packing;
    struct tokens tokens;
    assert_int_equal(packing_init(&packing, 3), 0);
    assert_int_equal(tokens_init(&tokens, CAP), 0);
    packing_make(&packing, chosen, 3, CAP);
    struct packed packed = tokens_fill(&tokens, &packing, 0);
    assert_int_equal(packed.texts, 3);
    assert_int_equal(packed.tokens, 9);
    assert_memory_equal(packed.start, start, sizeof start);
    assert_memory_equal(packed.input, input, sizeof input);
    assert_memory_equal(packed.target, target, sizeof target);
    tokens_free(&tokens);
    packing_free(&packing);
}

static void random_numbers_are_normal(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    double sum = 0, squares = 0, uniform = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = random_normal(1, STREAM_WEIGHTS + 3, i);
        double u = random_uniform(1, STREAM_SAMPLE, i);
        assert_true(u > 0 && u < 1);
        sum += x;
        squares += x * x;
        uniform += u;
    }
    assert_true(fabs(sum / DRAWS) < 0.02);
    assert_true(fabs(squares / DRAWS - 1) < 0.02);
    assert_true(fabs(uniform / DRAWS - 0.5) < 0.005);
}

/* Two steps of the textbook formula in double precision, whole and in shards. */
static void adamw_is_the_textbook_formula(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    struct layout layout = {.count = COUNT, .tensors = 2};
    layout.tensor[0] = (struct tensor){.first = 0, .count = 4, .deviation = 0};
    layout.tensor[1] = (struct tensor){.first = 4, .count = 6, .deviation = 1};
    float value[COUNT], gradient[COUNT], mean[COUNT] = {0}, square[COUNT] = {0};
    double expected[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        expected[i] = value[i] = (float)i - 4.5f;
    for (long step = 1; step <= 2; step++) {
        for (int i = 0; i < COUNT; i++) {
            double g = gradient[i] = (float)((i * 7 + step * 3) % 11) - 5;
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.95 * v[i] + 0.05 * g * g;
            double decay = i < 4 ? 0 : 0.1 * expected[i];
            double size = sqrt(v[i] / (1 - pow(0.95, (double)step))) + 1e-8;
            expected[i] -= 0.01 * (m[i] / (1 - pow(0.9, (double)step)) / size + decay);
        }
        for (size_t first = 0; first < COUNT; first += 3) {
            struct shard shard = {.first = first,
                                  .count = COUNT - first < 3 ? COUNT - first : 3,
                                  .value = value + first,
                                  .gradient = gradient + first,
                                  .mean = mean + first,
                                  .square = square + first};
            adamw_update(&layout, &shard, 0.01, step);
        }
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)value[i] - expected[i]) < 1e-6 * (1 + fabs(expected[i])));
}

static void learning_rate_rises_and_falls(void **state)
{
    (void)state;
    assert_true(learning_rate(1, 1, 100) == 0.2);
    assert_true(learning_rate(1, 5, 100) == 1);
    assert_true(fabs(learning_rate(1, 100, 100) - 0.1) < 1e-12);
    assert_true(learning_rate(1, 1, 1) == 1);
    for (long step = 6; step <= 100; step++)
        assert_true(learning_rate(1, step, 100) < learning_rate(1, step - 1, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_epoch_has_each_sample_once),
        cmocka_unit_test(order_depends_on_the_seed_only),
        cmocka_unit_test(packing_keeps_each_sample_under_the_cap),
        cmocka_unit_test(packing_may_hold_a_sample_twice),
        cmocka_unit_test(tokens_of_a_microbatch),
        cmocka_unit_test(random_numbers_are_normal),
        cmocka_unit_test(adamw_is_the_textbook_formula),
        cmocka_unit_test(learning_rate_rises_and_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
