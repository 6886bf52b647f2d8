#include "clock.h"

#include <time.h>

double odc_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void odc_sleep(double seconds)
{
    struct timespec duration = {0, (long)(1e9 * seconds)};
    nanosleep(&duration, NULL);
}
