#include "weights.h"

#include "random.h"

static void init_tensor(const struct tensor *tensor, int group, uint64_t seed, size_t first,
                        size_t end, real *values)
{
    uint64_t stream = STREAM_WEIGHTS + (uint64_t)group;
    for (size_t i = first; i < end; i++)
        *values++ =
            tensor->deviation > 0 ? (real)(tensor->deviation * random_normal(seed, stream, i)) : 1;
}

void weights_init(const struct layout *layout, int group, uint64_t seed, size_t first, size_t count,
                  real *values)
{
    for (int k = 0; k < layout->tensors; k++) {
        const struct tensor *tensor = &layout->tensor[k];
        size_t from = first > tensor->first ? first : tensor->first;
        size_t end = tensor->first + tensor->count;
        end = end < first + count ? end : first + count;
        if (from < end)
            init_tensor(tensor, group, seed, from, end, values + (from - first));
    }
}
