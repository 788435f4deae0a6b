/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "codec/bloom.h"
#include "engine/index/stored_keys.h"
#include "engine/record/key_range.h"
#include "format/table/table_schema.h"
#include "service/verify_internal.h"

/* Commit times remembered for each file; more are looked up one by one. */
#define MAX_TIMES 4096
/* Bytes of a key or value that a message shows. */
#define SHOWN_BYTES 100

/* Rows with one kind of fault: the first of them and how many. */
struct fault {
    const char *kind;
    const char *what; /* printed behind the value */
    int64_t n_rows;
    int64_t first_row;
    char value[SHOWN_BYTES + 1];
};

enum { BAD_KEY, OUT_OF_RANGE, NOT_IN_BLOOM, BAD_TIME, LATE_TIME, BAD_PARTITION, N_FAULTS };

struct check {
    struct hd_verify *verify;
    struct hd_verify_file *file;
    hd_base_reader *reader;
    struct ArrowSchema schema; /* of the columns read */
    int32_t time_column, key_column, partition_column;
    bool has_range;
    struct hd_slice min, max;
    hd_bloom *bloom;
    struct hd_map times; /* commit time -> 0 right, or number of the fault */
    struct hd_slice *keys;
    size_t key_capacity;
    uint8_t *maybe;
    size_t maybe_capacity;
    struct fault faults[N_FAULTS];
};

static void add_fault(struct check *check, int number, int64_t row, struct hd_slice value)
{
    struct fault *const fault = &check->faults[number];

    if (fault->n_rows++ > 0)
        return;
    fault->first_row = row;
    const size_t n = value.size < SHOWN_BYTES ? value.size : SHOWN_BYTES;
    if (n > 0)
        memcpy(fault->value, value.data, n);
    fault->value[n] = '\0';
}

static hudi_status report_faults(struct hd_op *op, struct check *check)
{
    for (int i = 0; i < N_FAULTS; i++) {
        const struct fault *const fault = &check->faults[i];

        if (fault->n_rows > 0)
            HD_TRY(hd_report_finding(op, &check->file->report, fault->kind, check->file->path,
                                     "row %" PRId64 ": \"%s\" %s (%" PRId64 " such rows)",
                                     fault->first_row, fault->value, fault->what, fault->n_rows));
    }
    return HUDI_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static hudi_status format_of(struct hd_op *op, const struct hd_file_name *name,
                             enum hd_base_file_format *out)
{
    if (hd_slice_equal(name->extension, hd_slice_text(".parquet")))
        *out = HD_BASE_FILE_PARQUET;
    else if (hd_slice_equal(name->extension, hd_slice_text(".orc")))
        *out = HD_BASE_FILE_ORC;
    else
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "base files of kind %.*s are not checked",
                       (int)name->extension.size, (const char *)name->extension.data);
    return HUDI_OK;
}

hudi_status hd_verify_open(struct hd_op *op, const struct hd_verify *verify,
                           const struct hd_verify_file *file, hd_base_reader **out)
{
    enum hd_base_file_format format;
    hd_input_file *input = NULL;
    char *path;

    *out = NULL;
    HD_TRY(format_of(op, &file->parsed, &format));
    HD_TRY(hd_path_join(op, verify->table.path, file->path, &path));
    const hudi_status status = hd_fs_open_input(op, verify->table.fs, path, &input);
    hd_free(op, path);
    HD_TRY(status);
    return hd_base_reader_open(op, input, format, out);
}

static hudi_status key_value(struct hd_op *op, struct check *check, const char *key,
                             struct hd_slice *out, bool *found)
{
    const hudi_status status = hd_base_reader_key_value(op, check->reader, key, out);

