/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_rules.h"

#include <string.h>

#include "base/map.h"

/* ---- the table of rules -------------------------------------------------------------------- */

static const struct versions {
    int first, last;
    struct hd_log_rules rules; /* but `merging` */
} RULES[] = {
    {2, 5, {.releases = "0.10 to 0.13", .by_block_instant = true, .delete_beats_base = true}},
    {6, 7, {.releases = "0.14 and 0.15", .by_block_instant = true, .delete_beats_base = true}},
    {8, 8, {.releases = "1.0"}},
    {9, 9, {.releases = "1.1 and later", .floats_by_text = true}},
};

static const struct versions *find(int version)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(RULES); i++) {
        if (version >= RULES[i].first && version <= RULES[i].last)
            return &RULES[i];
    }
    return NULL;
}

#define FIRST_OF_1X 8

hudi_status hd_log_rules_of(struct hd_op *op, const struct hd_table_version *version, bool as_of_1x,
                            struct hd_log_rules *out)
{
    const struct versions *const own = find(version->number);

    *out = (struct hd_log_rules){0};
    if (own == NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "log files of a table of version %d",
                       version->number);
    *out = own->rules;
    out->merging = version;
    if (!as_of_1x || version->number >= FIRST_OF_1X)
        return HUDI_OK;
    out->delete_beats_base = find(FIRST_OF_1X)->rules.delete_beats_base;
    return hd_table_version_of(op, FIRST_OF_1X, &out->merging);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static bool is_in_time(const struct hd_log_instants *instants, struct hd_slice time)
{
    if (instants->before != NULL && hd_slice_compare(time, hd_slice_text(instants->before)) >= 0)
        return false;
    return instants->as_of == NULL || hd_slice_compare(time, hd_slice_text(instants->as_of)) <= 0;
}

bool hd_log_instant_counts(const struct hd_log_rules *rules, const struct hd_log_instants *instants,
                           struct hd_slice time)
{
    size_t low = 0, high = instants->n_instants;

    if (!is_in_time(instants, time))
        return false;
    if (!rules->by_block_instant)
        return true;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (hd_slice_compare(hd_slice_text(instants->instants[middle].time), time) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_pending = false;
    for (; low < instants->n_instants &&
           hd_slice_equal(hd_slice_text(instants->instants[low].time), time);
         low++) {
        if (instants->instants[low].is_committed)
            return true;
        is_pending = true;
    }
    return !is_pending && instants->start != NULL &&
           hd_slice_compare(time, hd_slice_text(instants->start)) < 0;
}

static hudi_status find_header(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out)
{
    const hudi_status status = hd_log_header_find(op, block, key, out);

    if (status == HUDI_NOT_FOUND) {
        *out = (struct hd_slice){0};
        return HUDI_OK;
    }
    return status;
}

hudi_status hd_log_entry_of(struct hd_op *op, const struct hd_log_block *block,
                            struct hd_log_entry *out)
{
    struct hd_slice command;

