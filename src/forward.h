/* Sending on what a node has summed for owners elsewhere: once a minibatch. */
#ifndef ODC_FORWARD_H
#define ODC_FORWARD_H

#include "core.h"

/*
 * Waits until all ranks of this node have added their last gradient, then adds the sums that this
 * rank keeps to the inbound gradients of their owners, and zeroes them.
 */
int odc_forward_sums(odcomm_ctx *ctx);

/* Adds what has come in from other nodes to this rank's gradients, after the fence. */
void odc_take_inbound(odcomm_ctx *ctx);

#endif
