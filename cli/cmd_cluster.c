/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite.h"

static const struct cli_option OPTIONS[] = {
    CLI_REWRITE_OPTIONS("a clustering"),
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

static hudi_status call(hudi_table *table, int step, const char *instant, hudi_cancel *cancel,
                        hudi_compaction **out, hudi_error **err)
{
    return hudi_cluster(table, (hudi_cluster_step)step, instant, cancel, out, err);
}

static int run(hudi_context *context, const struct cli_args *args)
{
    const struct cli_rewrite rewrite = {.command = &cli_cluster,
                                        .call = call,
                                        .what = "cluster",
                                        .files = "base",
                                        .prints_group = true,
                                        .prints_base_files = true};

    return cli_rewrite(context, args, &rewrite);
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
