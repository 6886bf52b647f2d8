#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#define CODES(X)                                                                                   \
    X(ODCOMM_OK, "success")                                                                        \
    X(ODCOMM_ERR_ARG, "bad argument")                                                              \
    X(ODCOMM_ERR_PHASE, "call not allowed in this phase")                                          \
    X(ODCOMM_ERR_MISMATCH, "ranks disagree")                                                       \
    X(ODCOMM_ERR_NOMEM, "not enough memory")                                                       \
    X(ODCOMM_ERR_MPI, "MPI call failed")                                                           \
    X(ODCOMM_ERR_UNSUPPORTED, "not supported")                                                     \
    X(ODCOMM_ERR_TIMEOUT, "timed out waiting for another rank")                                    \
    X(ODCOMM_ERR_IO, "input or output failed")                                                     \
    X(ODCOMM_ERR_FORMAT, "malformed file")

const char *odcomm_strerror(int code)
{
    switch (code) {
#define TEXT(name, text)                                                                           \
    case name:                                                                                     \
        return text;
        CODES(TEXT)
#undef TEXT
    default:
        return "unknown error code";
    }
}

int odc_fail(odc_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}
