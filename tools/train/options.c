#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNT, NUMBER, TEXT, MODE, SWITCH, PATHS };

static const struct options defaults = {
    .layers = 4,
    .width = 128,
    .heads = 4,
    .kv_heads = 2,
    .context = 256,
    .steps = 600,
    .minibatch = 8,
    .seed = 1,
    .sample = 300,
    .lr = 3e-3,
    .held_out = 0.05,
    .mode = "on-demand",
    .prompt = "",
};

static const struct row {
    const char *name;
    const char *value; /* what stands behind it in the help; NULL: nothing */
    enum kind kind;
    size_t field;
    double least;
    double most;
    const char *help;
} rows[] = {
    {"data", "PATH", PATHS, offsetof(struct options, data), 0, 0,
     "file or folder to train on; may be repeated (default: Debian's fortunes, else a small text "
     "that comes with the program)"},
    {"held-out", "FRACTION", NUMBER, offsetof(struct options, held_out), 0, 0.9,
     "part of the texts that is only used to measure the loss at the end (0.05)"},
    {"layers", "N", COUNT, offsetof(struct options, layers), 1, 1000, "layers (4)"},
    {"width", "N", COUNT, offsetof(struct options, width), 2, 65536, "width of the model (128)"},
    {"heads", "N", COUNT, offsetof(struct options, heads), 1, 65536, "attention heads (4)"},
    {"kv-heads", "N", COUNT, offsetof(struct options, kv_heads), 1, 65536,
     "key and value heads, which the heads share (2)"},
    {"untied", NULL, SWITCH, offsetof(struct options, untied), 0, 0,
     "give the output a matrix of its own instead of the embedding"},
    {"context", "N", COUNT, offsetof(struct options, context), 2, 1 << 20,
     "most tokens of a text; longer ones are cut (256)"},
    {"steps", "N", COUNT, offsetof(struct options, steps), 1, 1e9, "minibatches (600)"},
    {"minibatch", "N", COUNT, offsetof(struct options, minibatch), 1, 1 << 20,
     "texts in a minibatch, on all ranks together (8)"},
    {"cap", "N", COUNT, offsetof(struct options, cap), 1, 1 << 24,
     "most tokens in a microbatch (twice the context)"},
    {"lr", "X", NUMBER, offsetof(struct options, lr), 0, 10, "highest learning rate (0.003)"},
    {"seed", "N", COUNT, offsetof(struct options, seed), 0, 9e15,
     "seed of weights, order and sample (1)"},
    {"mode", "MODE", MODE, offsetof(struct options, mode), 0, 0,
     "on-demand, collective or local-sum (on-demand)"},
    {"sample", "N", COUNT, offsetof(struct options, sample), 0, 1 << 20,
     "bytes of text to write with the model at the end (300)"},
    {"prompt", "TEXT", TEXT, offsetof(struct options, prompt), 0, 0, "how that text begins"},
    {"json", NULL, SWITCH, offsetof(struct options, json), 0, 0,
     "print one JSON object a step and a last one, and no sample"},
    {"help", NULL, SWITCH, offsetof(struct options, help), 0, 0, "print this help"},
    {"version", NULL, SWITCH, offsetof(struct options, version), 0, 0, "print the version"},
};

enum { ROWS = sizeof rows / sizeof rows[0], FIRST_VALUE = 256 };

static int no_number(const struct row *row, const char *text, struct problem *problem)
{
    return problem_set(problem, "--%s %s: expected a%s number from %.10g to %.10g", row->name, text,
                       row->kind == COUNT ? " whole" : "", row->least, row->most);
}

static int set_count(const struct row *row, const char *text, long *value, struct problem *problem)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (errno || end == text || *end || (double)*value < row->least || (double)*value > row->most)
        return no_number(row, text, problem);
    return 0;
}

static int set_number(const struct row *row, const char *text, double *value,
                      struct problem *problem)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= row->least && *value <= row->most))
        return no_number(row, text, problem);
    return 0;
}

