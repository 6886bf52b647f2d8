#include "contest.h"

#include "options.h"
#include "report.h"
#include "trial.h"
#include "world.h"

static void run_size(const struct contest *contest, const struct options *options, size_t bytes)
{
    size_t size = dtype_size(options->dtype), count = bytes / size;
    double seconds[MOST_CONTESTANTS];
    void *state = contest->open(count, options->dtype);

    measure(contest->contestant, contest->contestants, state, options->repeat, contest->most(),
            seconds);
    contest->close(state);
    report_row(contest, options, count * size, seconds);
}

void contest_run(const struct contest *contest, int argc, char **argv)
{
    struct options options;
    struct problem problem = {""};

    if (options_parse(&options, argc, argv, &problem))
        quit(EXIT_USAGE, "%s", problem.text);
    report_header(contest, &options);
    for (size_t bytes = options.min; bytes <= options.max; bytes *= 4)
        run_size(contest, &options, bytes);
}
