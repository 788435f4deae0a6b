/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "arrow/avro_decoder.h"
#include "engine/scan/changes_internal.h"
#include "format/log/log_reader.h"
#include "format/log/log_records.h"

/*
 * .cdc files: log files of CDC_DATA blocks (docs/format/log-format.md 4.6). Which images a block
 * has is what its own schema says, whatever the table says today.
 */

#define BATCH_BYTES (UINT64_C(4) << 20)
#define BATCH_ROWS 4096

struct hd_logged_changes {
    const struct hd_changes *changes;
    const struct hd_change_unit *unit;
    size_t next_file;
    char *path; /* of the open file */
    hd_log_reader *reader;
    struct hd_log_block block;
    struct hd_arena arena; /* of the block's schema */
    hd_avro_decoder *decoder;
    struct hd_log_records records;
    bool in_block, has_before, has_after;
};

static void close_block(struct hd_op *op, hd_logged_changes *logged)
{
    if (logged->in_block)
        hd_log_records_close(op, &logged->records);
    logged->in_block = false;
    hd_avro_decoder_free(op, logged->decoder);
    logged->decoder = NULL;
    hd_log_block_clear(op, &logged->block);
    hd_arena_clear(&logged->arena);
}

static void close_file(struct hd_op *op, hd_logged_changes *logged)
{
    close_block(op, logged);
    hd_log_reader_close(op, logged->reader);
    logged->reader = NULL;
    hd_free(op, logged->path);
    logged->path = NULL;
}

hudi_status hd_logged_changes_open(struct hd_op *op, const struct hd_changes *changes,
                                   const struct hd_change_unit *unit, hd_logged_changes **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->changes = changes;
    (*out)->unit = unit;
    return HUDI_OK;
}

void hd_logged_changes_close(struct hd_op *op, hd_logged_changes *logged)
{
    if (logged == NULL)
        return;
    close_file(op, logged);
    hd_free(op, logged);
}

static hudi_status open_file(struct hd_op *op, hd_logged_changes *logged)
{
    const struct hd_table_snapshot *table = logged->changes->table;
    const char *path = logged->unit->cdc_paths[logged->next_file];
    const int64_t size = logged->unit->cdc_sizes[logged->next_file];

    logged->next_file++;
    HD_TRY(hd_path_join(op, table->path, path, &logged->path));
    HD_TRY(hd_change_is_gone(op, hd_log_reader_open(op, table->fs, logged->path, &logged->reader),
                             logged->changes, logged->unit, path));
    /* A file cut between two blocks, or to nothing, looks whole. */
    const uint64_t n_bytes = hd_input_file_size(hd_log_reader_file(logged->reader));
    if (size > 0 && n_bytes < (uint64_t)size)
        return hd_fail(op, HUDI_CORRUPT,
                       "a file of changes has %" PRIu64 " bytes, the commit %s says %" PRId64,
                       n_bytes, logged->changes->instant->time, size);
    return HUDI_OK;
}

/* HUDI_END at the end of the file. A damaged block holds changes that nothing else tells. */
static hudi_status open_block(struct hd_op *op, hd_logged_changes *logged)
{
    struct hd_avro_schema *writer;
    struct hd_slice schema;

    HD_TRY(hd_log_reader_next(op, logged->reader, &logged->block));
    const struct hd_log_block *block = &logged->block;
    if (block->type == HD_LOG_CORRUPT)
        return hd_fail(op, HUDI_CORRUPT,
                       "the block at byte %" PRIu64 " of a file of changes is damaged",
                       block->offset);
    if (block->type != HD_LOG_CDC_DATA)
        return hd_fail(op, HUDI_CORRUPT, "the block at byte %" PRIu64 " of a file of changes is %s",
                       block->offset, hd_log_block_type_name(block->type));
    if (hd_log_header_find(op, block, HD_LOG_SCHEMA, &schema) != HUDI_OK)
        return hd_fail(op, HUDI_CORRUPT,
                       "the block at byte %" PRIu64 " of a file of changes has no schema",
                       block->offset);
    HD_TRY(hd_avro_schema_parse(op, &logged->arena, schema, &writer));
    if (writer->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_CORRUPT, "the schema of a file of changes is no record");
    logged->has_before = hd_avro_schema_field_index(writer, hd_slice_text("before")) >= 0;
    logged->has_after = hd_avro_schema_field_index(writer, hd_slice_text("after")) >= 0;
    HD_TRY(hd_avro_decoder_new(op, writer, &logged->changes->logged_schema, &logged->decoder));
    HD_TRY(hd_log_records_open(op, hd_log_reader_file(logged->reader), block, &logged->records));
    logged->in_block = true;
    return HUDI_OK;
}

/* A batch of the open block, HUDI_END when it has no more. */
static hudi_status next_of_block(struct hd_op *op, hd_logged_changes *logged,
                                 struct ArrowArray *out)
{
    while (hd_avro_decoder_n_rows(logged->decoder) < BATCH_ROWS &&
           hd_avro_decoder_bytes(logged->decoder) < BATCH_BYTES) {
        struct hd_slice record;
        const hudi_status status = hd_log_records_next(op, &logged->records, &record);

        if (status == HUDI_END)
            break;
        HD_TRY(status);
        HD_TRY(hd_avro_decoder_add(op, logged->decoder, record));
    }
    if (hd_avro_decoder_n_rows(logged->decoder) == 0)
        return HUDI_END;
    return hd_avro_decoder_finish(op, logged->decoder, out);
}

static hudi_status next_batch(struct hd_op *op, hd_logged_changes *logged, struct ArrowArray *out)
{
    for (;;) {
        hudi_status status;

        HD_TRY(hd_op_check_cancel(op));
        if (logged->in_block) {
            status = next_of_block(op, logged, out);
            if (status != HUDI_END)
                return status;
            close_block(op, logged);
        }
        if (logged->reader == NULL) {
            if (logged->next_file == logged->unit->n_cdc)
                return HUDI_END;
            HD_TRY(open_file(op, logged));
        }
        status = open_block(op, logged);
        if (status == HUDI_END)
            close_file(op, logged);
        else
            HD_TRY(status);
    }
}

hudi_status hd_logged_changes_next(struct hd_op *op, hd_logged_changes *logged,
                                   struct ArrowArray *out, bool *has_before, bool *has_after)
{
    const hudi_status status = next_batch(op, logged, out);

    *has_before = logged->has_before;
    *has_after = logged->has_after;
    if (status != HUDI_OK && status != HUDI_END && logged->path != NULL)
        hd_error_set_path(op, logged->path);
    return status;
}
