#include "report.h"

#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LINES = 30 }; /* about as many are printed where there is no terminal */

void report_init(struct report *report, bool silent, bool json, long steps)
{
    *report = (struct report){.silent = silent, .json = json, .steps = steps};
    report->live = !silent && !json && on_terminal();
}

static void print_line(const struct report *report, const struct step *step, FILE *stream)
{
    double left = report->seconds / (double)step->number * (double)(report->steps - step->number);
    long seconds = lround(left);
    fprintf(stream, "step %ld/%ld  loss %.3f  %.0f tokens/s  utilization %.2f  %ld:%02ld left",
            step->number, report->steps, step->loss, report->tokens / report->seconds,
            step->utilization, seconds / 60, seconds % 60);
}

static bool is_due(const struct report *report, long number)
{
    long every = (report->steps + LINES - 1) / LINES;
    return number == 1 || number == report->steps || number % every == 0;
}

void report_step(struct report *report, const struct step *step)
{
    report->seconds += step->seconds;
    report->tokens += step->tokens;
    if (report->silent)
        return;
    if (report->json) {
        printf("{\"step\":%ld,\"loss\":%.9g,\"tokens\":%.0f,\"step_s\":%.6f,"
               "\"utilization\":%.4f}\n",
               step->number, step->loss, step->tokens, step->seconds, step->utilization);
    } else if (report->live) {
        fputc('\r', stderr);
        print_line(report, step, stderr);
        fputs(step->number == report->steps ? "\033[K\n" : "\033[K", stderr);
    } else if (is_due(report, step->number)) {
        print_line(report, step, stdout);
        putchar('\n');
    }
    fflush(stdout);
}

static void print_outcome(const struct report *report, const struct outcome *outcome)
{
    printf("%ld steps in %.1f s, %.0f tokens/s, loss %.3f nats/byte\n", report->steps,
           report->seconds, report->tokens / report->seconds, outcome->loss);
    if (!isnan(outcome->held_out_loss))
        printf("held-out loss %.3f nats/byte\n", outcome->held_out_loss);
    printf("digest %016" PRIx64 "\n", outcome->digest);
}

static void print_outcome_json(const struct report *report, const struct outcome *outcome)
{
    printf("{\"final\":true,\"loss\":%.9g,\"digest\":\"%016" PRIx64
           "\",\"steps\":%ld,\"tokens_per_s\":%.1f,\"held_out_loss\":",
           outcome->loss, outcome->digest, report->steps, report->tokens / report->seconds);
    if (isnan(outcome->held_out_loss))
        printf("null}\n");
    else
        printf("%.9g}\n", outcome->held_out_loss);
}

void report_outcome(const struct report *report, const struct outcome *outcome)
{
    if (report->silent)
        return;
    if (report->json)
        print_outcome_json(report, outcome);
    else
        print_outcome(report, outcome);
    fflush(stdout);
}
