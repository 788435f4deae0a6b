/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite.h"

static const struct cli_option OPTIONS[] = {
    CLI_REWRITE_OPTIONS("a compaction"),
    {"dry-run", NULL, "list the log files that a compaction would merge now", NULL},
    {"strategy", "NAME", "which file slices, in which order: LogFileSizeBased, BoundedIO, ...",
     "hoodie.compaction.strategy"},
    {"commits", "N", "only when there are so many delta commits since the last compaction",
     "hoodie.compact.inline.max.delta.commits"},
    {"target-io", "MB", "read and write no more than this", "hoodie.compaction.target.io"},
    {"logs", NULL, "merge log files into one log file, and leave base files as they are", NULL},
    {"blocks", "N", "with --logs: only where there are so many log files or blocks",
     "hoodie.log.compaction.blocks.threshold"},
    {"json", NULL, "one JSON object for each compaction", NULL},
    {NULL, NULL, NULL, NULL}};

static hudi_status call(hudi_table *table, int step, const char *instant, hudi_cancel *cancel,
                        hudi_compaction **out, hudi_error **err)
{
    return hudi_compact(table, (hudi_compact_step)step, instant, cancel, out, err);
}

static hudi_status call_logs(hudi_table *table, int step, const char *instant, hudi_cancel *cancel,
                             hudi_compaction **out, hudi_error **err)
{
    return hudi_compact_logs(table, (hudi_compact_step)step, instant, cancel, out, err);
}

static int run(hudi_context *context, const struct cli_args *args)
{
    const bool logs = cli_value(&cli_compact, args, "logs") != NULL;
    const struct cli_rewrite rewrite = {.command = &cli_compact,
                                        .call = logs ? call_logs : call,
                                        .what = "compact",
                                        .files = logs ? "log" : "base"};

    return cli_rewrite(context, args, &rewrite);
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
        "Writes with -o hoodie.compact.inline=true compact by themselves. --logs merges the log "
        "files\n"
        "of a slice into one, where there are --blocks of them, and leaves its base file as it "
        "is:\n"
        "cheaper for now, and readers have less to merge.",
    .options = OPTIONS,
    .run = run,
};
