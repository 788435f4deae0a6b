/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "arrow/array.h"
#include "arrow/stream.h"
#include "engine/slice/log_rules.h"
#include "format/log/log_reader.h"
#include "format/log/log_rows.h"
#include "service/verify_internal.h"

#define DAMAGED "damaged-log-block"
/* Fewer bytes than a magic has are no block. */
#define MAX_TAIL_BYTES 5

/* What an error says of a block: a finding, or a note for what is not known. */
static hudi_status report_block(struct hd_op *op, struct hd_verify_file *file, uint64_t offset,
                                hudi_status status)
{
    if (status != HUDI_CORRUPT && status != HUDI_IO && status != HUDI_INVALID &&
        status != HUDI_SCHEMA && status != HUDI_NOT_IMPLEMENTED)
        return status;
    hudi_error *const error = hd_op_take_error(op);
    const bool is_note = status == HUDI_NOT_IMPLEMENTED;

    status = (is_note ? hd_report_note : hd_report_finding)(
        op, &file->report, is_note ? "not-checked" : DAMAGED, file->path,
        "the block at byte %" PRIu64 ": %s", offset, hudi_error_message(error));
    hudi_error_free(error);
    return status;
}

/* Behind what commits say of the file, a writer has died, or is at work. */
static bool is_tail(const struct hd_verify_file *file, const struct hd_log_block *block)
{
    const bool is_last = block->offset + block->size + MAX_TAIL_BYTES >= file->n_bytes;

    return file->expected == NULL ? is_last : block->offset >= (uint64_t)file->expected->n_bytes;
}

static hudi_status report_corrupt(struct hd_op *op, struct hd_verify_file *file,
                                  const struct hd_log_block *block)
{
    if (is_tail(file, block))
        return hd_report_note(op, &file->report, "torn-log-block", file->path,
                              "the block at byte %" PRIu64 ": %s: of a writer that died",
                              block->offset, block->damage);
    return hd_report_finding(op, &file->report, DAMAGED, file->path,
                             "the block at byte %" PRIu64 ": %s", block->offset, block->damage);
}

/* With `quick` no further than the block's schema and counts. */
static hudi_status read_rows(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                             bool quick)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    hudi_status status = HUDI_END;

    HD_TRY(hd_log_rows_open(op, reader, block, &stream));
    while (!quick && (status = hd_stream_next(op, &stream, &batch)) == HUDI_OK)
        hd_array_clear(&batch);
    hd_stream_clear(&stream);
    return status == HUDI_END ? HUDI_OK : status;
}

/* Add what a block holds to the write that it is of. HFile blocks hold each key once, whatever was
 * counted. */
static hudi_status count_rows(struct hd_op *op, const struct hd_verify_file *file,
                              hd_log_reader *reader, struct hd_log_block *block,
                              struct hd_slice instant)
{
    struct hd_expected_write *write = file->expected == NULL ? NULL : file->expected->writes;
    uint32_t version;
    int64_t n;

    while (write != NULL && !hd_slice_equal(hd_slice_text(write->instant), instant))
        write = write->next;
    if (write == NULL)
        return HUDI_OK;
    HD_TRY(hd_log_rows_count(op, reader, block, &n, &version));
    write->is_unsure |= block->type == HD_LOG_HFILE_DATA;
    if (block->type == HD_LOG_DELETE)
        write->n_found_deletes += n;
    else
        write->n_found_records += n;
    return HUDI_OK;
}

/* Of a file without damage and not cut: fewer rows than its commits say are lost. There may be more
 * (records of an attempt that was tried again; keys of records that failed, with Hudi 0.10). */
static hudi_status check_counts(struct hd_op *op, struct hd_verify_file *file)
{
    const struct hd_expected_write *write = file->expected == NULL ? NULL : file->expected->writes;

    if (write != NULL && file->n_bytes < (uint64_t)file->expected->n_bytes)
        return HUDI_OK; /* told by the listing */
    for (; write != NULL; write = write->next) {
        if (write->is_unsure || (write->n_found_records >= write->n_records &&
                                 write->n_found_deletes >= write->n_deletes))
            continue;
        HD_TRY(hd_report_finding(op, &file->report, "wrong-row-count", file->path,
                                 "holds %" PRId64 " records and %" PRId64
                                 " deletes of %s, which says %" PRId64 " and %" PRId64,
                                 write->n_found_records, write->n_found_deletes, write->instant,
                                 write->n_records, write->n_deletes));
    }
    return HUDI_OK;
}

/* Header and content of a whole block. */
static hudi_status check_block(struct hd_op *op, const struct hd_verify *verify,
                               const struct hd_verify_file *file, hd_log_reader *reader,
                               struct hd_log_block *block)
{
    struct hd_log_entry entry;

    HD_TRY(hd_log_entry_of(op, block, &entry));
    if (block->type == HD_LOG_COMMAND)
        return HUDI_OK;
    HD_TRY(count_rows(op, file, reader, block, entry.instant));
    return read_rows(op, reader, block, verify->quick);
}

static hudi_status check_next(struct hd_op *op, const struct hd_verify *verify,
                              struct hd_verify_file *file, hd_log_reader *reader)
{
    const uint64_t offset = hd_log_reader_offset(reader);
    struct hd_log_block block;

    hudi_status status = hd_log_reader_next(op, reader, &block);
    if (status == HUDI_END)
        return status;
    if (status ==
        HUDI_NOT_IMPLEMENTED) { /* a number that readers refuse, all of the file with it */
        hudi_error *const error = hd_op_take_error(op);

        status = hd_report_finding(op, &file->report, "unknown-log-block", file->path, "%s",
                                   hudi_error_message(error));
        hudi_error_free(error);
        return status;
    }
    if (status == HUDI_OK && block.type == HD_LOG_CORRUPT)
        status = report_corrupt(op, file, &block);
    else if (status == HUDI_OK)
        status = check_block(op, verify, file, reader, &block);
    hd_log_block_clear(op, &block);
    if (status == HUDI_OK)
        return HUDI_OK;
    if (status == HUDI_IO) { /* not of the block: the reader may not get on */
        HD_TRY(report_block(op, file, offset, status));
        return HUDI_END;
    }
    return report_block(op, file, offset, status);
}

hudi_status hd_verify_log_file(struct hd_op *op, struct hd_verify *verify,
                               struct hd_verify_file *file)
{
    const struct hd_log_sink log = op->log;
    hd_log_reader *reader = NULL;
    char *path;

    HD_TRY(hd_path_join(op, verify->table.path, file->path, &path));
    hudi_status status = hd_log_reader_open(op, verify->table.fs, path, &reader);
    hd_free(op, path);
    if (status == HUDI_NOT_FOUND) { /* cleaned, or rolled back, since the listing */
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    if (status != HUDI_OK)
        return hd_report_failure(op, &file->report, status, "unreadable-file", file->path);
    const size_t n_reported = file->report.n_entries;
    op->log = (struct hd_log_sink){0}; /* what it says is a finding here */
    do
        status = check_next(op, verify, file, reader);
    while (status == HUDI_OK);
    op->log = log;
    hd_log_reader_close(op, reader);
    if (status == HUDI_END)
        status = file->report.n_entries == n_reported ? check_counts(op, file) : HUDI_OK;
    return status;
}
