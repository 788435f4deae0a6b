/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/array.h"
#include "engine/record/delete_rows.h"
#include "engine/slice/log_rows_internal.h"

static hudi_status make_keys(struct hd_op *op, const struct hd_slice *keys, size_t n,
                             struct ArrowArray *out)
{
    uint64_t n_bytes = 0;
    int32_t *offsets = NULL;
    uint8_t *data = NULL;
    hudi_status status;

    for (size_t i = 0; i < n; i++) {
        if (keys[i].data == NULL)
            return hd_fail(op, HUDI_CORRUPT, "delete %zu of a log block has no key", i);
        n_bytes += keys[i].size;
    }
    if (n_bytes > INT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "%zu deletes of a log block have keys of %llu bytes", n,
                       (unsigned long long)n_bytes);
    HD_TRY_OUT(hd_buffer_new_raw(op, ((uint64_t)n + 1) * sizeof *offsets, &offsets));
    HD_TRY_OUT(hd_buffer_new_raw(op, n_bytes, &data));
    offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (keys[i].size > 0)
            memcpy(data + offsets[i], keys[i].data, keys[i].size);
        offsets[i + 1] = offsets[i] + (int32_t)keys[i].size;
    }
    return hd_array_string(op, (int64_t)n, 0, NULL, offsets, data, out);
out:
    hd_buffer_free(offsets);
    hd_buffer_free(data);
    return status;
}

static hudi_status make_marks(struct hd_op *op, const bool *by_arrival, size_t n,
                              struct ArrowArray *out)
{
    int32_t *marks;

    HD_TRY(hd_buffer_new(op, (uint64_t)n * sizeof *marks, &marks));
    for (size_t i = 0; i < n; i++)
        marks[i] = by_arrival[i] ? HD_MARK_DELETE_BY_ARRIVAL : HD_MARK_DELETE;
    return hd_array_fixed(op, (int64_t)n, 0, NULL, marks, out);
}

static hudi_status make_entries(struct hd_op *op, const struct hd_merge_columns *columns,
                                struct hd_shared_array *data, const bool *by_arrival, size_t n,
                                struct ArrowArray *out)
{
    const int32_t n_columns = (int32_t)columns->entry.n_children;
    struct ArrowArray *parts;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *parts, &parts));
    for (int32_t i = 0; i < columns->n_read; i++) {
        const int32_t at = i - columns->n_meta;

        if (at >= 0 && at < columns->n_data)
            HD_TRY_OUT(hd_array_share(op, data, at, &parts[i]));
        else
            HD_TRY_OUT(hd_array_nulls(op, columns->nullable.children[i], (int64_t)n, &parts[i]));
    }
    HD_TRY_OUT(make_marks(op, by_arrival, n, &parts[hd_merge_columns_mark(columns)]));
    for (int32_t i = 0; columns->is_partial && i < columns->n_read; i++)
        HD_TRY_OUT(
            hd_constant_flags(op, true, (int64_t)n, &parts[hd_merge_columns_presence(columns, i)]));
    HD_TRY_OUT(hd_array_struct(op, parts, n_columns, (int64_t)n, out));
out:
    for (int32_t i = 0; i < n_columns; i++)
        hd_array_clear(&parts[i]);
    hd_free(op, parts);
    return status;
}

hudi_status hd_delete_entries(struct hd_op *op, const struct hd_merge_columns *columns,
                              const struct hd_log_deletes *deletes, size_t first, size_t n,
                              struct ArrowArray *keys, struct ArrowArray *entries)
{
    const struct hd_ordering_value *ordering =
        deletes->ordering == NULL ? NULL : deletes->ordering + first;
    struct ArrowArray data = {0};
    struct hd_shared_array *shared = NULL;
    struct hd_table_config config =
        *columns->query.config; /* shallow: only its version is another */
    bool *by_arrival = NULL;
    hudi_status status;

    config.version = columns->rules.merging;
    HD_TRY_OUT(make_keys(op, deletes->record_keys + first, n, keys));
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *by_arrival, &by_arrival));
    HD_TRY_OUT(hd_delete_rows(op, &config, &columns->data, ordering, n, by_arrival, &data));
    HD_TRY_OUT(hd_shared_array_new(op, &data, &shared));
    HD_TRY_OUT(make_entries(op, columns, shared, by_arrival, n, entries));
out:
    hd_shared_array_free(shared);
    hd_array_clear(&data);
    hd_free(op, by_arrival);
    return status;
}
