/* Whether a text is well-formed UTF-8. */
#ifndef ODC_UTF8_H
#define ODC_UTF8_H

#include <stdbool.h>

bool odc_is_utf8(const char *text);

#endif
