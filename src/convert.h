/* Element types: their sizes and names, conversion between them, addition across them. */
#ifndef ODC_CONVERT_H
#define ODC_CONVERT_H

#include "odcomm/odcomm.h"

#include <stdbool.h>
#include <stddef.h>

bool odc_dtype_valid(odcomm_dtype dtype);
size_t odc_dtype_size(odcomm_dtype dtype);
const char *odc_dtype_name(odcomm_dtype dtype);

/* into[i] = from[i], for F32 and F64. */
void odc_convert(void *into, odcomm_dtype into_type, const void *from, odcomm_dtype from_type,
                 size_t count);

/* into[i] += from[i], in the type of `into`. */
void odc_add(void *into, odcomm_dtype into_type, const void *from, odcomm_dtype from_type,
             size_t count);

#endif
