/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_CLI_REWRITE_H
#define HUDI_CLI_REWRITE_H

#include "cli.h"

/** What `hudi compact` and `hudi cluster` share: how far to go, and what to print. */
struct cli_rewrite {
    const struct cli_command *command;
    hudi_status (*call)(hudi_table *table, int step, const char *instant, hudi_cancel *cancel,
                        hudi_compaction **out, hudi_error **err);
    const char *what;       /* "cluster" */
    const char *files;      /* what is written: "base" files */
    bool prints_group;      /* of each slice, its number */
    bool prints_base_files; /* in a dry run: they go as well as log files */
};

/** The options every such command begins with; "run" goes with "instant". */
#define CLI_REWRITE_OPTIONS(a_plan)                                                                \
    {"schedule", NULL, "write the plan of " a_plan ", and leave running it to others", NULL},      \
        {"run", NULL, "run the plans that are pending, and make no new one", NULL},                \
        {"instant", "TIME", "with --run: this plan alone", NULL},                                  \
    {                                                                                              \
        "pending", NULL, "list the plans that are pending", NULL                                   \
    }

int cli_rewrite(hudi_context *context, const struct cli_args *args,
                const struct cli_rewrite *rewrite);

#endif
