#include "rope.h"

static const double base = 10000.0;

size_t rope_table_count(const struct shape *shape)
{
    return (size_t)shape->context * (size_t)head_size(shape);
}

/* A position's row: head_size / 2 cosines, then as many sines. */
void rope_table_fill(const struct shape *shape, real *table)
{
    int size = head_size(shape), half = size / 2;
    for (int position = 0; position < shape->context; position++) {
        real *row = table + (size_t)position * (size_t)size;
        for (int i = 0; i < half; i++) {
            double angle = position * pow(base, -2.0 * i / size);
            row[i] = (real)cos(angle);
            row[half + i] = (real)sin(angle);
        }
    }
}

HOT_LOOP
static void turn_heads(int heads, int half, const real *cosine, real direction, real *x)
{
    const real *sine = cosine + half;
    for (int h = 0; h < heads; h++, x += 2 * half) {
#pragma omp simd
        for (int i = 0; i < half; i++) {
            real a = x[i], b = x[half + i], s = direction * sine[i];
            x[i] = a * cosine[i] - b * s;
            x[half + i] = a * s + b * cosine[i];
        }
    }
}

void rope_turn(const struct shape *shape, const struct packed *packed, const real *table,
               int direction, real *qkv)
{
    int size = head_size(shape), turned = shape->heads + shape->kv_heads;
    for (int text = 0; text < packed->texts; text++) {
        const real *row = table;
        for (int t = packed->start[text]; t < packed->start[text + 1]; t++, row += size)
            turn_heads(turned, size / 2, row, (real)direction,
                       qkv + (size_t)t * (size_t)qkv_width(shape));
    }
}
