#include "corpus.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int problem_set(struct problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return -1;
}

static int no_memory(struct problem *problem, size_t size)
{
    return problem_set(problem, "not enough memory to hold the texts (%zu bytes)", size);
}

/* Makes *array hold `need` elements; *room is how many it holds. */
static int reserve(void **array, size_t *room, size_t need, size_t size, struct problem *problem)
{
    if (need <= *room)
        return 0;
    size_t more = need > 2 * *room ? need : 2 * *room;
    void *grown = realloc(*array, more * size);
    if (!grown)
        return no_memory(problem, more * size);
    *array = grown;
    *room = more;
    return 0;
}

static void append(struct corpus *corpus, struct span span)
{
    if (span.length)
        memcpy(corpus->bytes + corpus->size, span.text, span.length);
    corpus->size += span.length;
}

int corpus_add(struct corpus *corpus, struct span prompt, struct span rest, size_t line,
               struct problem *problem)
{
    void *bytes = corpus->bytes, *record = corpus->record;
    size_t length = prompt.length + rest.length;
    int status = reserve(&bytes, &corpus->room, corpus->size + length, 1, problem);
    corpus->bytes = bytes;
    if (status)
        return status;
    status = reserve(&record, &corpus->record_room, corpus->records + 1, sizeof *corpus->record,
                     problem);
    corpus->record = record;
    if (status)
        return status;
    corpus->record[corpus->records++] = (struct record){.first = corpus->size,
                                                        .prompt = prompt.length,
                                                        .length = length,
                                                        .file = corpus->files - 1,
                                                        .line = line};
    append(corpus, prompt);
    append(corpus, rest);
    return 0;
}

int corpus_add_file(struct corpus *corpus, const char *name, struct problem *problem)
{
    char **file = realloc(corpus->file, (corpus->files + 1) * sizeof *file);
    if (!file)
        return no_memory(problem, (corpus->files + 1) * sizeof *file);
    corpus->file = file;
    file[corpus->files] = strdup(name);
    if (!file[corpus->files])
        return no_memory(problem, strlen(name) + 1);
    corpus->files++;
    return 0;
}

void corpus_free(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->files; i++)
        free(corpus->file[i]);
    free(corpus->file);
    free(corpus->record);
    free(corpus->bytes);
    *corpus = (struct corpus){0};
}

int next_line(struct span *rest, struct span *line)
{
    if (rest->length == 0)
        return 0;
    const char *end = memchr(rest->text, '\n', rest->length);
    size_t length = end ? (size_t)(end - rest->text) : rest->length, taken = length + (end != NULL);
    *line = (struct span){.text = rest->text, .length = length};
    rest->text += taken;
    rest->length -= taken;
    return 1;
}

struct span trimmed(struct span span)
{
    while (span.length && isspace((unsigned char)span.text[span.length - 1]))
        span.length--;
    return span;
}
