#include "digest.h"

#include "fail.h"

static uint64_t add_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t digest_weights(struct trainer *trainer)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int g = 0; g < group_count(&trainer->shape); g++) {
        const void *values;
        check(trainer->ctx, odcomm_gather(trainer->group[g], &values));
        if (trainer->rank == 0)
            hash = add_bytes(hash, values, trainer->layout[g].count * sizeof(float));
        check(trainer->ctx, odcomm_release(trainer->group[g]));
    }
    return hash;
}
