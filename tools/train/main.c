/* odcomm-train: the life of a run. */
#include "adamw.h"
#include "blas.h"
#include "digest.h"
#include "fail.h"
#include "generate.h"
#include "options.h"
#include "report.h"
#include "share.h"
#include "trainer.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void read_options(struct options *options, int argc, char **argv)
{
    struct problem problem = {""};
    if (options_parse(options, argc, argv, &problem))
        quit(EXIT_USAGE, "%s", problem.text);
    if (!options->help && !options->version)
        return;
    if (world_rank() == 0 && options->help)
        options_help(stdout);
    else if (world_rank() == 0)
        printf("odcomm-train %s\n", TRAIN_VERSION);
    options_free(options);
    MPI_Finalize();
    exit(EXIT_SUCCESS);
}

static bool all_readable(const char *const *path, size_t paths)
{
    for (size_t i = 0; i < paths; i++)
        if (access(path[i], R_OK) != 0)
            return false;
    return true;
}

static void read_corpus(const struct options *options, struct corpus *corpus)
{
    static const char *const fortunes[] = {"/usr/share/games/fortunes/computers",
                                           "/usr/share/games/fortunes/science",
                                           "/usr/share/games/fortunes/literature"};
    static const char *const own[] = {TRAIN_TEXTS};
    const char *const *path = options->data;
    size_t paths = (size_t)options->data_count;
    struct problem problem = {""};
    if (paths == 0 && all_readable(fortunes, 3)) {
        path = fortunes;
        paths = 3;
    } else if (paths == 0) {
        path = own;
        paths = 1;
    }
    if (corpus_read_shared(corpus, path, paths, MPI_COMM_WORLD, &problem))
        quit(EXIT_PROBLEM, "%s", problem.text);
}

static void make_samples(const struct options *options, const struct corpus *corpus,
                         struct samples *samples)
{
    struct problem problem = {"not enough memory for the samples"};
    int status = samples_make(corpus, (int)options->context, options->held_out, samples, &problem);
    quit_if_any(status != 0, problem.text);
    if (world_rank() != 0 || samples->cut == 0)
        return;
    const struct record *first = &corpus->record[samples->first_cut];
    fprintf(stderr,
            "odcomm-train: %zu of %zu texts are longer than the context of %ld tokens and "
            "were cut, the first at %s:%zu; to use all of a long text, cut it into records "
            "(lines with a single %%, or JSON Lines)\n",
            samples->cut, corpus->records, options->context, corpus->file[first->file],
            first->line);
    if (samples->dropped > 0)
        fprintf(stderr,
                "odcomm-train: %zu of them have a prompt that fills the context and were "
                "left out\n",
                samples->dropped);
}

/* Everything that training needs, and what it has come to. */
struct run {
    struct options options;
    struct corpus corpus;
    struct samples samples;
    struct order order;
    struct packing packing;
    const struct sample **chosen;
    struct trainer trainer;
    struct report report;
    struct outcome outcome;
};

static void choose_minibatch(struct run *run, long step)
{
    uint64_t size = (uint64_t)run->options.minibatch;
    for (uint64_t i = 0; i < size; i++) {
        size_t at = order_at(&run->order, (uint64_t)(step - 1) * size + i);
        run->chosen[i] = &run->samples.train[at];
    }
    packing_make(&run->packing, run->chosen, size, (int)run->options.cap);
}

static void train_step(struct run *run, long number, double *begin)
{
    struct trainer *trainer = &run->trainer;
    choose_minibatch(run, number);
    struct share share = train_microbatches(trainer, &run->packing);
    double sums[] = {share.loss, share.tokens, trainer->compute_s};
    check(trainer->ctx, odcomm_fence(trainer->ctx, sums, 3));
    double end = MPI_Wtime();
    struct step step = {.number = number,
                        .loss = sums[0],
                        .tokens = sums[1],
                        .seconds = end - *begin,
                        .utilization = sums[2] / (trainer->ranks * (end - *begin))};
    if (!isfinite(step.loss)) {
        trainer_free(trainer);
        quit(EXIT_PROBLEM, "the loss of step %ld is not a finite number: give a lower --lr",
             number);
    }
    report_step(&run->report, &step);
    run->outcome.loss = step.loss;
    trainer->compute_s = 0;
    *begin = end;
    update_shards(trainer, learning_rate(run->options.lr, number, run->options.steps), number);
}