    *found = status == HUDI_OK;
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* Key range and bloom filter as the footer has them; a filter that is none is a finding. */
static hudi_status read_footer(struct hd_op *op, struct check *check)
{
    struct hd_slice text, code = {0};
    enum hd_bloom_type type;
    bool has_min, has_max, has_bloom, has_code;

    HD_TRY(key_value(op, check, HD_MIN_RECORD_KEY, &check->min, &has_min));
    HD_TRY(key_value(op, check, HD_MAX_RECORD_KEY, &check->max, &has_max));
    check->has_range = has_min && has_max;
    HD_TRY(key_value(op, check, HD_BLOOM_KEY, &text, &has_bloom));
    if (!has_bloom)
        HD_TRY(key_value(op, check, HD_BLOOM_KEY_OLD, &text, &has_bloom));
    if (!has_bloom)
        return HUDI_OK;
    HD_TRY(key_value(op, check, HD_BLOOM_TYPE_KEY, &code, &has_code));
    hudi_status status = hd_bloom_type_parse(op, code, &type);
    if (status == HUDI_OK)
        status = hd_bloom_decode(op, type, text, &check->bloom);
    return status == HUDI_OK ? HUDI_OK
                             : hd_report_failure(op, &check->file->report, status, "damaged-bloom",
                                                 check->file->path);
}

static hudi_status check_row_count(struct hd_op *op, struct check *check)
{
    struct hd_verify_file *const file = check->file;

    if (file->expected == NULL || file->expected->n_rows == file->n_rows)
        return HUDI_OK;
    return hd_report_finding(op, &file->report, "wrong-row-count", file->path,
                             "has %" PRId64 " rows, its commit says %" PRId64, file->n_rows,
                             file->expected->n_rows);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static inline bool in_range(const struct check *check, struct hd_slice key)
{
    return (hd_slice_compare(check->min, key) <= 0 && hd_slice_compare(key, check->max) <= 0) ||
           hd_key_in_range(check->min, check->max, key);
}

static hudi_status check_keys(struct hd_op *op, struct check *check, const struct hd_view *view,
                              int64_t first_row)
{
    const size_t n = (size_t)view->length;
    size_t n_keys = 0;

    HD_TRY(hd_grow(op, &check->keys, &check->key_capacity, n, sizeof *check->keys));
    HD_TRY(hd_grow(op, &check->maybe, &check->maybe_capacity, n, sizeof *check->maybe));
    for (size_t i = 0; i < n; i++) {
        const bool is_null = hd_view_is_null(view, (int64_t)i);
        const struct hd_slice key =
            is_null ? (struct hd_slice){0} : hd_view_bytes(view, (int64_t)i);

        if (key.size == 0)
            add_fault(check, BAD_KEY, first_row + (int64_t)i, hd_slice_text(""));
        else if (check->has_range && !in_range(check, key))
            add_fault(check, OUT_OF_RANGE, first_row + (int64_t)i, key);
        check->keys[i] = key;
    }
    if (check->bloom != NULL) {
        hd_bloom_probe_batch(check->bloom, check->keys, n, check->maybe);
        for (size_t i = 0; i < n; i++)
            if (!check->maybe[i] && check->keys[i].size > 0)
                add_fault(check, NOT_IN_BLOOM, first_row + (int64_t)i, check->keys[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (check->keys[i].size > 0)
            check->keys[n_keys++] = check->keys[i];
    hd_key_hashes_add(check->file, check->keys, n_keys);
    return HUDI_OK;
}

/* Which fault a commit time is, 0 for none. */
static hudi_status judge_time(struct hd_op *op, struct check *check, struct hd_slice time,
                              uint64_t *out)
{
    const struct hd_map_entry *const known = hd_map_find(&check->times, time);
    struct hd_map_entry *entry;
    char text[HD_INSTANT_TIME_BYTES];

    if (known != NULL) {
        *out = known->value;
        return HUDI_OK;
    }
    *out = BAD_TIME;
    if (time.size > 0 && time.size < sizeof text) {
        memcpy(text, time.data, time.size);
        text[time.size] = '\0';
        if (strlen(text) == time.size && hd_verify_is_committed(check->verify, text))
            *out = strcmp(text, check->file->instant) > 0 ? LATE_TIME : 0;
    }
    if (check->times.n_entries >= MAX_TIMES)
        return HUDI_OK;
    return hd_map_put(op, &check->times, time, *out, &entry, NULL);
}

static hudi_status check_times(struct hd_op *op, struct check *check, const struct hd_view *view,
                               int64_t first_row)
{
    struct hd_slice last = {0};
    uint64_t verdict = BAD_TIME;

    for (int64_t row = 0; row < view->length; row++) {
        const struct hd_slice time =
            hd_view_is_null(view, row) ? (struct hd_slice){0} : hd_view_bytes(view, row);

        if (row == 0 || !hd_slice_equal(time, last))
            HD_TRY(judge_time(op, check, time, &verdict));
        last = time;
        if (verdict != 0)
            add_fault(check, (int)verdict, first_row + row, time);
    }
    return HUDI_OK;
}

static void check_partitions(struct check *check, const struct hd_view *view, int64_t first_row)
{
    const struct hd_slice right = hd_slice_text(check->file->folder->path);

    for (int64_t row = 0; row < view->length; row++) {
        const struct hd_slice path =
            hd_view_is_null(view, row) ? (struct hd_slice){0} : hd_view_bytes(view, row);
        if (!hd_slice_equal(path, right))
            add_fault(check, BAD_PARTITION, first_row + row, path);
    }
}

static hudi_status check_batch(struct hd_op *op, struct check *check, struct hd_arena *arena,
                               const struct ArrowArray *batch, int64_t first_row)
{
    struct hd_view view;

    HD_TRY(hd_view_open(op, arena, &check->schema, batch, &view));
    if (check->key_column >= 0)
        HD_TRY(check_keys(op, check, &view.children[check->key_column], first_row));
    if (check->time_column >= 0)
        HD_TRY(check_times(op, check, &view.children[check->time_column], first_row));
    if (check->partition_column >= 0)
        check_partitions(check, &view.children[check->partition_column], first_row);
    return HUDI_OK;
}

/* Position of a meta column among those read; -1 (told) when the file has no such text column. */
static hudi_status find_meta(struct hd_op *op, struct check *check, const char *name, int32_t *out)
{
    struct hd_type type;
    const int32_t column = hd_schema_find(&check->schema, name);

    *out = -1;
    if (column >= 0)
        HD_TRY(hd_type_of(op, check->schema.children[column], &type));
    if (column >= 0 && (type.id == HD_TYPE_STRING || type.id == HD_TYPE_DICTIONARY)) {
        *out = column;
        return HUDI_OK;
    }
    return hd_report_finding(op, &check->file->report, "missing-column", check->file->path,
                             "has no column %s of strings", name);
}

/* All columns, or the meta columns alone. */
static hudi_status choose_columns(struct hd_op *op, struct check *check, int32_t columns[],
                                  int32_t *n_columns)
{
    const struct ArrowSchema *const all = hd_base_reader_schema(check->reader);
    static const char *const META[] = {HD_META_COMMIT_TIME, HD_META_RECORD_KEY,
                                       HD_META_PARTITION_PATH};

    check->time_column = check->key_column = check->partition_column = -1;
    *n_columns = 0;
    for (size_t i = 0; check->verify->quick && i < HD_ARRAY_LENGTH(META); i++) {
        const int32_t column = hd_schema_find(all, META[i]);
        if (column >= 0)
            columns[(*n_columns)++] = column;
    }
    if (check->verify->quick)
        HD_TRY(hd_schema_select(op, all, columns, *n_columns, &check->schema));
    else
        HD_TRY(hd_schema_copy(op, all, &check->schema));
    if (!check->verify->table.config.populate_meta_fields)
        return HUDI_OK;
    HD_TRY(find_meta(op, check, HD_META_COMMIT_TIME, &check->time_column));
    HD_TRY(find_meta(op, check, HD_META_RECORD_KEY, &check->key_column));
    HD_TRY(find_meta(op, check, HD_META_PARTITION_PATH, &check->partition_column));
    check->file->keys_readable = check->key_column >= 0;
    return HUDI_OK;
}

static hudi_status read_rows(struct hd_op *op, struct check *check)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct ArrowArray batch = {0};
    hd_base_batches *batches = NULL;
    int32_t columns[3], n_columns;
    int64_t n_rows = 0;

    HD_TRY_OUT(choose_columns(op, check, columns, &n_columns));
    if (check->schema.n_children == 0)
        goto out;
    const struct hd_base_read_options options = {.columns = check->verify->quick ? columns : NULL,
                                                 .n_columns = n_columns};
    HD_TRY_OUT(hd_base_reader_read(op, check->reader, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &batch)) == HUDI_OK) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(check_batch(op, check, &arena, &batch, n_rows));
        n_rows += batch.length;
        hd_array_clear(&batch);
        hd_arena_reset(&arena);
    }
    if (status == HUDI_END)
        status = n_rows == check->file->n_rows
                     ? HUDI_OK
                     : hd_fail(op, HUDI_CORRUPT, "holds %" PRId64 " rows, its footer says %" PRId64,
                               n_rows, check->file->n_rows);
out:
    hd_base_batches_close(batches);
    hd_array_clear(&batch);
    hd_arena_clear(&arena);
    return status;
}

/* Keys of a table without meta columns, made from the key fields again. */
static hudi_status make_keys(struct hd_op *op, struct check *check)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_config *const config = &check->verify->table.config;
    const int32_t n = hd_base_reader_n_row_groups(check->reader);
    struct hd_stored_keys *keys = NULL;
    int32_t *row_groups = NULL;
    struct hd_view view;
    int64_t first_row;

    if (config->populate_meta_fields || config->n_record_key_fields == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *row_groups, &row_groups));
    for (int32_t i = 0; i < n; i++)
        row_groups[i] = i;
    HD_TRY_OUT(hd_stored_keys_open(op, config, check->verify->options, check->verify->key_encoding,
                                   check->reader, row_groups, n, &keys));
    check->file->keys_readable = true;
    while ((status = hd_stored_keys_next(op, keys, &view, &first_row)) == HUDI_OK)
        HD_TRY_OUT(check_keys(op, check, &view, first_row));
    if (status == HUDI_END)
        status = HUDI_OK;
out:
    hd_stored_keys_close(op, keys);
    hd_free(op, row_groups);
    return status;
}

