/*
 * The number type of the model's arithmetic: float, or double where the gradients are compared with
 * finite differences (REAL_DOUBLE), which single precision is too coarse for.
 */
#ifndef TRAIN_REAL_H
#define TRAIN_REAL_H

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef REAL_DOUBLE
typedef double real;
#    define real_gemm cblas_dgemm
#    define real_sqrt sqrt
#else
typedef float real;
#    define real_gemm cblas_sgemm
#    define real_sqrt sqrtf
#endif

/*
 * Compiles an elementwise loop for several instruction sets and picks one at start-up. Sanitizers
 * run before their own initialisation if they meet such a function.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#    define HOT_LOOP __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#    define HOT_LOOP
#endif

/** e^x within 2 units in the last place, without branches, so that loops over it are vectorised. */
#ifdef REAL_DOUBLE
static inline real real_exp(real x)
{
    return exp(x);
}
#else
static inline real real_exp(real x)
{
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
    float n = (x * 1.44269504f + round) - round;
    float r = x - n * 0.693359375f + n * 2.12194440e-4f; /* x - n log 2, log 2 in two parts */
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits = ((int32_t)n + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}
#endif

#endif
