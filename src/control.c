#include "control.h"

/* Words of one rank or node share no cache line with another's. */
static size_t padded(size_t groups)
{
    return odc_align(groups * sizeof(_Atomic long)) / sizeof(_Atomic long);
}

bool odc_control_reserve(size_t *end, odc_census census)
{
    size_t ranks = (size_t)census.ranks, nodes = (size_t)census.nodes;
    size_t words = padded(census.groups);

    return odc_reserve(end, 1, sizeof(odc_head), 1) &&
           odc_reserve(end, ranks, sizeof(odc_row), 1) &&
           odc_reserve(end, ranks, sizeof(odc_lock), ODC_LOCKS) &&
           odc_reserve(end, words, sizeof(_Atomic long), ranks) &&
           odc_reserve(end, words, sizeof(_Atomic long), ranks) &&
           odc_reserve(end, words, sizeof(_Atomic long), nodes);
}

void odc_control_map(odc_control *control, void *base, odc_census census)
{
    size_t ranks = (size_t)census.ranks;

    control->groups = padded(census.groups);
    control->head = base;
    control->row = (odc_row *)(control->head + 1);
    control->lock = (odc_lock *)(control->row + ranks);
    control->version = (_Atomic long *)(control->lock + ranks * ODC_LOCKS);
    control->summed = control->version + ranks * control->groups;
    control->fetched = control->summed + ranks * control->groups;
}
