/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"schedule", NULL, "write the plan of a clean, and leave running it to others", NULL},
    {"run", NULL, "run the plans that are pending, and make no new one", NULL},
    {"pending", NULL, "list the plans that are pending", NULL},
    {"dry-run", NULL, "list the files that a clean would delete now", NULL},
    {"policy", "NAME", "KEEP_LATEST_COMMITS, KEEP_LATEST_FILE_VERSIONS or KEEP_LATEST_BY_HOURS",
     "hoodie.cleaner.policy"},
    {"commits", "N", "commits that stay readable", "hoodie.cleaner.commits.retained"},
    {"versions", "N", "versions of each file group that stay",
     "hoodie.cleaner.fileversions.retained"},
    {"hours", "N", "hours that stay readable", "hoodie.cleaner.hours.retained"},
    {"json", NULL, "one JSON object for each clean", NULL},
    {NULL, NULL, NULL, NULL}};

/* False when more than one is asked for. */
static bool take_step(const struct cli_args *args, hudi_clean_step *out)
{
    static const struct {
        const char *option;
        hudi_clean_step step;
    } STEPS[] = {
        {"schedule", HUDI_CLEAN_SCHEDULE},
        {"run", HUDI_CLEAN_RUN},
        {"pending", HUDI_CLEAN_PENDING},
        {"dry-run", HUDI_CLEAN_DRY_RUN},
    };
    int n = 0;

    *out = HUDI_CLEAN_PLAN_AND_RUN;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (cli_value(&cli_clean, args, STEPS[i].option) == NULL)
            continue;
        *out = STEPS[i].step;
        n++;
    }
    return n < 2;
}

static void print_json_files(const hudi_cleaning *done, size_t i)
{
    const char *path, *name;

    printf(",\"partitions\":{");
    for (size_t p = 0; (path = hudi_cleaning_partition(done, i, p)) != NULL; p++) {
        printf(p > 0 ? "," : "");
        cli_print_json_text(path);
        printf(":[");
        for (size_t f = 0; (name = hudi_cleaning_file(done, i, p, f)) != NULL; f++) {
            printf(f > 0 ? "," : "");
            cli_print_json_text(name);
        }
        printf("]");
    }
    printf("}");
}

static void print_json(const hudi_cleaning *done, size_t i)
{
    const char *const earliest = hudi_cleaning_earliest(done, i);

    printf("{\"instant\":");
    cli_print_json_text(hudi_cleaning_instant(done, i));
    printf(",\"state\":");
    cli_print_json_text(hudi_cleaning_state(done, i));
    printf(",\"policy\":");
    cli_print_json_text(hudi_cleaning_policy(done, i));
    printf(",\"earliest_retained\":");
    if (earliest == NULL)
        printf("null");
    else
        cli_print_json_text(earliest);
    printf(",\"files\":%zu,\"bytes\":%lld,\"deleted\":%zu,\"failed\":%zu,"
           "\"deleted_partitions\":%zu",
           hudi_cleaning_files(done, i), (long long)hudi_cleaning_bytes(done, i),
           hudi_cleaning_deleted(done, i), hudi_cleaning_failed(done, i),
           hudi_cleaning_deleted_partitions(done, i));
    print_json_files(done, i);
    printf("}\n");
}

static void print_files(const hudi_cleaning *done, size_t i)
{
    const char *path, *name;

    for (size_t p = 0; (path = hudi_cleaning_partition(done, i, p)) != NULL; p++)
        for (size_t f = 0; (name = hudi_cleaning_file(done, i, p, f)) != NULL; f++)
            printf("%s%s%s\n", path, path[0] == '\0' ? "" : "/", name);
}

static void print_clean(const hudi_cleaning *done, size_t i)
{
    const char *const instant = hudi_cleaning_instant(done, i);
    const char *const earliest = hudi_cleaning_earliest(done, i);
    char bytes[32];

    if (instant[0] == '\0') {
        cli_format_bytes((double)hudi_cleaning_bytes(done, i), bytes);
        print_files(done, i);
        fprintf(stderr, "%zu files, %s, would be deleted", hudi_cleaning_files(done, i), bytes);
        fprintf(stderr, earliest == NULL ? "\n" : "; what is read from %s on stays\n", earliest);
        return;
    }
    printf("%s\t%s\t%zu files planned, %zu deleted", instant, hudi_cleaning_state(done, i),
           hudi_cleaning_files(done, i), hudi_cleaning_deleted(done, i));
    if (hudi_cleaning_failed(done, i) > 0)
        printf(", %zu gone before", hudi_cleaning_failed(done, i));
    if (hudi_cleaning_deleted_partitions(done, i) > 0)
        printf(", %zu empty partitions deleted", hudi_cleaning_deleted_partitions(done, i));
    printf(earliest == NULL ? "\n" : "; readable from %s on\n", earliest);
}

/* What is to stay says by what: --versions alone would else count for nothing. */
static bool take_policy(const struct cli_args *args)
{
    static const struct {
        const char *option, *policy;
    } POLICIES[] = {
        {"commits", "KEEP_LATEST_COMMITS"},
        {"versions", "KEEP_LATEST_FILE_VERSIONS"},
        {"hours", "KEEP_LATEST_BY_HOURS"},
    };
    const char *policy = NULL;
    hudi_error *error = NULL;

    if (cli_value(&cli_clean, args, "policy") != NULL)
        return true;
    for (size_t i = 0; i < sizeof POLICIES / sizeof *POLICIES; i++) {
        if (cli_value(&cli_clean, args, POLICIES[i].option) == NULL)
            continue;
        if (policy != NULL) {
            cli_fail_text(CLI_EXIT_USAGE, "--commits, --versions and --hours exclude one another");
            return false;
        }
        policy = POLICIES[i].policy;
    }
    if (policy == NULL ||
        hudi_options_set(args->options, "hoodie.cleaner.policy", policy, &error) == HUDI_OK)
        return true;
    cli_fail(error);
    return false;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_cleaning *done = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(&cli_clean, args, "json") != NULL;
    hudi_clean_step step;
    int exit_code = CLI_EXIT_OK;

    if (!take_step(args, &step))
        return cli_fail_text(CLI_EXIT_USAGE,
                             "--schedule, --run, --pending and --dry-run exclude one another");
    if (!take_policy(args))
        return CLI_EXIT_USAGE;
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_clean(table, step, cli_cancel(), &done, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    cli_progress_end();
    for (size_t i = 0; i < hudi_cleaning_length(done); i++) {
        if (json)
            print_json(done, i);
        else
            print_clean(done, i);
    }
    if (hudi_cleaning_length(done) == 0 && !json)
        fprintf(stderr, "nothing to clean\n");
out:
    hudi_cleaning_free(done);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_clean = {
    .name = "clean",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "delete files that no reader needs any more",
    .help =
        "Finishes what an earlier clean left, then plans and runs a new one. The newest version "
        "of\n"
        "every file group stays, and what savepoints, pending compactions and clusterings name.\n"
        "Writes clean by themselves unless hoodie.clean.automatic=false.",
    .options = OPTIONS,
    .run = run,
};
