/* Settings from the program and from the environment, which wins. */
#include "../../src/options.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static odc_error error;
static odc_settings settings;

/* With one variable, or none where `variable` is NULL. */
static int read_with(const odcomm_options *options, const char *variable)
{
    char *const environment[] = {"PATH=/bin", "ODCOMMX=1", (char *)variable, NULL};

    memset(&settings, 0xAA, sizeof settings);
    error.text[0] = '\0';
    return odc_settings_read(&settings, options, environment, &error);
}

static void assert_sentence(const char *part)
{
    if (!strstr(error.text, part))
        fail_msg("'%s' does not say '%s'", error.text, part);
}

static odcomm_options defaults(void)
{
    odcomm_options options;

    memset(&options, 0xAA, sizeof options);
    assert_int_equal(odcomm_options_init(&options), ODCOMM_OK);
    return options;
}

static void assert_defaults(void)
{
    assert_int_equal(settings.mode, ODC_ON_DEMAND);
    assert_false(settings.copy);
    assert_int_equal(settings.progress, ODC_MEASURED);
    assert_int_equal(settings.node_ranks, 0);
    assert_true(settings.timeout == 0);
    assert_int_equal(settings.verbose, 0);
}

static void defaults_are_as_documented(void **state)
{
    odcomm_options options = defaults();

    (void)state;
    assert_string_equal(options.mode, "on-demand");
    assert_string_equal(options.reduce, "sum");
    assert_string_equal(options.gather, "auto");
    assert_string_equal(options.progress, "auto");
    assert_string_equal(options.place, "auto");
    assert_string_equal(options.trace, "none");
    assert_int_equal(options.node_ranks, 0);
    assert_int_equal(options.verbose, 0);
    assert_true(options.timeout == 0);
    assert_int_equal(odcomm_options_init(NULL), ODCOMM_ERR_ARG);
}

static void nothing_asked_for_gives_the_defaults(void **state)
{
    odcomm_options options = defaults();

    (void)state;
    assert_int_equal(read_with(&options, NULL), ODCOMM_OK);
    assert_defaults();
    assert_int_equal(read_with(NULL, NULL), ODCOMM_OK);
    assert_defaults();
    options = (odcomm_options){0}; /* NULL texts are defaults as well */
    assert_int_equal(read_with(&options, NULL), ODCOMM_OK);
    assert_defaults();
    assert_int_equal(odc_settings_read(&settings, NULL, NULL, &error), ODCOMM_OK);
    assert_defaults();
}

static void the_program_chooses(void **state)
{
    odcomm_options options = defaults();

    (void)state;
    options.mode = "local-sum";
    options.gather = "copy";
    options.progress = "thread";
    options.place = "none";
    options.node_ranks = 3;
    options.timeout = 1.0 / 3;
    options.verbose = 2;
    assert_int_equal(read_with(&options, NULL), ODCOMM_OK);
    assert_int_equal(settings.mode, ODC_LOCAL_SUM);
    assert_true(settings.copy);
    assert_int_equal(settings.progress, ODC_THREAD);
    assert_int_equal(settings.node_ranks, 3);
    assert_true(settings.timeout == 1.0 / 3); /* to the last bit */
    assert_int_equal(settings.verbose, 2);
}

static void the_environment_chooses(void **state)
{
    (void)state;
    assert_int_equal(read_with(NULL, "ODCOMM_MODE=collective"), ODCOMM_OK);
    assert_int_equal(settings.mode, ODC_COLLECTIVE);
    assert_int_equal(read_with(NULL, "ODCOMM_MODE=local-sum"), ODCOMM_OK);
    assert_int_equal(settings.mode, ODC_LOCAL_SUM);
    assert_int_equal(read_with(NULL, "ODCOMM_REDUCE=sum"), ODCOMM_OK);
    assert_int_equal(read_with(NULL, "ODCOMM_GATHER=copy"), ODCOMM_OK);
    assert_true(settings.copy);
    assert_int_equal(read_with(NULL, "ODCOMM_GATHER=view"), ODCOMM_OK);
    assert_false(settings.copy);
    assert_int_equal(read_with(NULL, "ODCOMM_PROGRESS=thread"), ODCOMM_OK);
    assert_int_equal(settings.progress, ODC_THREAD);
    assert_int_equal(read_with(NULL, "ODCOMM_PROGRESS=none"), ODCOMM_OK);
    assert_int_equal(settings.progress, ODC_NO_THREAD);
    assert_int_equal(read_with(NULL, "ODCOMM_NODE_RANKS=12"), ODCOMM_OK);
    assert_int_equal(settings.node_ranks, 12);
    assert_int_equal(read_with(NULL, "ODCOMM_TIMEOUT=0.25"), ODCOMM_OK);
    assert_true(settings.timeout == 0.25);
    assert_int_equal(read_with(NULL, "ODCOMM_PLACE=none"), ODCOMM_OK);
    assert_int_equal(read_with(NULL, "ODCOMM_TRACE=none"), ODCOMM_OK);
    assert_int_equal(read_with(NULL, "ODCOMM_VERBOSE=1"), ODCOMM_OK);
    assert_int_equal(settings.verbose, 1);
}

