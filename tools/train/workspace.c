#include "workspace.h"

#include "attention.h"
#include "head.h"
#include "rope.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* Memory dealt out piece by piece; without a base it only counts. */
struct dealer {
    char *base;
    size_t used;
};

static real *deal(struct dealer *dealer, size_t count)
{
    size_t at = dealer->used;
    dealer->used += (count * sizeof(real) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return dealer->base ? (real *)(void *)(dealer->base + at) : NULL;
}

static void deal_layer(struct dealer *dealer, const struct shape *shape, size_t tokens,
                       struct activations *layer)
{
    size_t wide = tokens * (size_t)shape->width;
    layer->x = deal(dealer, wide);
    layer->factor_attention = deal(dealer, tokens);
    layer->normed_attention = deal(dealer, wide);
    layer->qkv = deal(dealer, tokens * (size_t)qkv_width(shape));
    layer->attended = deal(dealer, wide);
    layer->log_sum = deal(dealer, tokens * (size_t)shape->heads);
    layer->middle = deal(dealer, wide);
    layer->factor_mlp = deal(dealer, tokens);
    layer->normed_mlp = deal(dealer, wide);
    layer->gate_up = deal(dealer, tokens * 2 * (size_t)shape->hidden);
    layer->hidden = deal(dealer, tokens * (size_t)shape->hidden);
}

static size_t largest_group(const struct shape *shape)
{
    size_t largest = 0;
    for (int group = 0; group < group_count(shape); group++) {
        struct layout layout;
        layout_fill(shape, group, &layout);
        largest = layout.count > largest ? layout.count : largest;
    }
    return largest;
}

static void deal_all(struct dealer *dealer, const struct shape *shape, size_t tokens,
                     struct workspace *workspace)
{
    size_t wide = tokens * (size_t)shape->width;
    struct scratch *scratch = &workspace->scratch;
    for (int l = 0; l < shape->layers; l++)
        deal_layer(dealer, shape, tokens, &workspace->layer[l]);
    workspace->top = deal(dealer, wide);
    workspace->dx = deal(dealer, wide);
    scratch->rope = deal(dealer, rope_table_count(shape));
    scratch->attention = deal(dealer, attention_scratch_count(shape));
    scratch->normed = deal(dealer, wide);
    scratch->attended = deal(dealer, wide);
    scratch->qkv = deal(dealer, tokens * (size_t)qkv_width(shape));
    scratch->gate_up = deal(dealer, tokens * 2 * (size_t)shape->hidden);
    scratch->hidden = deal(dealer, tokens * (size_t)shape->hidden);
    workspace->head = deal(dealer, head_scratch_count(shape));
    workspace->gradient = deal(dealer, largest_group(shape));
    workspace->embedding_gradient = deal(dealer, VOCABULARY * (size_t)shape->width);
}

int workspace_init(struct workspace *workspace, const struct shape *shape, int tokens)
{
    struct dealer dealer = {0};
    *workspace = (struct workspace){0};
    workspace->layer = calloc((size_t)shape->layers, sizeof *workspace->layer);
    if (!workspace->layer)
        return -1;
    deal_all(&dealer, shape, (size_t)tokens, workspace);
    dealer.base = workspace->memory = aligned_alloc(ALIGNMENT, dealer.used);
    if (!dealer.base) {
        workspace_free(workspace);
        return -1;
    }
    dealer.used = 0;
    deal_all(&dealer, shape, (size_t)tokens, workspace);
    rope_table_fill(shape, workspace->scratch.rope);
    return 0;
}

void workspace_free(struct workspace *workspace)
{
    free(workspace->memory);
    free(workspace->layer);
    *workspace = (struct workspace){0};
}
