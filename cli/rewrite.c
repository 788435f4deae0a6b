/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite.h"

/* False when more than one is asked for. The public enums number their steps alike. */
static bool take_step(const struct cli_command *command, const struct cli_args *args, int *out)
{
    static const struct {
        const char *option;
        int step;
    } STEPS[] = {
        {"schedule", HUDI_COMPACT_SCHEDULE},
        {"run", HUDI_COMPACT_RUN},
        {"pending", HUDI_COMPACT_PENDING},
        {"dry-run", HUDI_COMPACT_DRY_RUN},
    };
    int n = 0;

    *out = HUDI_COMPACT_PLAN_AND_RUN;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (cli_value(command, args, STEPS[i].option) == NULL)
            continue;
        *out = STEPS[i].step;
        n++;
    }
    return n < 2;
}

static void print_json_slice(const struct cli_rewrite *rewrite, const hudi_compaction *done,
                             size_t i, size_t s)
{
    const char *const base = hudi_compaction_base_file(done, i, s);
    const char *name;

    printf("{\"partition\":");
    cli_print_json_text(hudi_compaction_partition(done, i, s));
    if (rewrite->prints_group)
        printf(",\"group\":%zu", hudi_clustering_group(done, i, s));
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

static void print_json(const struct cli_rewrite *rewrite, const hudi_compaction *done, size_t i)
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
        print_json_slice(rewrite, done, i, s);
    }
    printf("]}\n");
}

static void print_files(const struct cli_rewrite *rewrite, const hudi_compaction *done, size_t i)
{
    const size_t n_slices = hudi_compaction_slices(done, i);
    char bytes[32];
    const char *name;

    for (size_t s = 0; s < n_slices; s++) {
        const char *const path = hudi_compaction_partition(done, i, s);
        const char *const base = hudi_compaction_base_file(done, i, s);
        const char *const slash = path[0] == '\0' ? "" : "/";

        if (base != NULL && rewrite->prints_base_files)
            printf("%s%s%s\n", path, slash, base);
        for (size_t f = 0; (name = hudi_compaction_log_file(done, i, s, f)) != NULL; f++)
            printf("%s%s%s\n", path, slash, name);
    }
    cli_format_bytes((double)hudi_compaction_bytes(done, i), bytes);
    fprintf(stderr, "%zu file slices, %s, would be %sed\n", n_slices, bytes, rewrite->what);
}

static void print(const struct cli_rewrite *rewrite, const hudi_compaction *done, size_t i)
{
    const char *const instant = hudi_compaction_instant(done, i);
    char bytes[32];

    if (instant[0] == '\0') {
        print_files(rewrite, done, i);
        return;
    }
    printf("%s\t%s\t%zu file slices planned", instant, hudi_compaction_state(done, i),
           hudi_compaction_slices(done, i));
    if (hudi_compaction_files(done, i) > 0) {
        cli_format_bytes((double)hudi_compaction_bytes_written(done, i), bytes);
        printf(", %zu %s files written with %lld rows, %s", hudi_compaction_files(done, i),
               rewrite->files, (long long)hudi_compaction_rows(done, i), bytes);
    }
    printf("\n");
}

int cli_rewrite(hudi_context *context, const struct cli_args *args,
                const struct cli_rewrite *rewrite)
{
    hudi_table *table = NULL;
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(rewrite->command, args, "json") != NULL;
    const char *const instant = cli_value(rewrite->command, args, "instant");
    int step, exit_code = CLI_EXIT_OK;

    if (!take_step(rewrite->command, args, &step))
        return cli_fail_text(CLI_EXIT_USAGE,
                             "--schedule, --run, --pending and --dry-run exclude one another");
    if (instant != NULL && step != HUDI_COMPACT_RUN)
        return cli_fail_text(CLI_EXIT_USAGE, "--instant goes with --run");
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        rewrite->call(table, step, instant, cli_cancel(), &done, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    cli_progress_end();
    for (size_t i = 0; i < hudi_compaction_length(done); i++) {
        if (json)
            print_json(rewrite, done, i);
        else
            print(rewrite, done, i);
    }
    if (hudi_compaction_length(done) == 0 && !json)
        fprintf(stderr, "nothing to %s\n", rewrite->what);
out:
    hudi_compaction_free(done);
    hudi_table_free(table);
    return exit_code;
}
