/* The groups of the model and where each tensor stands in its group. */
#ifndef TRAIN_LAYOUT_H
#define TRAIN_LAYOUT_H

#include "shape.h"

#include <stddef.h>

/** Tensors of a layer, in order. */
enum {
    BLOCK_NORM_ATTENTION, /**< width */
    BLOCK_QKV,            /**< qkv_width x width: queries, keys, values */
    BLOCK_PROJECTION,     /**< width x width */
    BLOCK_NORM_MLP,       /**< width */
    BLOCK_GATE_UP,        /**< 2 hidden x width: gates, ups */
    BLOCK_DOWN,           /**< width x hidden */
    BLOCK_TENSORS
};

/** Tensors of the group behind the last layer. */
enum {
    HEAD_NORM,   /**< width */
    HEAD_OUTPUT, /**< vocabulary x width; only if untied */
    HEAD_TENSORS
};

struct tensor {
    size_t first;
    size_t count;
    double deviation; /**< standard deviation of the first values; 0: a gain, which begins as 1 */
};

struct layout {
    char name[32];
    size_t count;
    int tensors;
    struct tensor tensor[BLOCK_TENSORS];
};

/** Groups of a model: embedding, layers, head. */
static inline int group_count(const struct shape *shape)
{
    return shape->layers + 2;
}

/** The layout of group 0 .. group_count() - 1. */
void layout_fill(const struct shape *shape, int group, struct layout *layout);

/** Gains do not decay, matrices do. */
static inline bool tensor_decays(const struct tensor *tensor)
{
    return tensor->deviation > 0;
}

#endif
