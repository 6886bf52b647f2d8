#include "head.h"

#include "linear.h"
#include "norm.h"

enum { ROWS = 128 };

/* Parts of the scratch, for up to ROWS tokens. */
struct part {
    real *logits;
    real *normed;
    real *dnormed;
    real *factor;
};

size_t head_scratch_count(const struct shape *shape)
{
    return (size_t)ROWS * (size_t)(VOCABULARY + 2 * shape->width + 1);
}

static struct part part_of(const struct shape *shape, real *scratch)
{
    size_t wide = (size_t)ROWS * (size_t)shape->width;
    struct part part = {.logits = scratch};
    part.normed = part.logits + (size_t)ROWS * VOCABULARY;
    part.dnormed = part.normed + wide;
    part.factor = part.dnormed + wide;
    return part;
}

static void logits_of(const struct shape *shape, int rows, const real *x,
                      const struct head_weights *weights, struct part part)
{
    struct linear size = {.rows = rows, .inputs = shape->width, .outputs = VOCABULARY};
    norm_forward(rows, shape->width, x, weights->gain, part.normed, part.factor);
    linear_forward(size, part.normed, weights->output, 0, part.logits);
}

const real *head_logits(const struct shape *shape, const real *x,
                        const struct head_weights *weights, real *scratch)
{
    struct part part = part_of(shape, scratch);
    logits_of(shape, 1, x, weights, part);
    return part.logits;
}

/* Logits become their gradients; returns the cross entropy. */
HOT_LOOP
static double cross_entropy_row(int target, real weight, real *logits)
{
    real top = logits[0], sum = 0, right = logits[target];
#pragma omp simd reduction(max : top)
    for (int i = 0; i < VOCABULARY; i++)
        top = logits[i] > top ? logits[i] : top;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < VOCABULARY; i++) {
        logits[i] = real_exp(logits[i] - top);
        sum += logits[i];
    }
    real factor = weight / sum;
#pragma omp simd
    for (int i = 0; i < VOCABULARY; i++)
        logits[i] *= factor;
    logits[target] -= weight;
    return log((double)sum) + (double)top - (double)right;
}

static double cross_entropy(int rows, const int *target, double weight, real *logits)
{
    double loss = 0;
    for (int t = 0; t < rows; t++, logits += VOCABULARY) {
        if (target[t] == NO_TARGET)
            memset(logits, 0, VOCABULARY * sizeof *logits);
        else
            loss += weight * cross_entropy_row(target[t], (real)weight, logits);
    }
    return loss;
}

static void part_backward(const struct shape *shape, int rows, const real *x,
                          const struct head_weights *weights, struct part part,
                          const struct head_gradient *gradient, real *dx)
{
    struct linear size = {.rows = rows, .inputs = shape->width, .outputs = VOCABULARY};
    linear_backward_input(size, part.logits, weights->output, 0, part.dnormed);
    linear_backward_weight(size, part.logits, part.normed, 1, gradient->output);
    memset(dx, 0, (size_t)rows * (size_t)shape->width * sizeof *dx);
    norm_backward(rows, shape->width, x, weights->gain, part.factor, part.dnormed, dx,
                  gradient->gain);
}

double head_loss(const struct shape *shape, const struct packed *packed, double weight,
                 const real *x, const struct head_weights *weights, real *scratch,
                 const struct head_gradient *gradient)
{
    struct part part = part_of(shape, scratch);
    double loss = 0;
    for (int first = 0; first < packed->tokens; first += ROWS) {
        int rows = packed->tokens - first < ROWS ? packed->tokens - first : ROWS;
        size_t at = (size_t)first * (size_t)shape->width;
        logits_of(shape, rows, x + at, weights, part);
        loss += cross_entropy(rows, packed->target + first, weight, part.logits);
        if (gradient)
            part_backward(shape, rows, x + at, weights, part, gradient, gradient->dx + at);
    }
    return loss;
}