static void the_environment_wins(void **state)
{
    odcomm_options options = defaults();

    (void)state;
    options.mode = "collective";
    options.timeout = 5;
    options.verbose = 1;
    options.gather = "copy";
    assert_int_equal(read_with(&options, "ODCOMM_MODE=on-demand"), ODCOMM_OK);
    assert_int_equal(settings.mode, ODC_ON_DEMAND);
    assert_true(settings.timeout == 5);
    assert_int_equal(read_with(&options, "ODCOMM_TIMEOUT=0"), ODCOMM_OK);
    assert_true(settings.timeout == 0);
    assert_int_equal(settings.mode, ODC_COLLECTIVE);
    assert_int_equal(read_with(&options, "ODCOMM_VERBOSE=0"), ODCOMM_OK);
    assert_int_equal(settings.verbose, 0);
    assert_int_equal(read_with(&options, "ODCOMM_GATHER=auto"), ODCOMM_OK);
    assert_false(settings.copy);

    options.mode = "nonsense"; /* overruled, so nobody cares */
    assert_int_equal(read_with(&options, "ODCOMM_MODE=on-demand"), ODCOMM_OK);
    options = defaults();
    assert_int_equal(read_with(&options, "ODCOMM_MODE=nonsense"), ODCOMM_ERR_ARG);
}

static void unknown_variables_are_refused(void **state)
{
    const char *const wrong[] = {"ODCOMM_MODES=on-demand", "ODCOMM_=1", "ODCOMM_mode=x",
                                 "ODCOMM_TIME=1",          "ODCOMM_X",  "ODCOMM_MODE"};
    const char *const valid[] = {"ODCOMM_MODE",     "ODCOMM_REDUCE",     "ODCOMM_GATHER",
                                 "ODCOMM_PROGRESS", "ODCOMM_NODE_RANKS", "ODCOMM_TIMEOUT",
                                 "ODCOMM_PLACE",    "ODCOMM_TRACE",      "ODCOMM_VERBOSE"};

    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_int_equal(read_with(NULL, wrong[i]), ODCOMM_ERR_ARG);
        for (size_t v = 0; v < LENGTH(valid); v++)
            assert_sentence(valid[v]);
    }
    read_with(NULL, "ODCOMM_MODES=on-demand");
    assert_sentence("ODCOMM_MODES:");
}

struct wrong_value {
    const char *variable; /* with its value */
    const char *valid;    /* what the sentence lists */
};

static void unknown_values_are_refused(void **state)
{
    const struct wrong_value wrong[] = {
        {"ODCOMM_MODE=fast", "on-demand, collective, local-sum"},
        {"ODCOMM_MODE=", "on-demand, collective, local-sum"},
        {"ODCOMM_MODE=on-demand ", "on-demand, collective, local-sum"},
        {"ODCOMM_MODE=On-Demand", "on-demand, collective, local-sum"},
        {"ODCOMM_REDUCE=mean", "sum, exact"},
        {"ODCOMM_GATHER=move", "auto, view, copy"},
        {"ODCOMM_PROGRESS=threads", "auto, none, thread"},
        {"ODCOMM_PLACE=here", "auto, none"},
        {"ODCOMM_VERBOSE=3", "0 to 2"},
        {"ODCOMM_VERBOSE=yes", "0 to 2"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        char name[64];
        size_t length = strcspn(wrong[i].variable, "=");
        memcpy(name, wrong[i].variable, length);
        name[length] = '\0';
        assert_int_equal(read_with(NULL, wrong[i].variable), ODCOMM_ERR_ARG);
        assert_sentence(name);
        assert_sentence(wrong[i].valid);
        assert_sentence(wrong[i].variable + length + 1); /* what was asked for */
    }
}

static void the_program_s_unknown_values_are_refused(void **state)
{
    odcomm_options wrong[5];

    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++)
        wrong[i] = defaults();
    wrong[0].mode = "offline";
    wrong[1].reduce = "offline";
    wrong[2].gather = "offline";
    wrong[3].progress = "offline";
    wrong[4].place = "offline";
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_int_equal(read_with(&wrong[i], NULL), ODCOMM_ERR_ARG);
        assert_sentence("'offline'");
        assert_sentence("valid are");
    }
}

static void features_to_come_are_named(void **state)
{
    odcomm_options options = defaults();

    (void)state;
    assert_int_equal(read_with(NULL, "ODCOMM_REDUCE=exact"), ODCOMM_ERR_UNSUPPORTED);
    assert_sentence("exact");
    assert_int_equal(read_with(NULL, "ODCOMM_TRACE=/tmp/here"), ODCOMM_ERR_UNSUPPORTED);
    assert_sentence("TRACE");
    options.reduce = "exact";
    assert_int_equal(read_with(&options, NULL), ODCOMM_ERR_UNSUPPORTED);
    assert_sentence("exact");
    assert_int_equal(read_with(&options, "ODCOMM_REDUCE=sum"), ODCOMM_OK);
    options = defaults();
    options.trace = "trace.";
    assert_int_equal(read_with(&options, NULL), ODCOMM_ERR_UNSUPPORTED);
    assert_sentence("TRACE");
    assert_int_equal(read_with(&options, "ODCOMM_TRACE=none"), ODCOMM_OK);
}

