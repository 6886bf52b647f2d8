#include "layout.h"

#include <math.h>
#include <stdio.h>

static void add_tensor(struct layout *layout, int rows, int columns, double deviation)
{
    struct tensor *tensor = &layout->tensor[layout->tensors++];
    tensor->first = layout->count;
    tensor->count = (size_t)rows * (size_t)columns;
    tensor->deviation = deviation;
    layout->count += tensor->count;
}

static void add_block(const struct shape *shape, struct layout *layout)
{
    double in = 1 / sqrt(shape->width), depth = sqrt(2.0 * shape->layers);
    add_tensor(layout, 1, shape->width, 0);
    add_tensor(layout, qkv_width(shape), shape->width, in);
    add_tensor(layout, shape->width, shape->width, in / depth);
    add_tensor(layout, 1, shape->width, 0);
    add_tensor(layout, 2 * shape->hidden, shape->width, in);
    add_tensor(layout, shape->width, shape->hidden, 1 / sqrt(shape->hidden) / depth);
}

/* Large enough to stand out beside what the layers add, small enough for logits of about 1. */
static double token_deviation(const struct shape *shape)
{
    return 1.5 / sqrt(shape->width);
}

void layout_fill(const struct shape *shape, int group, struct layout *layout)
{
    *layout = (struct layout){0};
    if (group == 0) {
        snprintf(layout->name, sizeof layout->name, "embed");
        add_tensor(layout, VOCABULARY, shape->width, token_deviation(shape));
    } else if (group <= shape->layers) {
        snprintf(layout->name, sizeof layout->name, "layer.%d", group - 1);
        add_block(shape, layout);
    } else {
        snprintf(layout->name, sizeof layout->name, "head");
        add_tensor(layout, 1, shape->width, 0);
        if (shape->untied)
            add_tensor(layout, VOCABULARY, shape->width, token_deviation(shape));
    }
}
