#include "corpus.h"

#include <jansson.h>
#include <string.h>

static int wrong(const struct corpus *corpus, size_t line, struct problem *problem,
                 const char *what)
{
    return problem_set(problem, "%s:%zu: %s", corpus->file[corpus->files - 1], line, what);
}

static struct span string_span(const json_t *string)
{
    return (struct span){.text = json_string_value(string), .length = json_string_length(string)};
}

static int add_object(struct corpus *corpus, const json_t *object, size_t line,
                      struct problem *problem)
{
    const json_t *text = json_object_get(object, "text");
    const json_t *prompt = json_object_get(object, "prompt");
    const json_t *response = json_object_get(object, "response");
    const struct span none = {.text = "", .length = 0};
    if (json_is_string(text))
        return corpus_add(corpus, none, string_span(text), line, problem);
    if (json_is_string(prompt) && json_is_string(response))
        return corpus_add(corpus, string_span(prompt), string_span(response), line, problem);
    return wrong(
        corpus, line, problem,
        "expected an object with the string \"text\", or with \"prompt\" and \"response\"");
}

static int add_line(struct corpus *corpus, struct span text, size_t line, struct problem *problem)
{
    json_error_t error;
    json_t *object = json_loadb(text.text, text.length, JSON_ALLOW_NUL, &error);
    if (!object) {
        char what[sizeof error.text + 64];
        snprintf(what, sizeof what, "not valid JSON: %s", error.text);
        return wrong(corpus, line, problem, what);
    }
    int status = add_object(corpus, object, line, problem);
    json_decref(object);
    return status;
}

static void skip_byte_order_mark(struct span *content)
{
    if (content->length >= 3 && memcmp(content->text, "\xEF\xBB\xBF", 3) == 0) {
        content->text += 3;
        content->length -= 3;
    }
}

int jsonl_read(struct corpus *corpus, struct span content, struct problem *problem)
{
    struct span line;
    skip_byte_order_mark(&content);
    for (size_t number = 1; next_line(&content, &line); number++) {
        line = trimmed(line);
        if (line.length && add_line(corpus, line, number, problem))
            return -1;
    }
    return 0;
}
