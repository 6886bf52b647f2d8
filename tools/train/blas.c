#include "blas.h"

#include <cblas.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GNUC__)
static const char *better_kernels(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
}
#else
static const char *better_kernels(void)
{
    return NULL;
}
#endif

/*
 * OpenBLAS (0.3.21 at least) takes a processor that is newer than itself for the oldest it knows,
 * Prescott, and is then four times too slow. It chooses its kernels while it is loaded, so they
 * can only be named to the program's next start.
 */
void blas_init(char **argv)
{
    const char *kernels = better_kernels();
    char program[4096] = {0};
    if (kernels && !getenv("OPENBLAS_CORETYPE") &&
        strcmp(openblas_get_corename(), "Prescott") == 0 &&
        readlink("/proc/self/exe", program, sizeof program - 1) > 0 &&
        setenv("OPENBLAS_CORETYPE", kernels, 1) == 0)
        execv(program, argv); /* if that fails: slowly, but right */
    openblas_set_num_threads(1);
}
