/* Whether what this process prints to standard error is read on a terminal as it appears. */
#ifndef TRAIN_TERMINAL_H
#define TRAIN_TERMINAL_H

#include <stdbool.h>

/** Also looks behind the pipe to a launcher (mpiexec) on the same machine. */
bool on_terminal(void);

#endif
