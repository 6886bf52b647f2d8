/* The texts, as read from files: the bytes of all behind each other, and where each one stands. */
#ifndef TRAIN_CORPUS_H
#define TRAIN_CORPUS_H

#include <stddef.h>

/** A text: prompt bytes, which are given, and then the bytes that are to be learnt. */
struct record {
    size_t first;
    size_t prompt;
    size_t length; /**< with the prompt */
    size_t file;   /**< where it comes from */
    size_t line;
};

struct corpus {
    unsigned char *bytes;
    size_t size;
    size_t room;
    struct record *record;
    size_t records;
    size_t record_room;
    char **file; /**< names; only where the files were read */
    size_t files;
};

/** One sentence about what is wrong with the input. */
struct problem {
    char text[1024];
};

/** A span of memory that is not terminated. */
struct span {
    const char *text;
    size_t length;
};

/** Writes the sentence and returns -1. */
int problem_set(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Adds files and, recursively and sorted by name, the files of folders. In folders what begins with
 * a dot, *.dat, *.u8, links, and files that hold no text are left out. Returns 0, or -1 with the
 * problem.
 */
int corpus_read(struct corpus *corpus, const char *const *path, size_t paths,
                struct problem *problem);

/** Adds a name to those that records refer to. */
int corpus_add_file(struct corpus *corpus, const char *name, struct problem *problem);

/** Adds a text that stands at `line` of the last file. `prompt` may be empty. */
int corpus_add(struct corpus *corpus, struct span prompt, struct span rest, size_t line,
               struct problem *problem);

void corpus_free(struct corpus *corpus);

/* The formats; each adds the records of one file's content. */

/** JSON Lines: objects with "text", or with "prompt" and "response". */
int jsonl_read(struct corpus *corpus, struct span content, struct problem *problem);

/** Whether a line is a single percent sign. */
int is_fortune(struct span content);

/** Texts between lines that are a single percent sign; blank ones are left out. */
int fortune_read(struct corpus *corpus, struct span content, struct problem *problem);

/** The next line of `rest` without its end, which is taken off `rest`; 0 if there is none. */
int next_line(struct span *rest, struct span *line);

/** Without white space at the end. */
struct span trimmed(struct span span);

#endif
