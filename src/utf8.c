#include "utf8.h"

#include <stddef.h>

/* Length of the UTF-8 sequence that a byte begins, 0 where none begins with it. */
static size_t sequence_length(unsigned char byte)
{
    if (byte < 0x80)
        return 1;
    if (byte >= 0xC2 && byte < 0xE0)
        return 2;
    if (byte >= 0xE0 && byte < 0xF0)
        return 3;
    return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

/* Overlong forms, surrogates and code points past the last one begin with these pairs. */
static bool second_byte_fits(unsigned char first, unsigned char second)
{
    return !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F) &&
           !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
}

bool odc_is_utf8(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;

    while (*byte) {
        size_t length = sequence_length(*byte);
        if (length == 0 || (length > 1 && !second_byte_fits(byte[0], byte[1])))
            return false;
        for (size_t i = 1; i < length; i++)
            if ((byte[i] & 0xC0) != 0x80)
                return false;
        byte += length;
    }
    return true;
}