static int set_mode(const char *text, const char **value, struct problem *problem)
{
    if (strcmp(text, "on-demand") && strcmp(text, "collective") && strcmp(text, "local-sum"))
        return problem_set(problem, "--mode %s: expected on-demand, collective or local-sum", text);
    *value = text;
    return 0;
}

static int set(struct options *options, const struct row *row, const char *text,
               struct problem *problem)
{
    void *field = (char *)options + row->field;
    switch (row->kind) {
    case COUNT:
        return set_count(row, text, field, problem);
    case NUMBER:
        return set_number(row, text, field, problem);
    case MODE:
        return set_mode(text, field, problem);
    case TEXT:
        *(const char **)field = text;
        return 0;
    case PATHS:
        options->data[options->data_count++] = text;
        return 0;
    case SWITCH:
        *(bool *)field = true;
        return 0;
    }
    return 0;
}

static int check_shape(struct options *o, struct problem *problem)
{
    if (o->width % o->heads)
        return problem_set(problem, "--width %ld is not divisible by --heads %ld", o->width,
                           o->heads);
    if (o->width / o->heads % 2)
        return problem_set(problem,
                           "--width %ld / --heads %ld is %ld elements a head, which must be even",
                           o->width, o->heads, o->width / o->heads);
    if (o->heads % o->kv_heads)
        return problem_set(problem, "--heads %ld is not divisible by --kv-heads %ld", o->heads,
                           o->kv_heads);
    if (o->cap == 0)
        o->cap = 2 * o->context;
    if (o->cap < o->context)
        return problem_set(problem, "--cap %ld is less than --context %ld: a text might not fit",
                           o->cap, o->context);
    return 0;
}

static void fill_long_options(struct option *option)
{
    for (int i = 0; i < ROWS; i++)
        option[i] = (struct option){.name = rows[i].name,
                                    .has_arg = rows[i].value ? required_argument : no_argument,
                                    .val = FIRST_VALUE + i};
}

/* What getopt_long did not take; `word` is where it stands, past a long option. */
static int refuse(const char *word, struct problem *problem)
{
    if (optopt == 0)
        return problem_set(problem, "option %s is unknown or ambiguous: see --help", word);
    if (optopt < FIRST_VALUE)
        return problem_set(problem, "unknown option -%c: see --help", optopt);
    return problem_set(problem, "option %s takes no value: see --help", word);
}

int options_parse(struct options *options, int argc, char **argv, struct problem *problem)
{
    struct option option[ROWS + 1] = {0};
    int value;
    *options = defaults;
    options->data = calloc((size_t)argc + 1, sizeof *options->data);
    if (!options->data)
        return problem_set(problem, "not enough memory for the options");
    fill_long_options(option);
    opterr = 0;
    while ((value = getopt_long(argc, argv, ":", option, NULL)) != -1) {
        if (value == ':')
            return problem_set(problem, "%s needs a value", argv[optind - 1]);
        if (value < FIRST_VALUE)
            return refuse(argv[optind - 1], problem);
        if (set(options, &rows[value - FIRST_VALUE], optarg, problem))
            return -1;
    }
    if (optind < argc)
        return problem_set(problem, "unexpected argument %s: see --help", argv[optind]);
    return options->help || options->version ? 0 : check_shape(options, problem);
}

/* Writes the text in lines of at most `width` characters behind `indent` blanks. */
static void print_wrapped(FILE *stream, const char *text, size_t width, int indent)
{
    while (strlen(text) > width) {
        size_t length = width;
        while (length > 0 && text[length] != ' ')
            length--;
        fprintf(stream, "%.*s\n%*s", (int)length, text, indent, "");
        text += length + 1;
    }
    fprintf(stream, "%s\n", text);
}

void options_help(FILE *stream)
{
    fprintf(stream, "Usage: mpiexec -n RANKS odcomm-train [OPTION]...\n"
                    "Trains a small byte-level language model on texts of any length.\n\n");
    for (int i = 0; i < ROWS; i++) {
        char left[32];
        snprintf(left, sizeof left, "--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        fprintf(stream, "  %-20s ", left);
        print_wrapped(stream, rows[i].help, 76, 23);
    }
}

void options_free(struct options *options)
{
    free(options->data);
    *options = defaults;
}