    *out = (struct hd_log_entry){.type = block->type};
    if (block->type == HD_LOG_CORRUPT)
        return HUDI_OK;
    HD_TRY(find_header(op, block, HD_LOG_INSTANT_TIME, &out->instant));
    if (out->instant.size == 0)
        return hd_fail(op, HUDI_CORRUPT, "log block at byte %llu names no instant",
                       (unsigned long long)block->offset);
    HD_TRY(find_header(op, block, HD_LOG_COMPACTED_BLOCK_TIMES, &out->compacted));
    if (block->type != HD_LOG_COMMAND)
        return HUDI_OK;
    HD_TRY(find_header(op, block, HD_LOG_COMMAND_BLOCK_TYPE, &command));
    HD_TRY(find_header(op, block, HD_LOG_TARGET_INSTANT_TIME, &out->target));
    if (!hd_slice_equal(command, hd_slice_text("0")))
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "log block at byte %llu has the command \"%.*s\"",
                       (unsigned long long)block->offset,
                       (int)(command.size < 40 ? command.size : 40), (const char *)command.data);
    if (out->target.size == 0)
        return hd_fail(op, HUDI_CORRUPT,
                       "the rollback block at byte %llu names no instant to roll back",
                       (unsigned long long)block->offset);
    return HUDI_OK;
}

static bool holds_rows(enum hd_log_block_type type)
{
    return type == HD_LOG_DELETE || type == HD_LOG_AVRO_DATA || type == HD_LOG_HFILE_DATA ||
           type == HD_LOG_PARQUET_DATA;
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Blocks of one instant, which are numbered in the order in which their first block comes. */
struct group {
    uint32_t first, last; /* blocks that count, linked by `next` */
    int64_t n;
    int64_t merged_into; /* the group whose log compaction took the blocks in at last, or -1 */
    bool is_compacted;   /* made by log compaction */
    bool has_inputs;     /* groups before it that it was made of */
    bool is_placed;
};

struct choice {
    struct hd_op *op;
    const struct hd_log_entry *entries;
    struct hd_map instants; /* to group */
    struct group *groups;
    size_t n_groups;
    uint32_t *next; /* by block: the one after it in its group */
    uint32_t *out;
    size_t n_out;
};

static hudi_status roll_back(struct choice *c, struct hd_slice target)
{
    struct hd_map_entry *const entry = hd_map_find(&c->instants, target);

    if (entry != NULL)
        c->groups[entry->value].n = 0;
    return HUDI_OK;
}

static hudi_status add(struct choice *c, uint32_t block)
{
    struct hd_map_entry *entry;
    bool added;

    HD_TRY(hd_map_put(c->op, &c->instants, c->entries[block].instant, c->n_groups, &entry, &added));
    if (added)
        c->groups[c->n_groups++] = (struct group){.merged_into = -1};
    struct group *const group = &c->groups[entry->value];
    if (group->n++ == 0)
        group->first = block;
    else
        c->next[group->last] = block;
    group->last = block;
    return HUDI_OK;
}

static void take_group(struct choice *c, struct group *group)
{
    uint32_t block = group->first;

    for (int64_t i = 0; i < group->n; i++, block = c->next[block])
        c->out[c->n_out++] = block;
    group->is_placed = true;
}

/* What each group was compacted into, from the newest on, so that what was compacted twice goes to
 * the last. @return whether anything was */
static bool follow_compactions(struct choice *c)
{
    bool found = false;

    for (size_t i = c->n_groups; i > 0; i--) {
        struct group *const group = &c->groups[i - 1];
        const int64_t into = group->merged_into >= 0 ? group->merged_into : (int64_t)i - 1;

        if (group->n == 0)
            continue;
        struct hd_slice list = c->entries[group->first].compacted;
        group->is_compacted = list.size > 0;
        found = found || group->is_compacted;
        while (list.size > 0) {
            const uint8_t *const comma = memchr(list.data, ',', list.size);
            const size_t n = comma == NULL ? list.size : (size_t)(comma - list.data);
            const struct hd_map_entry *const entry =
                hd_map_find(&c->instants, hd_slice_of(list.data, n));

            if (entry != NULL && entry->value < i - 1) {
                c->groups[entry->value].merged_into = into;
                group->has_inputs = true;
            }
            list = comma == NULL ? (struct hd_slice){0} : hd_slice_of(comma + 1, list.size - n - 1);
        }
    }
    return found;
}

static void reverse(uint32_t *numbers, size_t n)
{
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        const uint32_t number = numbers[i];

        numbers[i] = numbers[--j];
        numbers[j] = number;
    }
}

/* Newest group first, each with its blocks from the last on, and all of it turned round. */
static void take_compacted(struct choice *c)
{
    for (size_t i = c->n_groups; i > 0; i--) {
        struct group *group = &c->groups[i - 1];

        if (group->n == 0 || (group->is_compacted && group->has_inputs))
            continue; /* placed where its newest input is */
        if (group->merged_into >= 0)
            group = &c->groups[group->merged_into];
        if (group->is_placed || group->n == 0)
            continue;
        const size_t start = c->n_out;
        take_group(c, group);
        reverse(c->out + start, c->n_out - start);
    }
    reverse(c->out, c->n_out);
}

/* In file order: blocks that no rollback took out. */
static void take_plain(struct choice *c, size_t n_entries)
{
    for (size_t g = 0; g < c->n_groups; g++)
        take_group(c, &c->groups[g]);
    /* Marks, then their numbers in order. */
    uint32_t *const marks = c->next;
    memset(marks, 0, n_entries * sizeof *marks);
    for (size_t i = 0; i < c->n_out; i++)
        marks[c->out[i]] = 1;
    c->n_out = 0;
    for (size_t i = 0; i < n_entries; i++) {
        if (marks[i] != 0)
            c->out[c->n_out++] = (uint32_t)i;
    }
}

hudi_status hd_log_choose(struct hd_op *op, const struct hd_log_rules *rules,
                          const struct hd_log_instants *instants,
                          const struct hd_log_entry *entries, size_t n_entries, uint32_t **out,
                          size_t *n_out)
{
    struct choice c = {.op = op, .entries = entries};
    hudi_status status;

    *out = NULL;
    *n_out = 0;
    if (n_entries >= UINT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "%zu blocks in the log files of a slice", n_entries);
    HD_TRY_OUT(hd_alloc_array(op, n_entries, sizeof *c.groups, &c.groups));
    HD_TRY_OUT(hd_alloc_array(op, n_entries, sizeof *c.next, &c.next));
    HD_TRY_OUT(hd_alloc_array(op, n_entries, sizeof *c.out, &c.out));
    for (size_t i = 0; i < n_entries; i++) {
        if (entries[i].type == HD_LOG_COMMAND)
            HD_TRY_OUT(roll_back(&c, entries[i].target));
        else if (holds_rows(entries[i].type) &&
                 hd_log_instant_counts(rules, instants, entries[i].instant))
            HD_TRY_OUT(add(&c, (uint32_t)i));
    }
    if (follow_compactions(&c))
        take_compacted(&c);
    else
        take_plain(&c, n_entries);
    *out = c.out;
    *n_out = c.n_out;
    c.out = NULL;
out:
    hd_map_clear(&c.instants);
    hd_free(op, c.groups);
    hd_free(op, c.next);
    hd_free(op, c.out);
    return status;
}
