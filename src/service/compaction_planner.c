/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compaction_planner.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/layout/file_system_view.h"
#include "format/log/log_reader.h"
#include "format/timeline/replace_plan.h"

#define MB (INT64_C(1) << 20)
#define DAY_MS UINT64_C(86400000)

#define BLOCKS_KEY "hoodie.log.compaction.blocks.threshold"
#define LOG_COMPACTOR "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"

/* ---- when ----------------------------------------------------------------------------------- */

/* Delta commits since a compaction, and the time from which seconds are counted. */
struct since {
    int64_t n_commits;
    const char *time; /* NULL: no delta commit */
};

static struct since since_compaction(const struct hd_timeline *timeline, bool requested)
{
    struct since since = {0};

    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->state == HD_COMPLETED
                ? instant->action == HD_ACTION_COMMIT
                : requested && instant->pending_action == HD_ACTION_COMPACTION) {
            since = (struct since){.time = instant->time};
        } else if (instant->action == HD_ACTION_DELTACOMMIT && instant->state == HD_COMPLETED) {
            since.n_commits++;
            if (since.time == NULL)
                since.time = instant->time;
        }
    }
    return since;
}

static bool is_given(const struct hd_table_snapshot *table, const struct hd_options *options,
                     const char *key)
{
    return hd_options_has(options, key) ||
           hd_properties_get(&table->config.properties, key) != NULL;
}

hudi_status hd_compaction_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const struct hd_options *options, bool by_hand, bool *out)
{
    static const char STRATEGY[] = "hoodie.compact.inline.trigger.strategy";
    static const char COMMITS[] = "hoodie.compact.inline.max.delta.commits";
    static const char SECONDS[] = "hoodie.compact.inline.max.delta.seconds";
    const struct hd_properties *const properties = &table->config.properties;
    const char *const strategy = hd_options_text(options, properties, STRATEGY);
    const struct since since = since_compaction(
        &table->timeline, strcasecmp(strategy, "NUM_COMMITS_AFTER_LAST_REQUEST") == 0);
    char limit[HD_INSTANT_TIME_BYTES];

    if (by_hand && !is_given(table, options, STRATEGY) && !is_given(table, options, COMMITS) &&
        !is_given(table, options, SECONDS)) {
        *out = since.n_commits > 0;
        return HUDI_OK;
    }
    const uint64_t waited_ms = (uint64_t)hd_options_int(options, properties, SECONDS) * 1000;
    const uint64_t now_ms = hd_now_ms(op);
    hd_instant_time_format(now_ms > waited_ms ? now_ms - waited_ms : 0, table->timeline.utc, limit);
    const bool by_commits = since.n_commits >= hd_options_int(options, properties, COMMITS);
    const bool by_time = since.time != NULL && strcmp(since.time, limit) <= 0;

    if (strcasecmp(strategy, "TIME_ELAPSED") == 0)
        *out = by_time;
    else if (strcasecmp(strategy, "NUM_AND_TIME") == 0)
        *out = by_commits && by_time;
    else if (strcasecmp(strategy, "NUM_OR_TIME") == 0)
        *out = by_commits || by_time;
    else
        *out = by_commits;
    return HUDI_OK;
}

hudi_status hd_log_compaction_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                     const struct hd_options *options, bool by_hand, bool *out)
{
    const struct hd_timeline *const timeline = &table->timeline;
    int64_t n = 0;

    (void)op;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->pending_action == HD_ACTION_LOGCOMPACTION ||
            instant->pending_action == HD_ACTION_COMPACTION || instant->action == HD_ACTION_COMMIT)
            n = 0;
        else
            n += instant->action == HD_ACTION_DELTACOMMIT && instant->state == HD_COMPLETED;
    }
    *out = by_hand || n >= hd_options_int(options, &table->config.properties, BLOCKS_KEY);
    return HUDI_OK;
}

/* ---- which ---------------------------------------------------------------------------------- */

enum order { BY_LOG_BYTES, BY_LOG_FILES, BY_DAY, AS_LISTED };

static const struct strategy {
    const char *name;
    enum order order;
    bool is_bounded; /* by hoodie.compaction.target.io */
    enum days { ALL_DAYS, NEWEST_DAYS, RECENT_DAYS, OLD_DAYS } days;
} STRATEGIES[] = {
    {"LogFileSizeBasedCompactionStrategy", BY_LOG_BYTES, true, ALL_DAYS},
    {"LogFileNumBasedCompactionStrategy", BY_LOG_FILES, true, ALL_DAYS},
    {"BoundedIOCompactionStrategy", AS_LISTED, true, ALL_DAYS},
    {"DayBasedCompactionStrategy", BY_DAY, false, NEWEST_DAYS},
    {"BoundedPartitionAwareCompactionStrategy", BY_DAY, false, RECENT_DAYS},
    {"UnBoundedPartitionAwareCompactionStrategy", AS_LISTED, false, OLD_DAYS},
    {"UnBoundedCompactionStrategy", AS_LISTED, false, ALL_DAYS},
};

