/* One layer: x + attention(norm(x)), then x + mlp(norm(x)). Pure arithmetic, no communication. */
#ifndef TRAIN_BLOCK_H
#define TRAIN_BLOCK_H

#include "layout.h"
#include "real.h"

/** What the forward pass of a layer leaves for the backward pass; one row a token. */
struct activations {
    real *x; /**< input of the layer */
    real *factor_attention;
    real *normed_attention;
    real *qkv;
    real *attended;
    real *log_sum;
    real *middle; /**< behind the attention's residual */
    real *factor_mlp;
    real *normed_mlp;
    real *gate_up;
    real *hidden;
};

/** Memory that all layers use in turn. */
struct scratch {
    real *rope;      /**< table, see rope.h */
    real *attention; /**< see attention.h */
    real *normed;    /**< tokens x width */
    real *attended;  /**< tokens x width */
    real *qkv;       /**< tokens x qkv_width */
    real *gate_up;   /**< tokens x 2 hidden */
    real *hidden;    /**< tokens x hidden */
};

/** Reads keep->x and the weights of one layer, fills the rest of `keep`, writes `out`. */
void block_forward(const struct shape *shape, const struct layout *layout,
                   const struct packed *packed, const real *weights, struct activations *keep,
                   struct scratch *scratch, real *out);

/** Turns dx from the gradient of the output into that of the input; writes `gradient`. */
void block_backward(const struct shape *shape, const struct layout *layout,
                    const struct packed *packed, const real *weights,
                    const struct activations *keep, struct scratch *scratch, real *dx,
                    real *gradient);

#endif
