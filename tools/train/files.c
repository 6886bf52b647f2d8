/* Files and folders. */
#include "corpus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_access(const char *path, struct problem *problem)
{
    return problem_set(problem, "%s: %s", path, strerror(errno));
}

static int ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The whole file in memory of its own. */
static int load(const char *path, char **content, size_t *length, struct problem *problem)
{
    FILE *stream = fopen(path, "rb");
    struct stat status;
    int result = -1;
    *content = NULL;
    if (!stream || fstat(fileno(stream), &status) != 0) {
        no_access(path, problem);
        goto done;
    }
    *content = malloc((size_t)status.st_size + 1);
    if (!*content) {
        problem_set(problem, "%s: not enough memory for its %lld bytes", path,
                    (long long)status.st_size);
        goto done;
    }
    *length = fread(*content, 1, (size_t)status.st_size, stream);
    if (ferror(stream)) {
        no_access(path, problem);
        goto done;
    }
    result = 0;
done:
    if (result) {
        free(*content);
        *content = NULL;
    }
    if (stream)
        fclose(stream);
    return result;
}

static int add_content(struct corpus *corpus, const char *path, struct span content,
                       struct problem *problem)
{
    const struct span none = {.text = "", .length = 0};
    if (ends_with(path, ".jsonl"))
        return jsonl_read(corpus, content, problem);
    if (is_fortune(content))
        return fortune_read(corpus, content, problem);
    content = trimmed(content);
    return content.length ? corpus_add(corpus, none, content, 1, problem) : 0;
}

static int read_file(struct corpus *corpus, const char *path, struct problem *problem)
{
    char *content;
    size_t length;
    if (corpus_add_file(corpus, path, problem) || load(path, &content, &length, problem))
        return -1;
    int status = add_content(corpus, path, (struct span){content, length}, problem);
    free(content);
    return status;
}

static int is_wanted(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return name[0] != '.' && !ends_with(name, ".dat") && !ends_with(name, ".u8");
}

/* Not alphasort(), which depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(struct corpus *corpus, const char *path, struct problem *problem);

static int read_entry(struct corpus *corpus, const char *folder, const char *name,
                      struct problem *problem)
{
    char *path;
    struct stat status;
    int result = 0;
    if (asprintf(&path, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name) < 0)
        return problem_set(problem, "%s: not enough memory", folder);
    if (lstat(path, &status) != 0)
        result = no_access(path, problem);
    else if (S_ISDIR(status.st_mode))
        result = read_folder(corpus, path, problem);
    else if (S_ISREG(status.st_mode))
        result = read_file(corpus, path, problem);
    free(path);
    return result;
}

static int read_folder(struct corpus *corpus, const char *path, struct problem *problem)
{
    struct dirent **entry;
    int count = scandir(path, &entry, is_wanted, by_name), status = 0;
    if (count < 0)
        return no_access(path, problem);
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = read_entry(corpus, path, entry[i]->d_name, problem);
        free(entry[i]);
    }
    free(entry);
    return status;
}

static int read_path(struct corpus *corpus, const char *path, struct problem *problem)
{
    struct stat status;
    size_t before = corpus->records;
    if (stat(path, &status) != 0)
        return no_access(path, problem);
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
        return problem_set(problem, "%s: neither a file nor a folder", path);
    if (S_ISDIR(status.st_mode) ? read_folder(corpus, path, problem)
                                : read_file(corpus, path, problem))
        return -1;
    if (corpus->records == before)
        return problem_set(problem, "%s: holds no text", path);
    return 0;
}

int corpus_read(struct corpus *corpus, const char *const *path, size_t paths,
                struct problem *problem)
{
    for (size_t i = 0; i < paths; i++)
        if (read_path(corpus, path[i], problem))
            return -1;
    return 0;
}
