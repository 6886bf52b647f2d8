#include "attention.h"

enum { QUERY_BLOCK = 64 };

/* One query head of one text. Pointers are at the text's first token. */
struct head {
    int tokens;
    int size;
    int qkv_stride;
    int out_stride;
    int log_stride;
    real scale;
    const real *q, *k, *v;
    real *scores;
};

/* Queries [first, first + count), which see the keys [0, keys). */
struct block {
    int first;
    int count;
    int keys;
};

size_t attention_scratch_count(const struct shape *shape)
{
    return 2 * (size_t)QUERY_BLOCK * (size_t)shape->context;
}

static size_t offset(int row, int stride)
{
    return (size_t)row * (size_t)stride;
}

static struct block block_at(int tokens, int first)
{
    int count = tokens - first < QUERY_BLOCK ? tokens - first : QUERY_BLOCK;
    return (struct block){.first = first, .count = count, .keys = first + count};
}

static struct head head_of(const struct shape *shape, const struct packed *packed, int text, int h,
                           const real *qkv, real *scores)
{
    int size = head_size(shape), shared = shape->heads / shape->kv_heads;
    const real *row = qkv + offset(packed->start[text], qkv_width(shape));
    const real *keys = row + offset(shape->heads, size);
    return (struct head){
        .tokens = packed->start[text + 1] - packed->start[text],
        .size = size,
        .qkv_stride = qkv_width(shape),
        .out_stride = shape->width,
        .log_stride = shape->heads,
        .scale = 1 / real_sqrt((real)size),
        .q = row + offset(h, size),
        .k = keys + offset(h / shared, size),
        .v = keys + offset(shape->kv_heads + h / shared, size),
        .scores = scores,
    };
}

/* c (count x keys) = factor a b^T, for rows of head size */
static void products(const struct head *head, struct block block, real factor, const real *a,
                     int a_stride, const real *b, real *c)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, block.count, block.keys, head->size, factor,
              a, a_stride, b, head->qkv_stride, 0, c, block.keys);
}

static void scores_of(const struct head *head, struct block block)
{
    products(head, block, head->scale, head->q + offset(block.first, head->qkv_stride),
             head->qkv_stride, head->k, head->scores);
}

/* Turns the first `visible` of `keys` scores into probabilities, the others into 0. */
HOT_LOOP
static real softmax_row(int visible, int keys, real *row)
{
    real top = row[0], sum = 0;
#pragma omp simd reduction(max : top)
    for (int j = 0; j < visible; j++)
        top = row[j] > top ? row[j] : top;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < visible; j++) {
        row[j] = real_exp(row[j] - top);
        sum += row[j];
    }
    real inverse = 1 / sum;
#pragma omp simd
    for (int j = 0; j < visible; j++)
        row[j] *= inverse;
    for (int j = visible; j < keys; j++)
        row[j] = 0;
    return top + (real)log((double)sum);
}

static void forward_block(const struct head *head, struct block block, real *out, real *log_sum)
{
    scores_of(head, block);
    for (int i = 0; i < block.count; i++)
        log_sum[offset(block.first + i, head->log_stride)] =
            softmax_row(block.first + i + 1, block.keys, head->scores + offset(i, block.keys));
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, block.count, head->size, block.keys, 1,
              head->scores, block.keys, head->v, head->qkv_stride, 0,
              out + offset(block.first, head->out_stride), head->out_stride);
}

void attention_forward(const struct shape *shape, const struct packed *packed, const real *qkv,
                       real *out, real *log_sum, real *scratch)
{
    for (int text = 0; text < packed->texts; text++) {
        size_t start = (size_t)packed->start[text];
        for (int h = 0; h < shape->heads; h++) {
            struct head head = head_of(shape, packed, text, h, qkv, scratch);
            real *head_out = out + start * (size_t)shape->width + offset(h, head.size);
            real *head_log = log_sum + start * (size_t)shape->heads + h;
            for (int first = 0; first < head.tokens; first += QUERY_BLOCK)
                forward_block(&head, block_at(head.tokens, first), head_out, head_log);
        }
    }
}

/* Gradients of one query head; pointers are at the text's first token. */
struct head_gradient {
    const real *out, *dout, *log_sum;
    real *dq, *dk, *dv;
    real *dscores;
};

HOT_LOOP
static real dot(int size, const real *a, const real *b)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Scores become probabilities; their gradients, which come in by probability, go out by score. */
HOT_LOOP
static void softmax_row_backward(int visible, int keys, real log_sum, real mean, real *row,
                                 real *drow)
{
#pragma omp simd
    for (int j = 0; j < visible; j++) {
        row[j] = real_exp(row[j] - log_sum);
        drow[j] = row[j] * (drow[j] - mean);
    }
    for (int j = visible; j < keys; j++)
        row[j] = drow[j] = 0;
}

static void softmax_backward(const struct head *head, const struct head_gradient *g,
                             struct block block)
{
    for (int i = 0; i < block.count; i++) {
        int t = block.first + i;
        size_t at = offset(t, head->out_stride), row = offset(i, block.keys);
        softmax_row_backward(t + 1, block.keys, g->log_sum[offset(t, head->log_stride)],
                             dot(head->size, g->out + at, g->dout + at), head->scores + row,
                             g->dscores + row);
    }
}

/* d (keys x size) += factor a^T b, for a count x keys and b count x size */
static void add_transposed(const struct head *head, struct block block, real factor, const real *a,
                           const real *b, int b_stride, real *d)
{
    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, block.keys, head->size, block.count, factor,
              a, block.keys, b, b_stride, 1, d, head->qkv_stride);
}

static void backward_block(const struct head *head, const struct head_gradient *g,
                           struct block block)
{
    const real *dout = g->dout + offset(block.first, head->out_stride);
    size_t query = offset(block.first, head->qkv_stride);
    scores_of(head, block);
    products(head, block, 1, dout, head->out_stride, head->v, g->dscores);
    softmax_backward(head, g, block);
    add_transposed(head, block, 1, head->scores, dout, head->out_stride, g->dv);
    add_transposed(head, block, head->scale, g->dscores, head->q + query, head->qkv_stride, g->dk);
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, block.count, head->size, block.keys,
              head->scale, g->dscores, block.keys, head->k, head->qkv_stride, 0, g->dq + query,
              head->qkv_stride);
}

void attention_backward(const struct shape *shape, const struct packed *packed, const real *qkv,
                        const real *out, const real *log_sum, const real *dout, real *dqkv,
                        real *scratch)
{
    memset(dqkv, 0, offset(packed->tokens, qkv_width(shape)) * sizeof *dqkv);
    for (int text = 0; text < packed->texts; text++) {
        size_t start = (size_t)packed->start[text];
        for (int h = 0; h < shape->heads; h++) {
            struct head head = head_of(shape, packed, text, h, qkv, scratch);
            size_t at = start * (size_t)shape->width + offset(h, head.size);
            struct head_gradient g = {
                .out = out + at,
                .dout = dout + at,
                .log_sum = log_sum + start * (size_t)shape->heads + h,
                .dq = dqkv + (head.q - qkv),
                .dk = dqkv + (head.k - qkv),
                .dv = dqkv + (head.v - qkv),
                .dscores = scratch + offset(QUERY_BLOCK, shape->context),
            };
            for (int first = 0; first < head.tokens; first += QUERY_BLOCK)
                backward_block(&head, &g, block_at(head.tokens, first));
        }
    }
}
