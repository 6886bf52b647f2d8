/* Error codes and the sentence that explains the last one. */
#ifndef ODC_ERROR_H
#define ODC_ERROR_H

#include "odcomm/odcomm.h"

#define ODC_ERROR_TEXT 1024 /* two names of groups and what is said of them */

typedef struct odc_error {
    char text[ODC_ERROR_TEXT];
} odc_error;

/* Keeps the sentence and returns `code`, so that callers can write `return odc_fail(...)`. */
int odc_fail(odc_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
