/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"schedule", NULL, "write the plan of a clustering, and leave running it to others", NULL},
    {"run", NULL, "run the plans that are pending, and make no new one", NULL},
    {"instant", "TIME", "with --run: this plan alone", NULL},
    {"pending", NULL, "list the plans that are pending", NULL},
    {"dry-run", NULL, "list the files that a clustering would rewrite now", NULL},
    {"sort", "C[,C]", "sort rows by these columns", "hoodie.clustering.plan.strategy.sort.columns"},
    {"layout", "NAME", "how the columns count: linear, z-order or hilbert",
     "hoodie.layout.optimize.strategy"},
    {"partitions", "P[,P]", "only these", "hoodie.clustering.plan.strategy.partition.selected"},
    {"small", "BYTES", "only base files smaller than this",
     "hoodie.clustering.plan.strategy.small.file.limit"},
    {"target", "BYTES", "size of the files to make",
     "hoodie.clustering.plan.strategy.target.file.max.bytes"},
    {"json", NULL, "one JSON object for each clustering", NULL},
    {NULL, NULL, NULL, NULL}};

/* False when more than one is asked for. */
static bool take_step(const struct cli_args *args, hudi_cluster_step *out)
{
    static const struct {
        const char *option;
        hudi_cluster_step step;
    } STEPS[] = {
        {"schedule", HUDI_CLUSTER_SCHEDULE},
        {"run", HUDI_CLUSTER_RUN},
        {"pending", HUDI_CLUSTER_PENDING},
        {"dry-run", HUDI_CLUSTER_DRY_RUN},
    };
    int n = 0;

    *out = HUDI_CLUSTER_PLAN_AND_RUN;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (cli_value(&cli_cluster, args, STEPS[i].option) == NULL)
            continue;
        *out = STEPS[i].step;
        n++;
    }
    return n < 2;
}

static void print_json_slice(const hudi_clustering *done, size_t i, size_t s)
{
    const char *const base = hudi_clustering_base_file(done, i, s);
    const char *name;

    printf("{\"partition\":");
    cli_print_json_text(hudi_clustering_partition(done, i, s));
    printf(",\"group\":%zu,\"file_id\":", hudi_clustering_group(done, i, s));
    cli_print_json_text(hudi_clustering_file_id(done, i, s));
    printf(",\"base_file\":");
    if (base == NULL)
        printf("null");
    else
        cli_print_json_text(base);
    printf(",\"log_files\":[");
    for (size_t f = 0; (name = hudi_clustering_log_file(done, i, s, f)) != NULL; f++) {
        printf(f > 0 ? "," : "");
        cli_print_json_text(name);
    }
    printf("]}");
}

static void print_json(const hudi_clustering *done, size_t i)
{
    printf("{\"instant\":");
    cli_print_json_text(hudi_clustering_instant(done, i));
    printf(",\"state\":");
    cli_print_json_text(hudi_clustering_state(done, i));
    printf(",\"bytes\":%lld,\"files\":%zu,\"rows\":%lld,\"bytes_written\":%lld,\"slices\":[",
           (long long)hudi_clustering_bytes(done, i), hudi_clustering_files(done, i),
           (long long)hudi_clustering_rows(done, i),
           (long long)hudi_clustering_bytes_written(done, i));
    for (size_t s = 0; s < hudi_clustering_slices(done, i); s++) {
        printf(s > 0 ? "," : "");
        print_json_slice(done, i, s);
    }
    printf("]}\n");
}

static void print_clustering(const hudi_clustering *done, size_t i)
{
    const char *const instant = hudi_clustering_instant(done, i);
    const size_t n_slices = hudi_clustering_slices(done, i);
    char bytes[32];
    const char *name;

    if (instant[0] == '\0') {
        for (size_t s = 0; s < n_slices; s++) {
            const char *const path = hudi_clustering_partition(done, i, s);
            const char *const base = hudi_clustering_base_file(done, i, s);
            const char *const slash = path[0] == '\0' ? "" : "/";

            if (base != NULL)
                printf("%s%s%s\n", path, slash, base);
            for (size_t f = 0; (name = hudi_clustering_log_file(done, i, s, f)) != NULL; f++)
                printf("%s%s%s\n", path, slash, name);
        }
        cli_format_bytes((double)hudi_clustering_bytes(done, i), bytes);
        fprintf(stderr, "%zu file slices, %s, would be clustered\n", n_slices, bytes);
        return;
    }
    printf("%s\t%s\t%zu file slices planned", instant, hudi_clustering_state(done, i), n_slices);
    if (hudi_clustering_files(done, i) > 0) {
        cli_format_bytes((double)hudi_clustering_bytes_written(done, i), bytes);
        printf(", %zu base files written with %lld rows, %s", hudi_clustering_files(done, i),
               (long long)hudi_clustering_rows(done, i), bytes);
    }
    printf("\n");
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_clustering *done = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(&cli_cluster, args, "json") != NULL;
    const char *const instant = cli_value(&cli_cluster, args, "instant");
    hudi_cluster_step step;
    int exit_code = CLI_EXIT_OK;

    if (!take_step(args, &step))
        return cli_fail_text(CLI_EXIT_USAGE,
                             "--schedule, --run, --pending and --dry-run exclude one another");
    if (instant != NULL && step != HUDI_CLUSTER_RUN)
        return cli_fail_text(CLI_EXIT_USAGE, "--instant goes with --run");
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_cluster(table, step, instant, cli_cancel(), &done, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    for (size_t i = 0; i < hudi_clustering_length(done); i++) {
        if (json)
            print_json(done, i);
        else
            print_clustering(done, i);
    }
    if (hudi_clustering_length(done) == 0 && !json)
        fprintf(stderr, "nothing to cluster\n");
out:
    hudi_clustering_free(done);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_cluster = {
    .name = "cluster",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "move rows of small files to larger ones, sorted if asked for",
    .help =
        "Runs the plans that are pending, then plans and runs a new clustering of files smaller "
        "than\n"
        "--small. Nothing is done for a single file that is not sorted. While a plan is pending,\n"
        "updates of its rows are refused. Writes with -o hoodie.clustering.inline=true cluster by\n"
        "themselves.",
    .options = OPTIONS,
    .run = run,
};
