/* Reading texts: formats, folders, samples, and what is said about bad input. */
#include "samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* A folder of its own for each test. */
struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder)
        return -1;
    strcpy(folder->path, "/tmp/train_data_XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder->path);
    int status = system(command);
    free(folder);
    return status;
}

static const char *path_of(void **state, const char *name)
{
    static char path[256];
    const struct folder *folder = *state;
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

static const char *write_file(void **state, const char *name, const char *content)
{
    const char *path = path_of(state, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(content, 1, strlen(content), stream), strlen(content));
    assert_int_equal(fclose(stream), 0);
    return path;
}

static struct corpus read_ok(const char *path)
{
    struct corpus corpus = {0};
    struct problem problem = {""};
    if (corpus_read(&corpus, &path, 1, &problem))
        fail_msg("%s", problem.text);
    return corpus;
}

static void read_fails(const char *path, const char *expected)
{
    struct corpus corpus = {0};
    struct problem problem = {""};
    assert_int_equal(corpus_read(&corpus, &path, 1, &problem), -1);
    if (!strstr(problem.text, expected))
        fail_msg("expected \"%s\" in: %s", expected, problem.text);
    assert_null(strchr(problem.text, '\n'));
    corpus_free(&corpus);
}

static void assert_record(const struct corpus *corpus, size_t i, const char *text, size_t prompt,
                          size_t line)
{
    assert_true(i < corpus->records);
    const struct record *record = &corpus->record[i];
    assert_int_equal(record->length, strlen(text));
    assert_memory_equal(corpus->bytes + record->first, text, strlen(text));
    assert_int_equal(record->prompt, prompt);
    assert_int_equal(record->line, line);
}

static void fortune_format(void **state)
{
    struct corpus corpus =
        read_ok(write_file(state, "f", "one\ntwo\n%\n%\n \n%\nthree % %\n%%\n%\r\nlast"));
    assert_int_equal(corpus.records, 3);
    assert_record(&corpus, 0, "one\ntwo", 0, 1);
    assert_record(&corpus, 1, "three % %\n%%", 0, 7);
    assert_record(&corpus, 2, "last", 0, 10);
    corpus_free(&corpus);
}

static void plain_text_is_one_record(void **state)
{
    struct corpus corpus = read_ok(write_file(state, "t.txt", "100 %\nof it\n\n"));
    assert_int_equal(corpus.records, 1);
    assert_record(&corpus, 0, "100 %\nof it", 0, 1);
    corpus_free(&corpus);
}

static void json_lines(void **state)
{
    struct corpus corpus = read_ok(write_file(state, "t.jsonl",
                                              "{\"text\": \"a\\u00e9\"}\r\n"
                                              "\n"
                                              "{\"prompt\": \"2+2=\", \"response\": \"4\"}\n"
                                              "{\"id\": 1, \"text\": \"\"}"));
    assert_int_equal(corpus.records, 3);
    assert_record(&corpus, 0, "a\xc3\xa9", 0, 1);
    assert_record(&corpus, 1, "2+2=4", 4, 3);
    assert_record(&corpus, 2, "", 0, 4);
    corpus_free(&corpus);
}

static void bad_json_lines(void **state)
{
    read_fails(write_file(state, "a.jsonl", "{\"text\": \"x\"}\n{\"text\": \n"),
               "a.jsonl:2: not valid JSON");
    read_fails(write_file(state, "b.jsonl", "{\"prompt\": \"x\"}\n"), "b.jsonl:1: expected");
    read_fails(write_file(state, "c.jsonl", "{\"text\": 5}\n"), "c.jsonl:1: expected");
    read_fails(write_file(state, "d.jsonl", "\n\n[1, 2]\n"), "d.jsonl:3: expected");
    read_fails(write_file(state, "e.jsonl", "{\"text\": \"\xff\"}\n"), "e.jsonl:1: not valid");
    read_fails(write_file(state, "f.jsonl", "{\"text\": \"x\"} {}\n"), "f.jsonl:1: not valid");
}

static void bad_paths(void **state)
{
    read_fails(path_of(state, "missing"), "missing: No such file");
    read_fails(write_file(state, "empty", ""), "empty: holds no text");
    read_fails(write_file(state, "blank", "%\n\n%\n"), "blank: holds no text");
    read_fails("/dev/null", "neither a file nor a folder");
    assert_int_equal(mkdir(path_of(state, "none"), 0700), 0);
    read_fails(path_of(state, "none"), "none: holds no text");
}

static void folders_are_sorted_and_filtered(void **state)
{
    char target[256];
    strcpy(target, write_file(state, "c", "third"));
    write_file(state, "B", "first");
    write_file(state, "x.dat", "no");
    write_file(state, "x.u8", "no");
    write_file(state, ".hidden", "no");
    write_file(state, "empty", "");
    assert_int_equal(symlink(target, path_of(state, "link")), 0);
    assert_int_equal(mkdir(path_of(state, "a"), 0700), 0);
    write_file(state, "a/z", "second");
    struct corpus corpus = read_ok(path_of(state, ""));
    assert_int_equal(corpus.records, 3);
    assert_record(&corpus, 0, "first", 0, 1);
    assert_record(&corpus, 1, "second", 0, 1);
    assert_record(&corpus, 2, "third", 0, 1);
    assert_string_equal(corpus.file[corpus.record[2].file], target);
    corpus_free(&corpus);
}

/* Forty texts of 0 to 39 bytes; texts 4 and 5 are prompts but for their last byte. */
static struct corpus forty_texts(void)
{
    static const char bytes[] = "0123456789012345678901234567890123456789";
    struct corpus corpus = {0};
    struct problem problem;
    assert_int_equal(corpus_add_file(&corpus, "forty", &problem), 0);
    for (size_t i = 0; i < 40; i++) {
        size_t prompt = i == 4 || i == 5 ? i - 1 : 0;
        struct span first = {bytes, prompt}, rest = {bytes + prompt, i - prompt};
        assert_int_equal(corpus_add(&corpus, first, rest, i + 1, &problem), 0);
    }
    return corpus;
}

static void samples_are_cut_and_held_out(void **state)
{
    (void)state;
    struct corpus corpus = forty_texts();
    struct samples samples;
    struct problem problem;
    assert_int_equal(samples_make(&corpus, 5, 0.05, &samples, &problem), 0);
    assert_int_equal(samples.trained, 38);
    assert_int_equal(samples.held, 2);
    assert_int_equal(samples.cut, 35);
    assert_int_equal(samples.first_cut, 5);
    assert_int_equal(samples.dropped, 0);
    assert_int_equal(samples.train[0].tokens, 1);
    assert_int_equal(target_count(&samples.train[0]), 1);
    assert_int_equal(samples.train[5].tokens, 5);
    assert_int_equal(target_count(&samples.train[5]), 1);
    assert_int_equal(samples.held_out[0].length, 19);
    assert_int_equal(samples.held_out[1].length, 39);
    samples_free(&samples);

    assert_int_equal(samples_make(&corpus, 4, 0, &samples, &problem), 0);
    assert_int_equal(samples.held, 0);
    assert_int_equal(samples.dropped, 1);
    samples_free(&samples);
    corpus_free(&corpus);
}

static void nothing_left_to_train_on(void **state)
{
    (void)state;
    struct corpus corpus = {0};
    struct samples samples;
    struct problem problem = {""};
    struct span prompt = {"a long prompt", 13}, response = {"!", 1};
    assert_int_equal(corpus_add_file(&corpus, "one", &problem), 0);
    assert_int_equal(corpus_add(&corpus, prompt, response, 1, &problem), 0);
    assert_int_equal(samples_make(&corpus, 8, 0, &samples, &problem), -1);
    assert_non_null(strstr(problem.text, "none of the 1 texts is left"));
    corpus_free(&corpus);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(fortune_format),
        IN_FOLDER(plain_text_is_one_record),
        IN_FOLDER(json_lines),
        IN_FOLDER(bad_json_lines),
        IN_FOLDER(bad_paths),
        IN_FOLDER(folders_are_sorted_and_filtered),
        cmocka_unit_test(samples_are_cut_and_held_out),
        cmocka_unit_test(nothing_left_to_train_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
