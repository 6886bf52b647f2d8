/* What the program and the environment ask for, checked and understood. */
#ifndef ODC_OPTIONS_H
#define ODC_OPTIONS_H

#include "error.h"

#include <stdbool.h>

typedef enum odc_mode {
    ODC_ON_DEMAND,
    ODC_COLLECTIVE,
    ODC_LOCAL_SUM,
} odc_mode;

typedef enum odc_progress_choice {
    ODC_MEASURED, /* a thread where operations between nodes need one */
    ODC_NO_THREAD,
    ODC_THREAD,
} odc_progress_choice;

typedef struct odc_settings {
    odc_mode mode;
    bool copy; /* gather into private memory, not as a view */
    odc_progress_choice progress;
    int node_ranks; /* 0: as MPI says */
    double timeout; /* seconds, 0: for ever */
    int verbose;
} odc_settings;

/*
 * Merges `options` (NULL: defaults) with the variables of `environment` (shaped like environ),
 * which win. Errors: ARG, UNSUPPORTED for a value whose feature is not available.
 */
int odc_settings_read(odc_settings *settings, const odcomm_options *options,
                      char *const *environment, odc_error *error);

const char *odc_mode_name(odc_mode mode);

#endif
