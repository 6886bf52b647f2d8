/*
 * Causal attention inside each text of a packed microbatch, with grouped queries (Ainslie et al.
 * 2023): heads / kv_heads query heads share a key and a value head. Scores are made for a block of
 * queries at a time and made again in the backward pass (Dao et al. 2022), so that they stay in
 * cache and take no memory.
 */
#ifndef TRAIN_ATTENTION_H
#define TRAIN_ATTENTION_H

#include "real.h"
#include "shape.h"

#include <stddef.h>

/** Elements of scratch that both passes need. */
size_t attention_scratch_count(const struct shape *shape);

/**
 * out (tokens x width) from qkv (tokens x qkv_width); also keeps log_sum (tokens x heads), the
 * logarithm of each softmax's denominator.
 */
void attention_forward(const struct shape *shape, const struct packed *packed, const real *qkv,
                       real *out, real *log_sum, real *scratch);

/** Writes dqkv from dout and what the forward pass has read and written. */
void attention_backward(const struct shape *shape, const struct packed *packed, const real *qkv,
                        const real *out, const real *log_sum, const real *dout, real *dqkv,
                        real *scratch);

#endif
