/* All the memory that the arithmetic of one microbatch needs, allocated once. */
#ifndef TRAIN_WORKSPACE_H
#define TRAIN_WORKSPACE_H

#include "block.h"
#include "real.h"

struct workspace {
    struct activations *layer; /**< one a layer */
    real *top;                 /**< output of the last layer */
    real *dx;                  /**< gradient on its way down */
    struct scratch scratch;
    real *head;               /**< scratch of head.h */
    real *gradient;           /**< of any one group */
    real *embedding_gradient; /**< kept from the output to the input */
    void *memory;
};

/** Makes room for microbatches of up to `tokens` tokens; 0, or -1 if memory is short. */
int workspace_init(struct workspace *workspace, const struct shape *shape, int tokens);

void workspace_free(struct workspace *workspace);

#endif
