/* The shape of the model and of the microbatch that goes through it. */
#ifndef TRAIN_SHAPE_H
#define TRAIN_SHAPE_H

#include <stdbool.h>

/** 256 bytes and one token that stands before each text and is predicted behind it. */
enum { VOCABULARY = 257, BOUNDARY = 256 };

/** A target that does not count. */
enum { NO_TARGET = -1 };

struct shape {
    int layers;
    int width;
    int heads;    /**< query heads; each has width / heads elements, an even number */
    int kv_heads; /**< key and value heads, a divisor of `heads` */
    int hidden;   /**< width of the SwiGLU layer */
    int context;  /**< most tokens of one text */
    bool untied;  /**< the output matrix is not the embedding */
};

static inline int head_size(const struct shape *shape)
{
    return shape->width / shape->heads;
}

/** Width of one token's queries, keys and values, which stand behind each other in a row. */
static inline int qkv_width(const struct shape *shape)
{
    return (shape->heads + 2 * shape->kv_heads) * head_size(shape);
}

/** Texts behind each other, without padding; text i is the tokens [start[i], start[i + 1]). */
struct packed {
    int texts;
    int tokens;
    const int *start;  /**< texts + 1 */
    const int *input;  /**< tokens: 0 .. VOCABULARY - 1 */
    const int *target; /**< tokens: what follows, or NO_TARGET */
};

#endif