struct candidate {
    const struct hd_file_slice *slice;
    struct hd_compaction_metrics metrics;
    char day[16]; /* of the partition, "2024/01/31"; "" when nobody asks */
    size_t number;
    enum order order;
};

struct planner {
    const struct hd_table_snapshot *table;
    const struct hd_options *options;
    const struct strategy *strategy;
    struct hd_arena arena;
    struct hd_file_system_view view;
    struct hd_pending_file_group *compactions, *clusterings;
    size_t n_compactions, n_clusterings;
    struct candidate *candidates;
    size_t n_candidates;
    size_t least_logs;  /* slices with fewer log files are no candidates, */
    bool counts_blocks; /* unless these have as many blocks of rows and deletes */
    struct hd_compaction_plan *plan;
    uint64_t n_bytes;
};

static int64_t setting(const struct planner *planner, const char *key)
{
    return hd_options_int(planner->options, &planner->table->config.properties, key);
}

/* By its class, with or without the package, or by the class's name without its ending. */
static hudi_status find_strategy(struct hd_op *op, struct planner *planner)
{
    static const char ENDING[] = "CompactionStrategy";
    const char *const given = hd_options_text(planner->options, &planner->table->config.properties,
                                              "hoodie.compaction.strategy");

    planner->strategy = &STRATEGIES[0];
    if (given == NULL || *given == '\0')
        return HUDI_OK;
    const char *const dot = strrchr(given, '.');
    const char *const name = dot == NULL ? given : dot + 1;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(STRATEGIES); i++) {
        const char *const known = STRATEGIES[i].name;

        planner->strategy = &STRATEGIES[i];
        if (strcmp(known, name) == 0 || (strlen(name) == strlen(known) - strlen(ENDING) &&
                                         strncmp(known, name, strlen(name)) == 0))
            return HUDI_OK;
    }
    return hd_fail(op, HUDI_INVALID, "hoodie.compaction.strategy \"%.200s\" is not known", given);
}

/* "dt=2024/01/31", "year=2024/month=01/day=31" to "2024/01/31". */
static hudi_status take_day(struct hd_op *op, const char *path, char out[16])
{
    static const char FORM[] = "dddd/dd/dd";
    const char *at = path;
    size_t n = 0;

    while (*at != '\0' && n < sizeof FORM) {
        const size_t length = strcspn(at, "/");
        const char *const equals = memchr(at, '=', length);
        const char *const value = equals == NULL ? at : equals + 1;
        const size_t taken = (size_t)(at + length - value);

        if (n + taken + 1 >= 16)
            break;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, value, taken);
        n += taken;
        at += length + (at[length] == '/');
    }
    out[n] = '\0';
    bool fits = *at == '\0' && n == strlen(FORM);
    for (size_t i = 0; fits && i < n; i++)
        fits = FORM[i] == 'd' ? isdigit((unsigned char)out[i]) : out[i] == FORM[i];
    return fits ? HUDI_OK
                : hd_fail(op, HUDI_INVALID,
                          "the strategy goes by days, and partition \"%.100s\" is no yyyy/MM/dd",
                          path);
}

static bool is_pending(const struct planner *planner, const struct hd_file_slice *slice)
{
    return slice->compaction_instant != NULL ||
           hd_pending_file_group_find(planner->compactions, planner->n_compactions,
                                      slice->partition_path, slice->file_id) != NULL ||
           hd_pending_file_group_find(planner->clusterings, planner->n_clusterings,
                                      slice->partition_path, slice->file_id) != NULL;
}

static hudi_status add_candidate(struct hd_op *op, struct planner *planner,
                                 const struct hd_file_slice *slice)
{
    struct candidate candidate = {
        .slice = slice, .number = planner->n_candidates, .order = planner->strategy->order};
    const uint64_t base_bytes = slice->base == NULL ? 0 : slice->base->size_bytes;
    struct hd_compaction_metrics *const metrics = &candidate.metrics;

    for (size_t i = 0; i < slice->n_logs; i++)
        metrics->log_bytes += (int64_t)slice->logs[i].size_bytes;
    metrics->read_mb = ((int64_t)base_bytes + metrics->log_bytes) / MB;
    metrics->write_mb = slice->base != NULL ? (int64_t)base_bytes / MB
                                            : setting(planner, "hoodie.parquet.max.file.size") / MB;
    if (candidate.order == BY_LOG_BYTES &&
        metrics->log_bytes < setting(planner, "hoodie.compaction.logfile.size.threshold"))
        return HUDI_OK;
    if (candidate.order == BY_LOG_FILES &&
        (int64_t)slice->n_logs < setting(planner, "hoodie.compaction.logfile.num.threshold"))
        return HUDI_OK;
    if (planner->strategy->days != ALL_DAYS)
        HD_TRY(take_day(op, slice->partition_path, candidate.day));
    planner->candidates[planner->n_candidates++] = candidate;
    return HUDI_OK;
}

