/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/key_encoding.h"

#include "arrow/array.h"
#include "engine/index/merged_rows.h"
#include "format/table/table_schema.h"

static hudi_status detect_in_batch(struct hd_op *op, const struct hd_table_snapshot *table,
                                   const struct hd_merged_rows *rows,
                                   const struct ArrowArray *batch, enum hd_complex_encoding *out,
                                   bool *decided)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    int64_t n_seen = 0;

    hudi_status status = hd_view_open(op, &arena, &rows->rows, batch, &view);
    if (status == HUDI_OK)
        status = hd_complex_encoding_detect(op, table->config.record_key_fields[0],
                                            &view.children[0], &n_seen, out);
    *decided = status == HUDI_OK && n_seen > 0;
    hd_arena_clear(&arena);
    return status;
}

static hudi_status detect_in_slice(struct hd_op *op, const struct hd_table_snapshot *table,
                                   const struct hd_merged_rows *rows,
                                   const struct hd_file_slice *slice, enum hd_complex_encoding *out,
                                   bool *decided)
{
    struct hd_merged_slice merged;

    HD_TRY(hd_merged_slice_open(op, rows, slice, &merged));
    hudi_status status = HUDI_OK;
    while (status == HUDI_OK && !*decided) {
        struct ArrowArray batch = {0};

        status = hd_slice_reader_next(op, merged.reader, &batch);
        if (status == HUDI_OK)
            status = detect_in_batch(op, table, rows, &batch, out, decided);
        hd_array_clear(&batch);
    }
    hd_merged_slice_close(op, &merged);
    return status == HUDI_END ? HUDI_OK : status;
}

hudi_status hd_detect_key_encoding_in(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const char *partition_path, enum hd_complex_encoding *out,
                                      bool *decided)
{
    hudi_status status = HUDI_OK;
    const char *const key = HD_META_RECORD_KEY;
    struct hd_file_system_view view = {0};
    struct hd_merged_rows rows = {0};
    struct hd_arena arena = {0};
    const struct hd_file_slice **slices;
    size_t n = 0;

    *decided = false;
    HD_TRY_OUT(hd_file_system_view_load(op, NULL, table->fs, table->path, &table->config,
                                        &table->timeline, &partition_path, 1, &view));
    HD_TRY_OUT(hd_file_system_view_slices(op, &view, NULL, &arena, &slices, &n));
    HD_TRY_OUT(hd_merged_rows_open(op, table, NULL, &key, 1, 1, &rows));
    for (size_t i = 0; i < n && !*decided; i++)
        HD_TRY_OUT(detect_in_slice(op, table, &rows, slices[i], out, decided));
out:
    hd_merged_rows_close(op, &rows);
    hd_file_system_view_clear(&view);
    hd_arena_clear(&arena);
    return status;
}
