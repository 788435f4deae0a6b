/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "format/log/log_reader.h"
#include "format/log/log_rows.h"

struct header_entry {
    const char *key, *value;
};

struct hudi_log_file {
    hudi_context *context;
    hd_log_reader *reader;
    struct hd_log_block block;
    struct hd_arena arena; /* of the header's entries */
    struct header_entry *entries;
    size_t n_entries;
};

static hudi_status open_reader(struct hd_op *op, const char *uri, hd_log_reader **out)
{
    hd_file_system *fs = NULL;
    char *path = NULL;

    HD_TRY(hd_fs_open(op, uri, &fs, &path));
    const hudi_status status = hd_log_reader_open(op, fs, path, out);
    hd_free(op, path);
    hd_fs_free(fs);
    return hd_fail_path(op, status, uri);
}

hudi_status hudi_log_file_open(hudi_context *context, const char *uri, hudi_log_file **out,
                               hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(uri), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    hudi_log_file *log = NULL;
    struct hd_op op;

    *out = NULL;
    hd_call_begin(&op, context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *log, &log));
    log->context = context;
    HD_TRY_OUT(open_reader(&op, uri, &log->reader));
    *out = log;
    log = NULL;
out:
    hudi_log_file_free(log);
    return hd_call_end(&op, status, err);
}

void hudi_log_file_free(hudi_log_file *log)
{
    struct hd_op op;

    if (log == NULL)
        return;
    hd_call_begin(&op, log->context, NULL);
    hd_log_block_clear(&op, &log->block);
    hd_log_reader_close(&op, log->reader);
    hd_arena_clear(&log->arena);
    hd_free(&op, log);
    (void)hd_call_end(&op, HUDI_OK, NULL);
}

static hudi_status take_entry(struct hd_op *op, hudi_log_file *log, uint32_t key,
                              struct hd_slice value)
{
    struct header_entry *const entry = &log->entries[log->n_entries];
    const char *const name = hd_log_header_key_name(key);
    char *text;

    if (name == NULL) {
        HD_TRY(hd_arena_printf(op, &log->arena, &text, "%" PRIu32, key));
        entry->key = text;
    } else {
        entry->key = name;
    }
    HD_TRY(hd_arena_strndup(op, &log->arena, value.data, value.size, &text));
    entry->value = text;
    log->n_entries++;
    return HUDI_OK;
}

static hudi_status take_header(struct hd_op *op, hudi_log_file *log)
{
    struct hd_log_header_entries entries;
    struct hd_slice value;
    uint32_t key;
    hudi_status status;

    HD_TRY(hd_log_header_open(op, &log->block, &entries));
    HD_TRY(hd_arena_array(op, &log->arena, entries.n_left, sizeof *log->entries, &log->entries));
    while ((status = hd_log_header_next(op, &entries, &key, &value)) == HUDI_OK)
        HD_TRY(take_entry(op, log, key, value));
    return status == HUDI_END ? HUDI_OK : status;
}

hudi_status hudi_log_file_next(hudi_log_file *log, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(log)));
    struct hd_op op;

    hd_call_begin(&op, log->context, NULL);
    hd_log_block_clear(&op, &log->block);
    hd_arena_reset(&log->arena);
    log->n_entries = 0;
    hudi_status status = hd_log_reader_next(&op, log->reader, &log->block);
    if (status == HUDI_OK)
        status = take_header(&op, log);
    return hd_call_end(&op, status, err);
}

const char *hudi_log_block_type(const hudi_log_file *log)
{
    return hd_log_block_type_name(log->block.type);
}

uint64_t hudi_log_block_offset(const hudi_log_file *log)
{
    return log->block.offset;
}

uint64_t hudi_log_block_bytes(const hudi_log_file *log)
{
    return log->block.size;
}

uint64_t hudi_log_block_content_bytes(const hudi_log_file *log)
{
    return log->block.content_bytes;
}

const char *hudi_log_block_damage(const hudi_log_file *log)
{
    return log->block.damage;
}

bool hudi_log_block_header_at(const hudi_log_file *log, size_t i, const char **key,
                              const char **value)
{
    if (i >= log->n_entries)
        return false;
    *key = log->entries[i].key;
    *value = log->entries[i].value;
    return true;
}

const char *hudi_log_block_header(const hudi_log_file *log, const char *key)
{
    for (size_t i = 0; i < log->n_entries; i++)
        if (strcmp(log->entries[i].key, key) == 0)
            return log->entries[i].value;
    return NULL;
}

hudi_status hudi_log_block_count(hudi_log_file *log, int64_t *n_rows, int *version,
                                 hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(log), HD_OUT(n_rows), HD_OUT(version)));
    struct hd_op op;
    uint32_t content_version;

    hd_call_begin(&op, log->context, NULL);
    const hudi_status status =
        hd_log_rows_count(&op, log->reader, &log->block, n_rows, &content_version);
    *version = (int)content_version;
    return hd_call_end(&op, status, err);
}

hudi_status hudi_log_block_rows(hudi_log_file *log, hudi_cancel *cancel,
                                struct ArrowArrayStream *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(log), HD_OUT(out)));
    struct hd_op op;

    hd_call_begin(&op, log->context, cancel);
    return hd_call_end(&op, hd_log_rows_open(&op, log->reader, &log->block, out), err);
}
