/*
 * Rotary positions (Su et al. 2021): in every query and key head, elements i and i + size / 2 are a
 * pair that is turned by the angle position * 10000^(-2 i / size). Positions begin at 0 in each
 * text.
 */
#ifndef TRAIN_ROPE_H
#define TRAIN_ROPE_H

#include "real.h"
#include "shape.h"

#include <stddef.h>

/** Elements of the table of cosines and sines. */
size_t rope_table_count(const struct shape *shape);

void rope_table_fill(const struct shape *shape, real *table);

/** Turns the queries and keys in rows of qkv_width(); direction 1 forward, -1 for gradients. */
void rope_turn(const struct shape *shape, const struct packed *packed, const real *table,
               int direction, real *qkv);

#endif