static void odd_numbers_are_refused(void **state)
{
    const char *const names[] = {"ODCOMM_TIMEOUT", "ODCOMM_NODE_RANKS", "ODCOMM_VERBOSE"};
    const char *const values[] = {"-1",  "-1e-9", "nan", "inf", "-inf", "1e400", "",   "3x",   "x3",
                                  "1,5", "1 2",   "0 ",  "1e",  "--1",  "four",  "0x", "1.2.3"};
    char variable[64];

    (void)state;
    for (size_t n = 0; n < LENGTH(names); n++)
        for (size_t v = 0; v < LENGTH(values); v++) {
            strcat(strcat(strcpy(variable, names[n]), "="), values[v]);
            if (read_with(NULL, variable) != ODCOMM_ERR_ARG)
                fail_msg("%s is accepted", variable);
            assert_sentence(names[n]);
            assert_sentence("valid are numbers from 0");
        }
    assert_int_equal(read_with(NULL, "ODCOMM_TIMEOUT=1e10"), ODCOMM_ERR_ARG);
    assert_int_equal(read_with(NULL, "ODCOMM_NODE_RANKS=1e10"), ODCOMM_ERR_ARG);
}

static void fractions_are_for_seconds_only(void **state)
{
    (void)state;
    assert_int_equal(read_with(NULL, "ODCOMM_TIMEOUT=1.5"), ODCOMM_OK);
    assert_int_equal(read_with(NULL, "ODCOMM_NODE_RANKS=1.5"), ODCOMM_ERR_ARG);
    assert_sentence("ODCOMM_NODE_RANKS");
    assert_sentence("whole number");
    assert_int_equal(read_with(NULL, "ODCOMM_VERBOSE=0.5"), ODCOMM_ERR_ARG);
    assert_sentence("ODCOMM_VERBOSE");
}

static void the_program_s_odd_numbers_are_refused(void **state)
{
    const double seconds[] = {-1, -1e-300, NAN, INFINITY, -INFINITY, 1e300};
    odcomm_options options = defaults();

    (void)state;
    for (size_t i = 0; i < LENGTH(seconds); i++) {
        options.timeout = seconds[i];
        assert_int_equal(read_with(&options, NULL), ODCOMM_ERR_ARG);
        assert_sentence("TIMEOUT");
    }
    options = defaults();
    options.node_ranks = -1;
    assert_int_equal(read_with(&options, NULL), ODCOMM_ERR_ARG);
    assert_sentence("NODE_RANKS");
    options = defaults();
    options.verbose = 3;
    assert_int_equal(read_with(&options, NULL), ODCOMM_ERR_ARG);
    assert_sentence("VERBOSE");
}

/* Names and values as long as they like: sentences are cut, nothing is overrun. */
static void long_variables_are_cut(void **state)
{
    char variable[4096];

    (void)state;
    memset(variable, 'V', sizeof variable - 1);
    variable[sizeof variable - 1] = '\0';
    memcpy(variable, "ODCOMM_", 7);
    assert_int_equal(read_with(NULL, variable), ODCOMM_ERR_ARG);
    assert_true(strlen(error.text) < ODC_ERROR_TEXT);
    memcpy(variable, "ODCOMM_MODE=", 12);
    assert_int_equal(read_with(NULL, variable), ODCOMM_ERR_ARG);
    assert_sentence("valid are on-demand");
    memcpy(variable, "ODCOMM_TIMEOUT=", 15);
    assert_int_equal(read_with(NULL, variable), ODCOMM_ERR_ARG);
    assert_sentence("valid are numbers");
}

static void modes_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(odc_mode_name(ODC_ON_DEMAND), "on-demand");
    assert_string_equal(odc_mode_name(ODC_COLLECTIVE), "collective");
    assert_string_equal(odc_mode_name(ODC_LOCAL_SUM), "local-sum");
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(nothing_asked_for_gives_the_defaults),
        cmocka_unit_test(the_program_chooses),
        cmocka_unit_test(the_environment_chooses),
        cmocka_unit_test(the_environment_wins),
        cmocka_unit_test(unknown_variables_are_refused),
        cmocka_unit_test(unknown_values_are_refused),
        cmocka_unit_test(the_program_s_unknown_values_are_refused),
        cmocka_unit_test(features_to_come_are_named),
        cmocka_unit_test(odd_numbers_are_refused),
        cmocka_unit_test(fractions_are_for_seconds_only),
        cmocka_unit_test(the_program_s_odd_numbers_are_refused),
        cmocka_unit_test(long_variables_are_cut),
        cmocka_unit_test(modes_have_their_names),
    };

    return cmocka_run_group_tests_name("options", cases, NULL, NULL);
}
