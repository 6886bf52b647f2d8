/* First values of the weights. */
#ifndef TRAIN_WEIGHTS_H
#define TRAIN_WEIGHTS_H

#include "layout.h"
#include "real.h"

/**
 * Writes the elements [first, first + count) of a group to values[0 .. count). They depend on the
 * seed and on their place in the group only, not on who writes them.
 */
void weights_init(const struct layout *layout, int group, uint64_t seed, size_t first, size_t count,
                  real *values);

#endif