/* The work phase behind the last update. */
static void finish(struct run *run)
{
    struct trainer *trainer = &run->trainer;
    struct packing packing;
    size_t held = run->samples.held;
    double loss = NAN;
    if (held > 0) {
        const struct sample **sample = calloc(held, sizeof *sample);
        if (!sample || packing_init(&packing, held))
            give_up("not enough memory for %zu held-out texts", held);
        for (size_t i = 0; i < held; i++)
            sample[i] = &run->samples.held_out[i];
        packing_make(&packing, sample, held, (int)run->options.cap);
        loss = measure_microbatches(trainer, &packing).loss;
        packing_free(&packing);
        free(sample);
    }
    run->outcome.digest = digest_weights(trainer);
    check(trainer->ctx, odcomm_fence(trainer->ctx, &loss, 1));
    run->outcome.held_out_loss = loss;
    report_outcome(&run->report, &run->outcome);
}

static void write_sample(struct run *run)
{
    struct trainer *trainer = &run->trainer;
    if (run->options.json || run->options.sample == 0)
        return;
    check(trainer->ctx, odcomm_publish(trainer->ctx));
    if (trainer->rank == 0)
        printf("sample:\n");
    generate(trainer, run->options.prompt, run->options.sample, (uint64_t)run->options.seed);
    check(trainer->ctx, odcomm_fence(trainer->ctx, NULL, 0));
}

static void train(struct run *run)
{
    double begin = MPI_Wtime();
    for (long step = 1; step <= run->options.steps; step++)
        train_step(run, step, &begin);
}

/* Two thirds of 4 times the width, as is usual, in multiples of 16. */
static int hidden_width(long width)
{
    return (int)((8 * width / 3 + 15) / 16 * 16);
}

static void set_up(struct run *run, const char *mode)
{
    const struct options *o = &run->options;
    struct shape shape = {.layers = (int)o->layers,
                          .width = (int)o->width,
                          .heads = (int)o->heads,
                          .kv_heads = (int)o->kv_heads,
                          .hidden = hidden_width(o->width),
                          .context = (int)o->context,
                          .untied = o->untied};
    size_t minibatch = (size_t)o->minibatch;
    read_corpus(o, &run->corpus);
    make_samples(o, &run->corpus, &run->samples);
    run->chosen = calloc(minibatch, sizeof *run->chosen);
    quit_if_any(!run->chosen || order_init(&run->order, run->samples.trained, (uint64_t)o->seed) ||
                    packing_init(&run->packing, minibatch),
                "not enough memory for the minibatch");
    trainer_init(&run->trainer, &shape, mode, (int)o->cap, (uint64_t)o->seed);
    report_init(&run->report, world_rank() != 0, o->json, o->steps);
}

static void tear_down(struct run *run)
{
    trainer_free(&run->trainer);
    packing_free(&run->packing);
    order_free(&run->order);
    free(run->chosen);
    samples_free(&run->samples);
    corpus_free(&run->corpus);
    options_free(&run->options);
}

int main(int argc, char **argv)
{
    static struct run run;
    blas_init(argv);
    MPI_Init(&argc, &argv);
    read_options(&run.options, argc, argv);
    const char *mode = getenv("ODCOMM_MODE"); /* wins over the option in the library, too */
    set_up(&run, mode ? mode : run.options.mode);
    train(&run);
    finish(&run);
    write_sample(&run);
    tear_down(&run);
    int unwritten = fflush(stdout) != 0 || ferror(stdout);
    MPI_Bcast(&unwritten, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (unwritten)
        quit(EXIT_PROBLEM, "standard output could not be written");
    MPI_Finalize();
    return EXIT_SUCCESS;
}
