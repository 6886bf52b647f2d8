/*
 * Every gradient of odcomm-train's model against central finite differences. The arithmetic is
 * compiled in double precision (REAL_DOUBLE), so that both agree to about nine digits.
 */
#include "block.h"
#include "embedding.h"
#include "head.h"
#include "weights.h"
#include "workspace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static const double tolerance = 1e-6;
static const double difference = 1e-5;

/* Texts of 5, 1 and 70 tokens (more than attention's block of queries) and one of 4. */
enum { TOKENS = 80, TEXTS = 4 };
static const int starts[TEXTS + 1] = {0, 5, 6, 76, TOKENS};

struct model {
    struct shape shape;
    struct workspace workspace;
    struct packed packed;
    int input[TOKENS];
    int target[TOKENS];
    struct layout *layout;
    real **weights;
    real **gradient;
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

/* The first three tokens of the long text are a prompt, the single token has no target. */
static void make_tokens(struct model *model)
{
    for (int t = 0; t < TOKENS; t++) {
        model->input[t] = (t * 37 + 11) % 23;
        model->target[t] = (t * 53 + 7) % 29;
    }
    for (int text = 0; text < TEXTS; text++)
        model->input[starts[text]] = BOUNDARY;
    model->target[TOKENS - 1] = BOUNDARY;
    model->target[5] = NO_TARGET;
    for (int t = 6; t < 9; t++)
        model->target[t] = NO_TARGET;
    model->packed = (struct packed){.texts = TEXTS,
                                    .tokens = TOKENS,
                                    .start = starts,
                                    .input = model->input,
                                    .target = model->target};
}

static void make_model(struct model *model, bool untied)
{
    model->shape = (struct shape){.layers = 2,
                                  .width = 8,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .hidden = 6,
                                  .context = 70,
                                  .untied = untied};
    int groups = group_count(&model->shape);
    make_tokens(model);
    assert_int_equal(workspace_init(&model->workspace, &model->shape, TOKENS), 0);
    model->layout = allocate((size_t)groups, sizeof *model->layout);
    model->weights = allocate((size_t)groups, sizeof *model->weights);
    model->gradient = allocate((size_t)groups, sizeof *model->gradient);
    for (int g = 0; g < groups; g++) {
        struct layout *layout = &model->layout[g];
        layout_fill(&model->shape, g, layout);
        for (int k = 0; k < layout->tensors; k++) /* nothing may be small by chance */
            layout->tensor[k].deviation = 0.5;
        model->weights[g] = allocate(layout->count, sizeof(real));
        model->gradient[g] = allocate(layout->count, sizeof(real));
        weights_init(layout, g, 7, 0, layout->count, model->weights[g]);
    }
}

static void free_model(struct model *model)
{
    for (int g = 0; g < group_count(&model->shape); g++) {
        free(model->weights[g]);
        free(model->gradient[g]);
    }
    free(model->weights);
    free(model->gradient);
    free(model->layout);
    workspace_free(&model->workspace);
}

static real *output_of(const struct model *model, real *const *group)
{
    int head = group_count(&model->shape) - 1;
    return model->shape.untied ? group[head] + model->layout[head].tensor[HEAD_OUTPUT].first
                               : group[0];
}

static double loss_of(struct model *model, const struct head_gradient *gradient)
{
    struct shape *shape = &model->shape;
    struct workspace *w = &model->workspace;
    struct head_weights head = {.gain = model->weights[shape->layers + 1],
                                .output = output_of(model, model->weights)};
    embedding_forward(&model->packed, shape->width, model->weights[0], w->layer[0].x);
    for (int l = 0; l < shape->layers; l++)
        block_forward(shape, &model->layout[l + 1], &model->packed, model->weights[l + 1],
                      &w->layer[l], &w->scratch,
                      l + 1 < shape->layers ? w->layer[l + 1].x : w->top);
    return head_loss(shape, &model->packed, 1.0 / 50, w->top, &head, w->head, gradient);
}

static double backward(struct model *model)
{
    struct shape *shape = &model->shape;
    struct workspace *w = &model->workspace;
    struct head_gradient head = {.gain = model->gradient[shape->layers + 1],
                                 .output = output_of(model, model->gradient),
                                 .dx = w->dx};
    double loss = loss_of(model, &head);
    for (int l = shape->layers - 1; l >= 0; l--)
        block_backward(shape, &model->layout[l + 1], &model->packed, model->weights[l + 1],
                       &w->layer[l], &w->scratch, w->dx, model->gradient[l + 1]);
    embedding_backward(&model->packed, shape->width, w->dx, model->gradient[0]);
    return loss;
}

static void check_element(struct model *model, int group, size_t element, double *largest)
{
    real *weight = &model->weights[group][element], before = *weight;
    *weight = before + difference;
    double above = loss_of(model, NULL);
    *weight = before - difference;
    double below = loss_of(model, NULL);
    *weight = before;
    double expected = (above - below) / (2 * difference);
    double found = model->gradient[group][element];
    double error = fabs(found - expected) / (1e-2 + fabs(expected));
    *largest = fabs(found) > *largest ? fabs(found) : *largest;
    if (!(error < tolerance))
        fail_msg("%s[%zu]: gradient %.12g, finite difference %.12g", model->layout[group].name,
                 element, found, expected);
}

static void check_gradients(bool untied)
{
    struct model model;
    make_model(&model, untied);
    double loss = backward(&model);
    assert_true(loss > 1 && loss < 100);
    for (int g = 0; g < group_count(&model.shape); g++) {
        double largest = 0;
        for (size_t i = 0; i < model.layout[g].count; i++)
            check_element(&model, g, i, &largest);
        assert_true(largest > 1e-3);
    }
    free_model(&model);
}

static void gradients_tied(void **state)
{
    (void)state;
    check_gradients(false);
}

static void gradients_untied(void **state)
{
    (void)state;
    check_gradients(true);
}

/* Another text's tokens must not change a text's loss: the sum over texts is the packed loss. */
static void texts_do_not_attend_to_each_other(void **state)
{
    (void)state;
    struct model model;
    make_model(&model, false);
    double packed = loss_of(&model, NULL), separate = 0;
    for (int text = 0; text < TEXTS; text++) {
        int start[2] = {0, starts[text + 1] - starts[text]};
        model.packed = (struct packed){.texts = 1,
                                       .tokens = start[1],
                                       .start = start,
                                       .input = model.input + starts[text],
                                       .target = model.target + starts[text]};
        separate += loss_of(&model, NULL);
    }
    assert_true(fabs(packed - separate) < 1e-12 * fabs(packed));
    free_model(&model);
}

/* A later token must not change what stands before it. */
static void attention_is_causal(void **state)
{
    (void)state;
    struct model model;
    make_model(&model, false);
    size_t before = 70 * 8 * sizeof(real);
    real *first = allocate(1, before);
    loss_of(&model, NULL);
    memcpy(first, model.workspace.top, before);
    model.input[70] = 200;
    loss_of(&model, NULL);
    assert_memory_equal(first, model.workspace.top, before);
    free(first);
    free_model(&model);
}

/* An empty microbatch writes zero over whatever the gradient was. */
static void empty_microbatch_has_no_gradient(void **state)
{
    (void)state;
    static const int start[1] = {0};
    struct model model;
    make_model(&model, false);
    backward(&model);
    memset(model.gradient[0], 0, model.layout[0].count * sizeof(real));
    memset(model.gradient[3], 0, model.layout[3].count * sizeof(real));
    model.packed = (struct packed){.start = start};
    assert_true(backward(&model) == 0);
    for (int g = 0; g < group_count(&model.shape); g++)
        for (size_t i = 0; i < model.layout[g].count; i++)
            assert_true(model.gradient[g][i] == 0);
    free_model(&model);
}

/* Any cut into shards gives the same first values. */
static void first_values_do_not_depend_on_shards(void **state)
{
    (void)state;
    struct shape shape = {.layers = 1, .width = 8, .heads = 2, .kv_heads = 1, .hidden = 6};
    struct layout layout;
    layout_fill(&shape, 1, &layout);
    real *whole = allocate(layout.count, sizeof *whole);
    real *pieces = allocate(layout.count, sizeof *pieces);
    weights_init(&layout, 1, 3, 0, layout.count, whole);
    for (size_t first = 0; first < layout.count; first += 7) {
        size_t count = layout.count - first < 7 ? layout.count - first : 7;
        weights_init(&layout, 1, 3, first, count, pieces + first);
    }
    assert_memory_equal(whole, pieces, layout.count * sizeof *whole);
    free(whole);
    free(pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_tied),
        cmocka_unit_test(gradients_untied),
        cmocka_unit_test(texts_do_not_attend_to_each_other),
        cmocka_unit_test(attention_is_causal),
        cmocka_unit_test(empty_microbatch_has_no_gradient),
        cmocka_unit_test(first_values_do_not_depend_on_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
