/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/instant.h"

#include <string.h>

static const char *const ACTION_NAMES[] = {
    [HD_ACTION_COMMIT] = "commit",
    [HD_ACTION_DELTACOMMIT] = "deltacommit",
    [HD_ACTION_COMPACTION] = "compaction",
    [HD_ACTION_LOGCOMPACTION] = "logcompaction",
    [HD_ACTION_REPLACECOMMIT] = "replacecommit",
    [HD_ACTION_CLUSTERING] = "clustering",
    [HD_ACTION_CLEAN] = "clean",
    [HD_ACTION_ROLLBACK] = "rollback",
    [HD_ACTION_RESTORE] = "restore",
    [HD_ACTION_SAVEPOINT] = "savepoint",
    [HD_ACTION_INDEXING] = "indexing",
    [HD_ACTION_SCHEMACOMMIT] = "schemacommit",
};

const char *hd_action_name(enum hd_action action)
{
    return ACTION_NAMES[action];
}

bool hd_action_parse(struct hd_slice text, enum hd_action *out)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(ACTION_NAMES); i++) {
        if (hd_slice_equal(text, hd_slice_text(ACTION_NAMES[i]))) {
            *out = (enum hd_action)i;
            return true;
        }
    }
    return false;
}

const char *hd_instant_state_name(enum hd_instant_state state)
{
    switch (state) {
    case HD_REQUESTED:
        return "REQUESTED";
    case HD_INFLIGHT:
        return "INFLIGHT";
    case HD_COMPLETED:
        break;
    }
    return "COMPLETED";
}

enum hd_action hd_action_completed_as(enum hd_action action)
{
    switch (action) {
    case HD_ACTION_COMPACTION:
        return HD_ACTION_COMMIT;
    case HD_ACTION_LOGCOMPACTION:
        return HD_ACTION_DELTACOMMIT;
    case HD_ACTION_CLUSTERING:
        return HD_ACTION_REPLACECOMMIT;
    default:
        return action;
    }
}

/* Names differ only in the second layout: completion times, and clustering as an action of its own.
 */
static bool has_completion_times(const struct hd_table_version *version)
{
    return version->timeline_layout >= 2;
}

static struct hd_slice take_digits(struct hd_slice *text)
{
    size_t n = 0;

    while (n < text->size && text->data[n] >= '0' && text->data[n] <= '9')
        n++;
    const struct hd_slice digits = hd_slice_of(text->data, n);
    *text = hd_slice_of(text->data + n, text->size - n);
    return digits;
}

static bool is_time(struct hd_slice digits)
{
    return digits.size > 0 && digits.size < HD_INSTANT_TIME_BYTES;
}

/* What follows the times: ".commit", ".compaction.requested", ".inflight". */
static bool parse_action_and_state(const struct hd_table_version *version, struct hd_slice text,
                                   struct hd_instant_name *out)
{
    out->state = HD_COMPLETED;
    if (hd_slice_equal(text, hd_slice_text(".inflight"))) {
        out->action = HD_ACTION_COMMIT;
        out->state = HD_INFLIGHT;
        return true;
    }
    if (hd_slice_ends_with(text, ".requested")) {
        out->state = HD_REQUESTED;
        text.size -= strlen(".requested");
    } else if (hd_slice_ends_with(text, ".inflight")) {
        out->state = HD_INFLIGHT;
        text.size -= strlen(".inflight");
    }
    if (text.size < 2 || text.data[0] != '.' ||
        !hd_action_parse(hd_slice_of(text.data + 1, text.size - 1), &out->action))
        return false;
    switch (out->state) {
    case HD_REQUESTED:
        if (out->action == HD_ACTION_SAVEPOINT)
            return false;
        break;
    case HD_INFLIGHT:
        if (out->action == HD_ACTION_COMMIT) /* is ".inflight" */
            return false;
        break;
    case HD_COMPLETED:
        return hd_action_completed_as(out->action) == out->action;
    }
    return out->action != HD_ACTION_CLUSTERING || has_completion_times(version);
}

bool hd_instant_name_parse(const struct hd_table_version *version, const char *file_name,
                           struct hd_instant_name *out)
{
    struct hd_slice rest = hd_slice_text(file_name);
    struct hd_instant_name name = {0};

    name.time = take_digits(&rest);
    if (!is_time(name.time))
        return false;
    if (has_completion_times(version) && rest.size > 0 && rest.data[0] == '_') {
        rest = hd_slice_of(rest.data + 1, rest.size - 1);
        name.completion_time = take_digits(&rest);
        if (!is_time(name.completion_time))
            return false;
    }
    if (!parse_action_and_state(version, rest, &name))
        return false;
    if (name.completion_time.size > 0 && name.state != HD_COMPLETED)
        return false;
    *out = name;
    return true;
}

hudi_status hd_instant_name_format(struct hd_op *op, const struct hd_table_version *version,
                                   const char *time, enum hd_action action,
                                   enum hd_instant_state state, const char *completion_time,
                                   char **out)
{
    if (state == HD_COMPLETED) {
        const char *name = hd_action_name(hd_action_completed_as(action));

        if (has_completion_times(version) && completion_time != NULL)
            return hd_asprintf(op, out, "%s_%s.%s", time, completion_time, name);
        return hd_asprintf(op, out, "%s.%s", time, name);
    }
    if (action == HD_ACTION_COMMIT && state == HD_INFLIGHT)
        return hd_asprintf(op, out, "%s.inflight", time);
    if (!has_completion_times(version) && action == HD_ACTION_CLUSTERING)
        action = HD_ACTION_REPLACECOMMIT;
    return hd_asprintf(op, out, "%s.%s.%s", time, hd_action_name(action),
                       state == HD_REQUESTED ? "requested" : "inflight");
}
