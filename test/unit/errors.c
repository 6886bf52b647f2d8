/* Codes have texts, and the sentence of an error fits into its room. */
#include "../../src/error.h"
#include "../../src/mpi_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void every_code_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int code = ODCOMM_OK; code >= ODCOMM_ERR_FORMAT; code--) {
        const char *text = odcomm_strerror(code);
        assert_non_null(text);
        assert_true(strlen(text) > 0);
        assert_string_not_equal(text, odcomm_strerror(1));
        for (int other = ODCOMM_OK; other > code; other--)
            assert_string_not_equal(text, odcomm_strerror(other));
    }
}

static void unknown_codes_are_called_so(void **state)
{
    const int codes[] = {1, 2, ODCOMM_ERR_FORMAT - 1, INT_MIN, INT_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_non_null(odcomm_strerror(codes[i]));
        assert_non_null(strstr(odcomm_strerror(codes[i]), "unknown"));
    }
}

static void a_failure_keeps_its_code_and_sentence(void **state)
{
    odc_error error;

    (void)state;
    assert_int_equal(odc_fail(&error, ODCOMM_ERR_IO, "%s of %d", "byte", 7), ODCOMM_ERR_IO);
    assert_string_equal(error.text, "byte of 7");
    assert_int_equal(odc_fail(&error, ODCOMM_ERR_ARG, "%s", ""), ODCOMM_ERR_ARG);
    assert_string_equal(error.text, "");
}

static void long_sentences_are_cut(void **state)
{
    struct {
        odc_error error;
        char behind[16];
    } guarded;
    char text[4 * ODC_ERROR_TEXT];

    (void)state;
    memset(guarded.behind, '!', sizeof guarded.behind);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(odc_fail(&guarded.error, ODCOMM_ERR_MPI, "%s", text), ODCOMM_ERR_MPI);
    assert_int_equal(strlen(guarded.error.text), ODC_ERROR_TEXT - 1);
    assert_memory_equal(guarded.error.text, text, ODC_ERROR_TEXT - 1);
    for (size_t i = 0; i < sizeof guarded.behind; i++)
        assert_int_equal(guarded.behind[i], '!');

    text[ODC_ERROR_TEXT - 1] = '\0'; /* just fits */
    odc_fail(&guarded.error, ODCOMM_ERR_MPI, "%s", text);
    assert_string_equal(guarded.error.text, text);
}

/* In place of MPI's, which needs MPI_Init. */
int MPI_Error_string(int code, char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "number %d", code);
    return code == 99 ? MPI_ERR_ARG : MPI_SUCCESS;
}

static void a_failed_mpi_call_is_named(void **state)
{
    odc_error error = {"as before"};

    (void)state;
    assert_int_equal(odc_mpi_check(&error, MPI_SUCCESS, "MPI_Get(a, b)"), ODCOMM_OK);
    assert_string_equal(error.text, "as before");
    assert_int_equal(odc_mpi_check(&error, 6, "MPI_Get(a, b)"), ODCOMM_ERR_MPI);
    assert_string_equal(error.text, "MPI_Get failed: number 6");
    assert_int_equal(odc_mpi_check(&error, 99, "MPI_Get(a, b)"), ODCOMM_ERR_MPI);
    assert_string_equal(error.text, "MPI_Get failed: ");
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(every_code_has_a_text_of_its_own),
        cmocka_unit_test(unknown_codes_are_called_so),
        cmocka_unit_test(a_failure_keeps_its_code_and_sentence),
        cmocka_unit_test(long_sentences_are_cut),
        cmocka_unit_test(a_failed_mpi_call_is_named),
    };

    return cmocka_run_group_tests_name("errors", cases, NULL, NULL);
}
