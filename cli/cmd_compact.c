/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"schedule", NULL, "write the plan of a compaction, and leave running it to others", NULL},
    {"run", NULL, "run the plans that are pending, and make no new one", NULL},
    {"instant", "TIME", "with --run: this plan alone", NULL},
    {"pending", NULL, "list the plans that are pending", NULL},
    {"dry-run", NULL, "list the log files that a compaction would merge now", NULL},
    {"strategy", "NAME", "which file slices, in which order: LogFileSizeBased, BoundedIO, ...",
     "hoodie.compaction.strategy"},
    {"commits", "N", "only when there are so many delta commits since the last compaction",
     "hoodie.compact.inline.max.delta.commits"},
    {"target-io", "MB", "read and write no more than this", "hoodie.compaction.target.io"},
    {"json", NULL, "one JSON object for each compaction", NULL},
    {NULL, NULL, NULL, NULL}};

/* False when more than one is asked for. */
static bool take_step(const struct cli_args *args, hudi_compact_step *out)
{
    static const struct {
        const char *option;
        hudi_compact_step step;
    } STEPS[] = {
        {"schedule", HUDI_COMPACT_SCHEDULE},
        {"run", HUDI_COMPACT_RUN},
        {"pending", HUDI_COMPACT_PENDING},
        {"dry-run", HUDI_COMPACT_DRY_RUN},
    };
    int n = 0;

    *out = HUDI_COMPACT_PLAN_AND_RUN;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (cli_value(&cli_compact, args, STEPS[i].option) == NULL)
            continue;
        *out = STEPS[i].step;
        n++;
    }
    return n < 2;
}

static void print_json_slice(const hudi_compaction *done, size_t i, size_t s)
{
    const char *const base = hudi_compaction_base_file(done, i, s);
    const char *name;

    printf("{\"partition\":");
    cli_print_json_text(hudi_compaction_partition(done, i, s));
    printf(",\"file_id\":");
    cli_print_json_text(hudi_compaction_file_id(done, i, s));
    printf(",\"base_file\":");
    if (base == NULL)
        printf("null");
    else
        cli_print_json_text(base);
    printf(",\"log_files\":[");
    for (size_t f = 0; (name = hudi_compaction_log_file(done, i, s, f)) != NULL; f++) {
        printf(f > 0 ? "," : "");
        cli_print_json_text(name);
    }
    printf("]}");
}

static void print_json(const hudi_compaction *done, size_t i)
{
    printf("{\"instant\":");
    cli_print_json_text(hudi_compaction_instant(done, i));
    printf(",\"state\":");
    cli_print_json_text(hudi_compaction_state(done, i));
    printf(",\"bytes\":%lld,\"files\":%zu,\"rows\":%lld,\"bytes_written\":%lld,\"slices\":[",
           (long long)hudi_compaction_bytes(done, i), hudi_compaction_files(done, i),
           (long long)hudi_compaction_rows(done, i),
           (long long)hudi_compaction_bytes_written(done, i));
    for (size_t s = 0; s < hudi_compaction_slices(done, i); s++) {
        printf(s > 0 ? "," : "");
        print_json_slice(done, i, s);
    }
    printf("]}\n");
}

static void print_compaction(const hudi_compaction *done, size_t i)
{
    const char *const instant = hudi_compaction_instant(done, i);
    const size_t n_slices = hudi_compaction_slices(done, i);
    char bytes[32];
    const char *name;

    if (instant[0] == '\0') {
        for (size_t s = 0; s < n_slices; s++) {
            const char *const path = hudi_compaction_partition(done, i, s);

            for (size_t f = 0; (name = hudi_compaction_log_file(done, i, s, f)) != NULL; f++)
                printf("%s%s%s\n", path, path[0] == '\0' ? "" : "/", name);
        }
        cli_format_bytes((double)hudi_compaction_bytes(done, i), bytes);
        fprintf(stderr, "%zu file slices, %s, would be compacted\n", n_slices, bytes);
        return;
    }
    printf("%s\t%s\t%zu file slices planned", instant, hudi_compaction_state(done, i), n_slices);
    if (hudi_compaction_files(done, i) > 0) {
        cli_format_bytes((double)hudi_compaction_bytes_written(done, i), bytes);
        printf(", %zu base files written with %lld rows, %s", hudi_compaction_files(done, i),
               (long long)hudi_compaction_rows(done, i), bytes);
    }
    printf("\n");
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(&cli_compact, args, "json") != NULL;
    const char *const instant = cli_value(&cli_compact, args, "instant");
    hudi_compact_step step;
    int exit_code = CLI_EXIT_OK;

    if (!take_step(args, &step))
        return cli_fail_text(CLI_EXIT_USAGE,
                             "--schedule, --run, --pending and --dry-run exclude one another");
    if (instant != NULL && step != HUDI_COMPACT_RUN)
        return cli_fail_text(CLI_EXIT_USAGE, "--instant goes with --run");
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_compact(table, step, instant, cli_cancel(), &done, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    for (size_t i = 0; i < hudi_compaction_length(done); i++) {
        if (json)
            print_json(done, i);
        else
            print_compaction(done, i);
    }
    if (hudi_compaction_length(done) == 0 && !json)
        fprintf(stderr, "nothing to compact\n");
out:
    hudi_compaction_free(done);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_compact = {
    .name = "compact",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "merge the log files of a merge-on-read table into base files",
    .help =
        "Runs the plans that are pending, then plans and runs a new compaction of all file slices\n"
        "with log files, however few these are; with --commits, or keys of\n"
        "hoodie.compact.inline.* set, only when it is time. Writes go on while a plan is pending.\n"
        "Writes with -o hoodie.compact.inline=true compact by themselves.",
    .options = OPTIONS,
    .run = run,
};
