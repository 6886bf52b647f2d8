#include "corpus.h"

static int is_separator(struct span line)
{
    line = trimmed(line);
    return line.length == 1 && line.text[0] == '%';
}

int is_fortune(struct span content)
{
    struct span line;
    while (next_line(&content, &line))
        if (is_separator(line))
            return 1;
    return 0;
}

static int add_if_any(struct corpus *corpus, struct span text, size_t line, struct problem *problem)
{
    const struct span none = {.text = "", .length = 0};
    text = trimmed(text);
    return text.length ? corpus_add(corpus, none, text, line, problem) : 0;
}

int fortune_read(struct corpus *corpus, struct span content, struct problem *problem)
{
    struct span line, text = {.text = content.text, .length = 0};
    size_t first = 1;
    for (size_t number = 1; next_line(&content, &line); number++) {
        if (!is_separator(line)) {
            text.length = (size_t)(content.text - text.text);
            continue;
        }
        if (add_if_any(corpus, text, first, problem))
            return -1;
        text = (struct span){.text = content.text, .length = 0};
        first = number + 1;
    }
    return add_if_any(corpus, text, first, problem);
}
