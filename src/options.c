#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ODCOMM_"

struct choice {
    const char *word;
    int value;
    const char *missing; /* the feature that is not available yet, or NULL */
};

static const struct choice modes[] = {
    {"on-demand", ODC_ON_DEMAND, NULL},
    {"collective", ODC_COLLECTIVE, NULL},
    {"local-sum", ODC_LOCAL_SUM, NULL},
    {NULL, 0, NULL},
};
static const struct choice reductions[] = {
    {"sum", 0, NULL},
    {"exact", 1, "the exact reduction"},
    {NULL, 0, NULL},
};
static const struct choice gathers[] = {
    {"auto", false, NULL},
    {"view", false, NULL},
    {"copy", true, NULL},
    {NULL, 0, NULL},
};
static const struct choice progresses[] = {
    {"auto", ODC_MEASURED, NULL},
    {"none", ODC_NO_THREAD, NULL},
    {"thread", ODC_THREAD, NULL},
    {NULL, 0, NULL},
};
static const struct choice places[] = {
    {"auto", 0, NULL},
    {"none", 0, NULL},
    {NULL, 0, NULL},
};

static const char *const variables[] = {
    "MODE", "REDUCE", "GATHER", "PROGRESS", "NODE_RANKS", "TIMEOUT", "PLACE", "TRACE", "VERBOSE",
};
#define VARIABLES (sizeof variables / sizeof variables[0])

int odcomm_options_init(odcomm_options *options)
{
    if (!options)
        return ODCOMM_ERR_ARG;
    *options = (odcomm_options){
        .mode = "on-demand",
        .reduce = "sum",
        .gather = "auto",
        .progress = "auto",
        .place = "auto",
        .trace = "none",
    };
    return ODCOMM_OK;
}

const char *odc_mode_name(odc_mode mode)
{
    return modes[mode].word;
}

/* Appends words to a list of valid ones for an error text. */
static void list_word(char *list, size_t size, const char *prefix, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s%s", used ? ", " : "", prefix, word);
}

static const char *lookup(char *const *environment, const char *variable)
{
    size_t length = strlen(variable);

    for (; environment && *environment; environment++) {
        const char *entry = *environment;
        if (strncmp(entry, PREFIX, sizeof PREFIX - 1) == 0 &&
            strncmp(entry + sizeof PREFIX - 1, variable, length) == 0 &&
            entry[sizeof PREFIX - 1 + length] == '=')
            return entry + sizeof PREFIX + length;
    }
    return NULL;
}

static bool known(const char *entry)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t length = strlen(variables[i]);
        if (strncmp(entry, variables[i], length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static int check_variables(char *const *environment, odc_error *error)
{
    char list[256] = "";

    for (; environment && *environment; environment++) {
        const char *entry = *environment;
        if (strncmp(entry, PREFIX, sizeof PREFIX - 1) != 0 || known(entry + sizeof PREFIX - 1))
            continue;
        for (size_t i = 0; i < VARIABLES; i++)
            list_word(list, sizeof list, PREFIX, variables[i]);
        return odc_fail(error, ODCOMM_ERR_ARG, "unknown environment variable %.*s: valid are %s",
                        (int)strcspn(entry, "="), entry, list);
    }
    return ODCOMM_OK;
}

/* Where a setting is read from: the environment, else the program. */
struct source {
    char *const *environment;
    odc_error *error;
};

static int choose(const struct source *source, const char *variable, const char *program,
                  const struct choice *choices, int *value)
{
    const char *word = lookup(source->environment, variable);
    char list[128] = "";

    if (!word)
        word = program ? program : choices[0].word;
    for (const struct choice *choice = choices; choice->word; choice++) {
        if (strcmp(word, choice->word) == 0) {
            *value = choice->value;
            return choice->missing ? odc_fail(source->error, ODCOMM_ERR_UNSUPPORTED,
                                              PREFIX "%s=%s: this version does not have %s yet",
                                              variable, word, choice->missing)
                                   : ODCOMM_OK;
        }
        list_word(list, sizeof list, "", choice->word);
    }
    return odc_fail(source->error, ODCOMM_ERR_ARG, PREFIX "%s cannot be '%.64s': valid are %s",
                    variable, word, list);
}

static int number(const struct source *source, const char *variable, double program, double most,
                  double *value)
{
    const char *word = lookup(source->environment, variable);
    char *end = NULL;
    char text[32];

    if (!word) {
        snprintf(text, sizeof text, "%.17g", program);
        word = text;
    }
    *value = strtod(word, &end);
    if (end == word || *end || !isfinite(*value) || *value < 0 || *value > most)
        return odc_fail(source->error, ODCOMM_ERR_ARG,
                        PREFIX "%s cannot be '%.64s': valid are numbers from 0 to %.0f", variable,
                        word, most);
    return ODCOMM_OK;
}

static int whole_number(const struct source *source, const char *variable, int program, int most,
                        int *value)
{
    double real = 0;
    int code = number(source, variable, program, most, &real);

    if (code)
        return code;
    *value = (int)real;
    if (*value != real)
        return odc_fail(source->error, ODCOMM_ERR_ARG, PREFIX "%s must be a whole number",
                        variable);
    return ODCOMM_OK;
}

static int check_trace(const struct source *source, const char *program)
{
    const char *word = lookup(source->environment, "TRACE");

    if (!word)
        word = program ? program : "none";
    if (strcmp(word, "none") != 0)
        return odc_fail(source->error, ODCOMM_ERR_UNSUPPORTED,
                        PREFIX "TRACE: this version does not write timelines yet");
    return ODCOMM_OK;
}

int odc_settings_read(odc_settings *settings, const odcomm_options *options,
                      char *const *environment, odc_error *error)
{
    const struct source source = {environment, error};
    odcomm_options defaults;
    int mode = ODC_ON_DEMAND, ignored, copy = false, progress = ODC_MEASURED;
    int code;

    odcomm_options_init(&defaults);
    if (!options)
        options = &defaults;
    if ((code = check_variables(environment, error)) ||
        (code = choose(&source, "MODE", options->mode, modes, &mode)) ||
        (code = choose(&source, "REDUCE", options->reduce, reductions, &ignored)) ||
        (code = choose(&source, "GATHER", options->gather, gathers, &copy)) ||
        (code = choose(&source, "PROGRESS", options->progress, progresses, &progress)) ||
        (code = choose(&source, "PLACE", options->place, places, &ignored)) ||
        (code = whole_number(&source, "NODE_RANKS", options->node_ranks, 1 << 20,
                             &settings->node_ranks)) ||
        (code = number(&source, "TIMEOUT", options->timeout, 1e9, &settings->timeout)) ||
        (code = whole_number(&source, "VERBOSE", options->verbose, 2, &settings->verbose)) ||
        (code = check_trace(&source, options->trace)))
        return code;
    settings->mode = (odc_mode)mode;
    settings->copy = copy;
    settings->progress = (odc_progress_choice)progress;
    return ODCOMM_OK;
}
