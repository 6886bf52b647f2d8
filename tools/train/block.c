#include "block.h"

#include "attention.h"
#include "linear.h"
#include "norm.h"
#include "rope.h"
#include "swiglu.h"

static struct linear product(const struct packed *packed, int inputs, int outputs)
{
    return (struct linear){.rows = packed->tokens, .inputs = inputs, .outputs = outputs};
}

static void copy_rows(const struct packed *packed, int width, const real *from, real *to)
{
    memcpy(to, from, (size_t)packed->tokens * (size_t)width * sizeof *to);
}

void block_forward(const struct shape *shape, const struct layout *layout,
                   const struct packed *packed, const real *weights, struct activations *keep,
                   struct scratch *scratch, real *out)
{
    int tokens = packed->tokens, width = shape->width, hidden = shape->hidden;
    const struct tensor *at = layout->tensor;

    norm_forward(tokens, width, keep->x, weights + at[BLOCK_NORM_ATTENTION].first,
                 keep->normed_attention, keep->factor_attention);
    linear_forward(product(packed, width, qkv_width(shape)), keep->normed_attention,
                   weights + at[BLOCK_QKV].first, 0, keep->qkv);
    rope_turn(shape, packed, scratch->rope, 1, keep->qkv);
    attention_forward(shape, packed, keep->qkv, keep->attended, keep->log_sum, scratch->attention);
    copy_rows(packed, width, keep->x, keep->middle);
    linear_forward(product(packed, width, width), keep->attended,
                   weights + at[BLOCK_PROJECTION].first, 1, keep->middle);

    norm_forward(tokens, width, keep->middle, weights + at[BLOCK_NORM_MLP].first, keep->normed_mlp,
                 keep->factor_mlp);
    linear_forward(product(packed, width, 2 * hidden), keep->normed_mlp,
                   weights + at[BLOCK_GATE_UP].first, 0, keep->gate_up);
    swiglu_forward(tokens, hidden, keep->gate_up, keep->hidden);
    copy_rows(packed, width, keep->middle, out);
    linear_forward(product(packed, hidden, width), keep->hidden, weights + at[BLOCK_DOWN].first, 1,
                   out);
}

static void mlp_backward(const struct shape *shape, const struct tensor *at,
                         const struct packed *packed, const real *weights,
                         const struct activations *keep, struct scratch *scratch, real *dx,
                         real *gradient)
{
    int width = shape->width, hidden = shape->hidden;
    struct linear down = product(packed, hidden, width);
    struct linear gate_up = product(packed, width, 2 * hidden);

    linear_backward_input(down, dx, weights + at[BLOCK_DOWN].first, 0, scratch->hidden);
    linear_backward_weight(down, dx, keep->hidden, 0, gradient + at[BLOCK_DOWN].first);
    swiglu_backward(packed->tokens, hidden, keep->gate_up, scratch->hidden, scratch->gate_up);
    linear_backward_input(gate_up, scratch->gate_up, weights + at[BLOCK_GATE_UP].first, 0,
                          scratch->normed);
    linear_backward_weight(gate_up, scratch->gate_up, keep->normed_mlp, 0,
                           gradient + at[BLOCK_GATE_UP].first);
    norm_backward(packed->tokens, width, keep->middle, weights + at[BLOCK_NORM_MLP].first,
                  keep->factor_mlp, scratch->normed, dx, gradient + at[BLOCK_NORM_MLP].first);
}

static void attention_part_backward(const struct shape *shape, const struct tensor *at,
                                    const struct packed *packed, const real *weights,
                                    const struct activations *keep, struct scratch *scratch,
                                    real *dx, real *gradient)
{
    int width = shape->width;
    struct linear projection = product(packed, width, width);
    struct linear qkv = product(packed, width, qkv_width(shape));

    linear_backward_input(projection, dx, weights + at[BLOCK_PROJECTION].first, 0,
                          scratch->attended);
    linear_backward_weight(projection, dx, keep->attended, 0,
                           gradient + at[BLOCK_PROJECTION].first);
    attention_backward(shape, packed, keep->qkv, keep->attended, keep->log_sum, scratch->attended,
                       scratch->qkv, scratch->attention);
    rope_turn(shape, packed, scratch->rope, -1, scratch->qkv);
    linear_backward_input(qkv, scratch->qkv, weights + at[BLOCK_QKV].first, 0, scratch->normed);
    linear_backward_weight(qkv, scratch->qkv, keep->normed_attention, 0,
                           gradient + at[BLOCK_QKV].first);
    norm_backward(packed->tokens, width, keep->x, weights + at[BLOCK_NORM_ATTENTION].first,
                  keep->factor_attention, scratch->normed, dx,
                  gradient + at[BLOCK_NORM_ATTENTION].first);
}

void block_backward(const struct shape *shape, const struct layout *layout,
                    const struct packed *packed, const real *weights,
                    const struct activations *keep, struct scratch *scratch, real *dx,
                    real *gradient)
{
    const struct tensor *at = layout->tensor;
    size_t gain = (size_t)shape->width * sizeof *gradient;
    memset(gradient + at[BLOCK_NORM_ATTENTION].first, 0, gain);
    memset(gradient + at[BLOCK_NORM_MLP].first, 0, gain);
    mlp_backward(shape, at, packed, weights, keep, scratch, dx, gradient);
    attention_part_backward(shape, at, packed, weights, keep, scratch, dx, gradient);
}
