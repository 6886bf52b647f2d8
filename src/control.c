#include "control.h"

/* Version words of one owner share no cache line with another's. */
static size_t padded(size_t groups)
{
    return odc_align(groups * sizeof(_Atomic long)) / sizeof(_Atomic long);
}

bool odc_control_reserve(size_t *end, int ranks, size_t groups)
{
    size_t n = (size_t)ranks;

    return odc_reserve(end, 1, sizeof(odc_head), 1) && odc_reserve(end, n, sizeof(odc_row), 1) &&
           odc_reserve(end, n, sizeof(odc_lock), ODC_LOCKS) &&
           odc_reserve(end, padded(groups), sizeof(_Atomic long), n);
}

void odc_control_map(odc_control *control, void *base, int ranks, size_t groups)
{
    size_t n = (size_t)ranks;

    control->head = base;
    control->row = (odc_row *)(control->head + 1);
    control->lock = (odc_lock *)(control->row + n);
    control->version = (_Atomic long *)(control->lock + n * ODC_LOCKS);
    control->groups = padded(groups);
}