/* ---- one file ------------------------------------------------------------------------------- */

static hudi_status check_open_file(struct hd_op *op, struct check *check)
{
    struct hd_verify_file *const file = check->file;

    file->n_rows = hd_base_reader_n_rows(check->reader);
    HD_TRY(check_row_count(op, check));
    HD_TRY(read_footer(op, check));
    HD_TRY(hd_key_hashes_begin(op, check->verify, file, file->n_rows));
    HD_TRY(read_rows(op, check));
    HD_TRY(make_keys(op, check));
    hd_key_hashes_end(file);
    return HUDI_OK;
}

static void clear_check(struct hd_op *op, struct check *check)
{
    hd_base_reader_close(check->reader);
    hd_schema_clear(&check->schema);
    hd_bloom_free(op, check->bloom);
    hd_map_clear(&check->times);
    hd_free(op, check->keys);
    hd_free(op, check->maybe);
}

hudi_status hd_verify_base_file(struct hd_op *op, struct hd_verify *verify,
                                struct hd_verify_file *file)
{
    struct check check = {
        .verify = verify,
        .file = file,
        .faults = {[BAD_KEY] = {.kind = "bad-key", .what = "is no record key"},
                   [OUT_OF_RANGE] = {.kind = "key-out-of-range",
                                     .what = "is outside of the footer's key range"},
                   [NOT_IN_BLOOM] = {.kind = "key-not-in-bloom",
                                     .what = "is not in the bloom filter"},
                   [BAD_TIME] = {.kind = "wrong-commit-time", .what = "is no completed instant"},
                   [LATE_TIME] = {.kind = "wrong-commit-time", .what = "is later than the file"},
                   [BAD_PARTITION] = {.kind = "wrong-partition-path",
                                      .what = "is not the partition it is in"}},
    };

    hudi_status status = hd_verify_open(op, verify, file, &check.reader);
    if (status == HUDI_NOT_FOUND) { /* since the listing: a clean, or damage */
        hd_op_clear_error(op);
        if (file->is_latest) {
            status = hd_report_finding(op, &file->report, "missing-file", file->path,
                                       "was there a moment ago");
            if (status == HUDI_OK)
                status = hd_report_of_instant(op, &file->report, file->parsed.instant);
        } else {
            status = HUDI_OK;
        }
        goto out;
    }
    if (status == HUDI_OK)
        status = check_open_file(op, &check);
    if (status != HUDI_OK) {
        file->keys_readable = false;
        hd_key_hashes_clear(op, file);
        HD_TRY_OUT(hd_report_failure(op, &file->report, status, "unreadable-file", file->path));
    }
    HD_TRY_OUT(report_faults(op, &check));
out:
    clear_check(op, &check);
    return status;
}
