#include "generate.h"

#include "embedding.h"
#include "fail.h"
#include "head.h"
#include "random.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const double temperature = 0.6;

/* All tokens so far, of which [first, end), at most the context, go in. */
struct window {
    int *token;
    size_t first;
    size_t end;
    size_t room;
};

/* When it is full its second half stays, behind a boundary, since no text began without one. */
static void window_push(struct window *window, int token)
{
    if (token == BOUNDARY)
        window->first = window->end;
    window->token[window->end++] = token;
    if (window->end - window->first > window->room) {
        window->first = window->end - (window->room + 1) / 2;
        window->token[window->first] = BOUNDARY;
    }
}

static const real *next_logits(struct trainer *trainer, const float *const *weights,
                               const struct window *window)
{
    const struct shape *shape = &trainer->shape;
    struct workspace *work = &trainer->workspace;
    int start[2] = {0, (int)(window->end - window->first)}, last = shape->layers + 1;
    struct packed packed = {

        .texts = 1, .tokens = start[1], .start = start, .input = window->token + window->first};
    embedding_forward(&packed, shape->width, weights[0], work->layer[0].x);
    for (int l = 0; l < shape->layers; l++)
        block_forward(shape, &trainer->layout[l + 1], &packed, weights[l + 1], &work->layer[l],
                      &work->scratch, l + 1 < shape->layers ? work->layer[l + 1].x : work->top);
    struct head_weights head = {.gain = weights[last], .output = weights[0]};
    if (shape->untied)
        head.output = weights[last] + trainer->layout[last].tensor[HEAD_OUTPUT].first;
    return head_logits(shape, work->top + (size_t)(start[1] - 1) * (size_t)shape->width, &head,
                       work->head);
}

static int draw(const real *logits, double uniform)
{
    double top = (double)logits[0], sum = 0, probability[VOCABULARY];
    for (int i = 1; i < VOCABULARY; i++)
        top = fmax(top, (double)logits[i]);
    for (int i = 0; i < VOCABULARY; i++)
        sum += probability[i] = exp(((double)logits[i] - top) / temperature);
    int token = 0;
    for (double below = probability[0]; below < uniform * sum && token < VOCABULARY - 1;)
        below += probability[++token];
    return token;
}

/* Bytes of the UTF-8 character that begins here, 0 if it is none or a control character. */
static size_t character_length(const unsigned char *text, size_t left)
{
    unsigned char c = text[0];
    size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 0;
    if (c >= 0xf0 && c < 0xf5)
        length = 4;
    if (length > left || (length == 1 && iscntrl(c) && c != '\n' && c != '\t'))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* What a terminal could not show comes out as question marks. */
static void print_text(const unsigned char *text, size_t size)
{
    for (size_t i = 0, length; i < size; i += length) {
        length = character_length(text + i, size - i);
        if (length > 0)
            fwrite(text + i, 1, length, stdout);
        else
            putchar('?');
        length = length > 0 ? length : 1;
    }
    putchar('\n');
}

static void write_text(struct trainer *trainer, const float *const *weights, struct window *window,
                       long bytes, uint64_t seed, unsigned char *text)
{
    for (long i = 0; i < bytes; i++) {
        double uniform = random_uniform(seed, STREAM_SAMPLE, (uint64_t)i);
        int token = draw(next_logits(trainer, weights, window), uniform);
        text[i] = token == BOUNDARY ? '\n' : (unsigned char)token; /* between two texts */
        window_push(window, token);
    }
}

static void generate_alone(struct trainer *trainer, const float *const *weights, const char *prompt,
                           long bytes, uint64_t seed)
{
    struct window window = {.room = (size_t)trainer->shape.context};
    size_t given = strlen(prompt), size = given + (size_t)bytes;
    unsigned char *text = malloc(size + 1);
    window.token = calloc(size + 1, sizeof *window.token);
    if (!text || !window.token)
        give_up("not enough memory for a sample of %ld bytes", bytes);
    memcpy(text, prompt, given);
    window_push(&window, BOUNDARY);
    for (size_t i = 0; i < given; i++)
        window_push(&window, text[i]);
    write_text(trainer, weights, &window, bytes, seed, text + given);
    print_text(text, size);
    free(window.token);
    free(text);
}

/* Holds all groups at once instead of gathering each of them for each byte. */
void generate(struct trainer *trainer, const char *prompt, long bytes, uint64_t seed)
{
    int groups = group_count(&trainer->shape);
    const float **weights = calloc((size_t)groups, sizeof *weights);
    if (!weights)
        give_up("not enough memory for a sample");
    for (int g = 0; g < groups; g++) {
        const void *values;
        check(trainer->ctx, odcomm_gather(trainer->group[g], &values));
        weights[g] = values;
    }
    if (trainer->rank == 0)
        generate_alone(trainer, weights, prompt, bytes, seed);
    for (int g = 0; g < groups; g++)
        check(trainer->ctx, odcomm_release(trainer->group[g]));
    free(weights);
}