static hudi_status count_blocks(struct hd_op *op, const struct planner *planner,
                                const struct hd_data_file *log, size_t *n)
{
    const struct hd_table_snapshot *const table = planner->table;
    hudi_status status = HUDI_OK;
    hd_log_reader *reader = NULL;
    struct hd_log_block block;
    char *path = NULL;

    HD_TRY_OUT(hd_path_join(op, table->path, log->path, &path));
    HD_TRY_OUT(hd_log_reader_open(op, table->fs, path, &reader));
    while (*n < planner->least_logs &&
           (status = hd_log_reader_next(op, reader, &block)) == HUDI_OK) {
        *n += block.type != HD_LOG_COMMAND && block.type != HD_LOG_CORRUPT;
        hd_log_block_clear(op, &block);
    }
    status = status == HUDI_END ? HUDI_OK : status;
out:
    hd_log_reader_close(op, reader);
    hd_free(op, path);
    return hd_fail_path(op, status, log->path);
}

static hudi_status has_enough_logs(struct hd_op *op, const struct planner *planner,
                                   const struct hd_file_slice *slice, bool *out)
{
    size_t n_blocks = 0;

    *out = slice->n_logs >= planner->least_logs;
    for (size_t i = 0; planner->counts_blocks && !*out && i < slice->n_logs; i++) {
        HD_TRY(count_blocks(op, planner, &slice->logs[i], &n_blocks));
        *out = n_blocks >= planner->least_logs;
    }
    return HUDI_OK;
}

/* Invariants 1 and 2. */
static hudi_status find_candidates(struct hd_op *op, struct planner *planner)
{
    HD_TRY(hd_pending_compaction_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->compactions, &planner->n_compactions));
    HD_TRY(hd_pending_clustering_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->clusterings, &planner->n_clusterings));
    HD_TRY(hd_arena_array(op, &planner->arena, planner->view.n_groups, sizeof *planner->candidates,
                          &planner->candidates));
    for (size_t i = 0; i < planner->view.n_groups; i++) {
        const struct hd_file_slice *const slice =
            hd_file_group_slice_as_of(&planner->view.groups[i], NULL);

        bool enough;

        if (slice == NULL || slice->n_logs == 0 || is_pending(planner, slice))
            continue;
        HD_TRY(has_enough_logs(op, planner, slice, &enough));
        if (enough)
            HD_TRY(add_candidate(op, planner, slice));
    }
    return HUDI_OK;
}

static int compare(const void *a, const void *b)
{
    const struct candidate *const x = a, *const y = b;
    int64_t order = 0;

    if (x->order == BY_LOG_BYTES)
        order = y->metrics.log_bytes - x->metrics.log_bytes;
    else if (x->order == BY_LOG_FILES)
        order = (int64_t)y->slice->n_logs - (int64_t)x->slice->n_logs;
    else if (x->order == BY_DAY)
        order = strcmp(y->day, x->day);
    if (order == 0)
        return x->number < y->number ? -1 : 1;
    return order < 0 ? -1 : 1;
}

/* Candidates are in order: how many there are of the newest days, or which are of the days wanted.
 */
static void keep_days(struct hd_op *op, struct planner *planner)
{
    const int64_t wanted = setting(planner, "hoodie.compaction.daybased.target.partitions");
    const enum days days = planner->strategy->days;
    char instant[HD_INSTANT_TIME_BYTES], first[16];
    int64_t n_days = 0;
    size_t n = 0;

    const uint64_t now_ms = hd_now_ms(op), back_ms = (uint64_t)wanted * DAY_MS;
    hd_instant_time_format(now_ms > back_ms ? now_ms - back_ms : 0, planner->table->timeline.utc,
                           instant);
    snprintf(first, sizeof first, "%.4s/%.2s/%.2s", instant, instant + 4, instant + 6);
    for (size_t i = 0; i < planner->n_candidates; i++) {
        const struct candidate *const candidate = &planner->candidates[i];
        bool kept = (strcmp(candidate->day, first) >= 0) == (days == RECENT_DAYS);

        if (days == NEWEST_DAYS) {
            n_days += i == 0 || strcmp(candidate->day, planner->candidates[i - 1].day) != 0;
            kept = n_days <= wanted;
        }
        if (kept)
            planner->candidates[n++] = *candidate;
    }
    planner->n_candidates = n;
}

