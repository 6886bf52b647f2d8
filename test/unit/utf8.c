/* Names of groups are UTF-8: the bounds of every length of sequence, and what only looks like it.
 */
#include "../../src/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void texts_are_accepted(void **state)
{
    static const char *const texts[] = {
        "",
        "layer.0",
        "\x01\x7F",
        "M\xC3\xBCller",
        "\xE5\xB1\x82.1",
        "\xF0\x9F\x98\x80",
        "\xC2\x80",
        "\xDF\xBF", /* first and last of two bytes */
        "\xE0\xA0\x80",
        "\xEF\xBF\xBF", /* of three */
        "\xED\x9F\xBF",
        "\xEE\x80\x80", /* around the surrogates */
        "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_true(odc_is_utf8(texts[i]));
}

static void other_bytes_are_refused(void **state)
{
    static const char *const texts[] = {
        "\x80",
        "a\xBF",
        "\xFF",
        "\xFE",
        "M\xFCller", /* Latin-1 */
        "\xC0\x80",
        "\xC1\xBF",
        "\xE0\x9F\xBF",
        "\xF0\x8F\xBF\xBF", /* overlong */
        "\xED\xA0\x80",
        "\xED\xBF\xBF", /* surrogates */
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80\x80", /* past the last */
        "\xC3",
        "\xC3(",
        "\xE5\xB1",
        "\xE5(\x82",
        "\xE5\xB1(",
        "\xF0\x9F\x98",
        "\xF0\x9F\x98(",
        "\xF0\x9F",
        "\xF0",
        "ok\xE5", /* cut short */
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(odc_is_utf8(texts[i]));
}

/* Written by the definition: what any encoder of `code` gives. */
static size_t encode(uint32_t code, char *into)
{
    if (code < 0x80) {
        into[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        into[0] = (char)(0xC0 | code >> 6);
        into[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        into[0] = (char)(0xE0 | code >> 12);
        into[1] = (char)(0x80 | (code >> 6 & 0x3F));
        into[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    into[0] = (char)(0xF0 | code >> 18);
    into[1] = (char)(0x80 | (code >> 12 & 0x3F));
    into[2] = (char)(0x80 | (code >> 6 & 0x3F));
    into[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static void every_code_point_is_judged_rightly(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x120000; code++) {
        char text[5] = "";
        int surrogate = code >= 0xD800 && code < 0xE000;
        text[encode(code, text)] = '\0';
        if (odc_is_utf8(text) != (code < 0x110000 && !surrogate))
            fail_msg("code point %x", (unsigned)code);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(texts_are_accepted),
        cmocka_unit_test(other_bytes_are_refused),
        cmocka_unit_test(every_code_point_is_judged_rightly),
    };

    return cmocka_run_group_tests_name("utf8", cases, NULL, NULL);
}
