#include "adamw.h"

#include "real.h"

static const double beta_mean = 0.9, beta_square = 0.95, epsilon = 1e-8, decay = 0.1;
static const double warm_up = 0.05, last_rate = 0.1;

/* What is the same for all elements of a tensor. */
struct factors {
    float keep;       /* 1 - rate * decay */
    float rate;       /* corrected for the mean's bias to its first value, 0 */
    float correction; /* the same for the square */
};

HOT_LOOP
static void update(size_t count, struct factors f, float *value, const float *gradient, float *mean,
                   float *square)
{
    const float b1 = (float)beta_mean, b2 = (float)beta_square, small = (float)epsilon;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i];
        mean[i] = b1 * mean[i] + (1 - b1) * g;
        square[i] = b2 * square[i] + (1 - b2) * g * g;
        float size = sqrtf(square[i] * f.correction) + small;
        value[i] = f.keep * value[i] - f.rate * mean[i] / size;
    }
}

void adamw_update(const struct layout *layout, const struct shard *shard, double rate, long step)
{
    struct factors f = {
        .rate = (float)(rate / (1 - pow(beta_mean, (double)step))),
        .correction = (float)(1 / (1 - pow(beta_square, (double)step))),
    };
    for (int k = 0; k < layout->tensors; k++) {
        const struct tensor *tensor = &layout->tensor[k];
        size_t end = tensor->first + tensor->count, shard_end = shard->first + shard->count;
        size_t from = tensor->first > shard->first ? tensor->first : shard->first;
        end = end < shard_end ? end : shard_end;
        if (from >= end)
            continue;
        size_t at = from - shard->first;
        f.keep = tensor_decays(tensor) ? (float)(1 - rate * decay) : 1;
        update(end - from, f, shard->value + at, shard->gradient + at, shard->mean + at,
               shard->square + at);
    }
}

double learning_rate(double highest, long step, long steps)
{
    double warm = ceil(warm_up * (double)steps), at = (double)step;
    if (at <= warm)
        return highest * at / warm;
    double progress = (at - warm) / ((double)steps - warm);
    return highest * (last_rate + (1 - last_rate) * 0.5 * (1 + cos(acos(-1.0) * progress)));
}