/* The one that crosses the limit is taken. */
static void keep_bounded(struct planner *planner)
{
    const int64_t limit = setting(planner, "hoodie.compaction.target.io");
    int64_t total = 0;
    size_t n = 0;

    while (n < planner->n_candidates && (n == 0 || total < limit)) {
        const struct hd_compaction_metrics *const metrics = &planner->candidates[n++].metrics;

        total += metrics->read_mb + metrics->write_mb;
    }
    planner->n_candidates = n;
}

static hudi_status keep_text(struct hd_op *op, struct hd_compaction_plan *plan, const char *text,
                             const char **out)
{
    return hd_arena_strdup(op, &plan->arena, text, (char **)out);
}

static hudi_status add_operation(struct hd_op *op, struct planner *planner,
                                 const struct candidate *candidate)
{
    struct hd_compaction_plan *const plan = planner->plan;
    struct hd_compaction_operation *const out = &plan->operations[plan->n_operations++];
    const struct hd_file_slice *const slice = candidate->slice;

    out->metrics = candidate->metrics;
    HD_TRY(keep_text(op, plan, slice->partition_path, &out->partition_path));
    HD_TRY(keep_text(op, plan, slice->file_id, &out->file_id));
    HD_TRY(keep_text(op, plan, slice->base_instant, &out->base_instant));
    if (slice->base != NULL) {
        HD_TRY(keep_text(op, plan, slice->base->name, &out->data_file));
        planner->n_bytes += slice->base->size_bytes;
    }
    HD_TRY(hd_arena_array(op, &plan->arena, slice->n_logs, sizeof *out->delta_files,
                          &out->delta_files));
    for (; out->n_delta_files < slice->n_logs; out->n_delta_files++)
        HD_TRY(keep_text(op, plan, slice->logs[out->n_delta_files].name,
                         &out->delta_files[out->n_delta_files]));
    planner->n_bytes += (uint64_t)candidate->metrics.log_bytes;
    return HUDI_OK;
}

static hudi_status make_plan(struct hd_op *op, struct planner *planner)
{
    struct hd_compaction_plan *const plan = planner->plan;

    HD_TRY(find_candidates(op, planner));
    if (planner->n_candidates > 0)
        qsort(planner->candidates, planner->n_candidates, sizeof *planner->candidates, compare);
    if (planner->strategy->days != ALL_DAYS)
        keep_days(op, planner);
    if (planner->strategy->is_bounded)
        keep_bounded(planner);
    HD_TRY(hd_arena_array(op, &plan->arena, planner->n_candidates, sizeof *plan->operations,
                          &plan->operations));
    for (size_t i = 0; i < planner->n_candidates; i++)
        HD_TRY(add_operation(op, planner, &planner->candidates[i]));
    return HUDI_OK;
}

/* `planner` (all but the view made) is cleared. */
static hudi_status plan(struct hd_op *op, hd_pool *pool, struct planner *planner,
                        struct hd_compaction_plan *out, uint64_t *n_bytes)
{
    const struct hd_table_snapshot *const table = planner->table;
    hudi_status status = HUDI_OK;

    planner->plan = out;
    HD_TRY_OUT(hd_file_system_view_load(op, pool, table->fs, table->path, &table->config,
                                        &table->timeline, NULL, 0, &planner->view));
    HD_TRY_OUT(make_plan(op, planner));
    *n_bytes = planner->n_bytes;
out:
    hd_file_system_view_clear(&planner->view);
    hd_arena_clear(&planner->arena);
    if (status != HUDI_OK)
        hd_compaction_plan_clear(out);
    return status;
}

hudi_status hd_compaction_plan_make(struct hd_op *op, hd_pool *pool,
                                    const struct hd_table_snapshot *table,
                                    const struct hd_options *options,
                                    struct hd_compaction_plan *out, uint64_t *n_bytes)
{
    struct planner planner = {.table = table, .options = options, .least_logs = 1};

    *out = (struct hd_compaction_plan){0};
    *n_bytes = 0;
    HD_TRY(find_strategy(op, &planner));
    return plan(op, pool, &planner, out, n_bytes);
}

hudi_status hd_log_compaction_plan_make(struct hd_op *op, hd_pool *pool,
                                        const struct hd_table_snapshot *table,
                                        const struct hd_options *options,
                                        struct hd_compaction_plan *out, uint64_t *n_bytes)
{
    static const struct strategy ALL = {"", AS_LISTED, false, ALL_DAYS};
    struct planner planner = {
        .table = table, .options = options, .strategy = &ALL, .counts_blocks = true};

    *out = (struct hd_compaction_plan){.compactor = LOG_COMPACTOR};
    *n_bytes = 0;
    planner.least_logs = (size_t)setting(&planner, BLOCKS_KEY);
    return plan(op, pool, &planner, out, n_bytes);
}
