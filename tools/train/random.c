#include "random.h"

#include <math.h>

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    return mix(mix(mix(seed) ^ stream) ^ index);
}

double random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return ((double)(random_bits(seed, stream, index) >> 12) + 0.5) * 0x1p-52;
}

/* Box and Muller 1958, each half of the bits one uniform number. */
double random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t bits = random_bits(seed, stream, index);
    double radius = ((double)(bits >> 32) + 0.5) * 0x1p-32;
    double angle = (double)(bits & UINT32_MAX) * 0x1p-32;
    return sqrt(-2 * log(radius)) * cos(2 * 3.14159265358979323846 * angle);
}
