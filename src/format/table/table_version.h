/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TABLE_VERSION_H
#define HD_FORMAT_TABLE_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

struct hd_instant;
struct hd_commit_metadata;
enum hd_action;

/**
 * What a table version changes, chosen once when the table is opened. Nothing else asks for the
 * number: new differences become new members.
 */
struct hd_table_version {
    int number;                        /* 2..9 */
    int timeline_layout;               /* 1 (below 8) or 2 */
    const char *timeline_folder;       /* below the table: ".hoodie" or ".hoodie/timeline" */
    const char *archive_folder;        /* both by default: hd_table_config has the table's own */
    const char *default_partition;     /* name for a null or empty partition value */
    const char *default_payload_class; /* when hoodie.properties names none; NULL from 8 on: the
                                          merge mode says */
    bool has_checksum;                 /* hoodie.table.checksum is written */
    bool key_generator_as_type;        /* keygenerator.type instead of .class */
    bool file_name_rewritten;          /* copied rows get the new file's _hoodie_file_name */
    bool late_renews_stored; /* copy-on-write under event time: a record that loses gives the stored
                                row new meta columns (up to 0.10; 0.11 leaves the row alone) */
    /* Log blocks' content: 1 and 2 list deletes in Kryo (2 with ordering values), 3 in Avro. */
    uint32_t log_content_version;
    /* Markers of appends are named like base files of the slice, not by the log file. */
    bool append_marker_of_slice;
    /* A log file is named by the base instant of its slice, and may have blocks of several writes;
     * else by the one write whose it is. */
    bool log_is_of_slice;
    bool clean_deletes_partitions;    /* plans of cleans name partitions to delete (0.11) */
    bool clean_has_last_completed;    /* and the newest completed write (0.12) */
    bool clean_has_extra;             /* and extra metadata (0.15) */
    bool clean_inflight_has_plan;     /* the inflight file repeats the plan (up to 1.0) */
    bool savepoint_has_logs;          /* savepoints name log files too (0.12) */
    bool archive_has_transition_time; /* entries say when their state was reached (0.14) */
    bool compaction_in_aux;       /* plans of compactions also lie in .hoodie/.aux (below 0.14) */
    bool compaction_has_strategy; /* and name how they are run (0.13) */
    bool compaction_named;        /* compactions that are done say COMPACT (0.11), before UNKNOWN */
    bool writes_supported;
    const char *first_release; /* for messages: "0.14" */
};

/** HUDI_NOT_IMPLEMENTED naming the number when it is out of 2..9. Version 7 is read as 6. */
hudi_status hd_table_version_of(struct hd_op *op, int number, const struct hd_table_version **out);

#endif
