/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_INSTANT_H
#define HD_FORMAT_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "format/table/table_version.h"

enum hd_action {
    HD_ACTION_COMMIT,
    HD_ACTION_DELTACOMMIT,
    HD_ACTION_COMPACTION,
    HD_ACTION_LOGCOMPACTION,
    HD_ACTION_REPLACECOMMIT,
    HD_ACTION_CLUSTERING,
    HD_ACTION_CLEAN,
    HD_ACTION_ROLLBACK,
    HD_ACTION_RESTORE,
    HD_ACTION_SAVEPOINT,
    HD_ACTION_INDEXING,
    HD_ACTION_SCHEMACOMMIT,
};
enum hd_instant_state { HD_REQUESTED, HD_INFLIGHT, HD_COMPLETED };

#define HD_INSTANT_TIME_BYTES 24 /* room for a 17-digit (metadata table: 20) time and NUL */

/** One action on the timeline: the furthest of its states. Strings belong to the timeline. */
struct hd_instant {
    const char *time;            /* requested time; compare as strings */
    const char *completion_time; /* versions 8 and 9, completed; else NULL */
    enum hd_action action;       /* as its furthest file says: a completed compaction is COMMIT */
    enum hd_instant_state state;
    bool has_requested;
    bool has_inflight;
    enum hd_action
        pending_action;  /* of the requested or inflight file: COMPACTION, CLUSTERING ... */
    uint64_t size_bytes; /* of the furthest file */
    int64_t modified_ms; /* of the furthest file */
};

const char *hd_action_name(enum hd_action action); /* "commit" */
bool hd_action_parse(struct hd_slice text, enum hd_action *out);
const char *hd_instant_state_name(enum hd_instant_state state); /* "REQUESTED" */

/** commit for compaction, deltacommit for logcompaction, replacecommit for clustering: the name
 * under which the action completes. */
enum hd_action hd_action_completed_as(enum hd_action action);

/** A file name of the timeline folder taken apart; false for what is no instant (temporary files,
 * .crc, folders). docs/format/timeline.md 2 */
struct hd_instant_name {
    struct hd_slice time;
    struct hd_slice completion_time; /* size 0: none */
    enum hd_action action;
    enum hd_instant_state state;
};
bool hd_instant_name_parse(const struct hd_table_version *version, const char *file_name,
                           struct hd_instant_name *out);

/** The file name of a state. `completion_time` only for completed ones of versions 8 and 9. */
hudi_status hd_instant_name_format(struct hd_op *op, const struct hd_table_version *version,
                                   const char *time, enum hd_action action,
                                   enum hd_instant_state state, const char *completion_time,
                                   char **out);

/** yyyyMMddHHmmssSSS of a wall clock, in UTC or the local zone. */
void hd_instant_time_format(uint64_t now_ms, bool utc, char out[HD_INSTANT_TIME_BYTES]);

/** The millisecond after `time` (17 digits; shorter ones are extended, longer ones cut), which is
 * then also greater as a string. False for digits that are no date. */
bool hd_instant_time_next(const char *time, char out[HD_INSTANT_TIME_BYTES]);

/** An instant from what a user typed: digits (14 and 17 kept; 4 to 16 padded as Hudi pads), ISO
 * dates and times with or without zone, "-2h" (s, m, h, d, w before now). `utc` is the timeline's
 * zone. HUDI_INVALID naming the text. */
hudi_status hd_instant_time_parse(struct hd_op *op, const char *text, bool utc,
                                  char out[HD_INSTANT_TIME_BYTES]);

#endif
