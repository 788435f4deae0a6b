/* SPDX-License-Identifier: Apache-2.0 */
/* A file slice in memory, base file and log files written block by block from text rows. */
#ifndef TEST_ENGINE_MERGE_TESTING_H
#define TEST_ENGINE_MERGE_TESTING_H

#include "unit/engine/rows_testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "arrow/avro_encoder.h"
#include "codec/avro.h"
#include "codec/avro_schema.h"
#include "format/log/log_block.h"
#include "format/log/log_positions.h"
#include "store/memory.h"

#define MERGE_STORE "merge"
#define MERGE_MAX_LOGS 8
#define MERGE_PAYLOADS "org.apache.hudi.common.model."

struct merged {
    struct hd_op *op;
    hd_file_system *fs;
    char *folder;
    struct hd_table_config config;
    const char *ordering[2];
    struct ArrowSchema schema;
    int32_t columns[32];
    hd_predicate *predicate;
    struct hd_options options;
    struct hd_log_instants instants;
    struct hd_slice_query query;
    struct hd_slice_source source;
    struct hd_str logs[MERGE_MAX_LOGS];
    char *log_names[MERGE_MAX_LOGS];
    const char *log_paths[MERGE_MAX_LOGS];
};

static const struct hd_log_instant merge_instants[] = {
    {"001", true, NULL}, {"002", true, NULL}, {"003", true, NULL},
    {"004", true, NULL}, {"005", true, NULL}, {"006", false, NULL},
};

/* A slice of the partition "p" with a base file of `base_columns` and `rows` (NULL: none), read as
 * `columns`. `rule`: a payload class, or from version 8 on a merge mode. */
static inline void merge_open(struct hd_op *op, struct merged *m, int version, const char *rule,
                              const char *columns, const char *rows)
{
    char *path;

    *m = (struct merged){.op = op};
    test_must(op, hd_fs_open(op, "memory:" MERGE_STORE "/t", &m->fs, &m->folder));
    test_must(op, hd_path_join(op, m->folder, "p", &path));
    test_must(op, hd_fs_make_dirs(op, m->fs, path));
    hd_free(op, path);
    test_must(op, hd_table_version_of(op, version, &m->config.version));
    m->config.populate_meta_fields = true;
    if (version < 8)
        m->config.payload_class = rule;
    else
        m->config.record_merge_mode = rule;
    m->ordering[0] = "ts";
    m->config.ordering_fields = m->ordering;
    test_schema(op, columns, &m->schema);
    m->config.n_ordering_fields = hd_schema_find(&m->schema, "ts") >= 0;
    for (int32_t i = 0; i < m->schema.n_children; i++)
        m->columns[i] = i;
    m->instants = (struct hd_log_instants){merge_instants, HD_ARRAY_LENGTH(merge_instants), "001",
                                           NULL, NULL};
    m->query = (struct hd_slice_query){
        .fs = m->fs,
        .table_path = m->folder,
        .config = &m->config,
        .schema = &m->schema,
        .columns = m->columns,
        .n_columns = (int32_t)m->schema.n_children,
        .use_statistics = true,
        .options = &m->options,
        .log_instants = &m->instants,
        .merge_bytes = 64 << 20,
    };
    m->source = (struct hd_slice_source){
        .partition_path = "p", .file_id = "f", .instant = "001", .log_paths = m->log_paths};
    if (rows == NULL)
        return;
    test_must(op, hd_path_join(op, m->folder, "p/f_0-0-0_001.parquet", &path));
    test_base_file(op, m->fs, path, columns, rows, 2);
    hd_free(op, path);
    m->source.base_path = "p/f_0-0-0_001.parquet";
}

static inline void merge_option(struct merged *m, const char *key, const char *value)
{
    test_must(m->op, hd_options_set(m->op, &m->options, key, value));
}

static inline void merge_filter(struct merged *m, const char *text)
{
    hd_predicate_free(m->predicate);
    m->predicate = NULL;
    if (text != NULL) {
        test_must(m->op, hd_predicate_new(m->op, &m->schema, &m->predicate));
        test_must(m->op, hd_predicate_and(m->op, m->predicate, hd_slice_text(text)));
    }
    m->query.predicate = m->predicate;
}

static inline void merge_close(struct merged *m)
{
    for (size_t i = 0; i < MERGE_MAX_LOGS; i++) {
        hd_str_clear(&m->logs[i]);
        hd_free(m->op, m->log_names[i]);
    }
    hd_options_clear(&m->options);
    hd_properties_clear(&m->config.properties);
    hd_predicate_free(m->predicate);
    hd_schema_clear(&m->schema);
    hd_free(m->op, m->folder);
    hd_fs_free(m->fs);
    hd_memory_drop(MERGE_STORE);
}

/* ---- blocks -------------------------------------------------------------------------------- */

#define MERGE_HEADER_MAX 6

struct merge_header {
    struct hd_log_header_entry entries[MERGE_HEADER_MAX];
    size_t n;
};

static inline void merge_add_header(struct merge_header *header, enum hd_log_header_key key,
                                    const char *text)
{
    if (text != NULL)
        header->entries[header->n++] =
            (struct hd_log_header_entry){.key = key, .value = hd_slice_text(text)};
}

static inline void merge_add_u32be(struct hd_op *op, struct hd_str *out, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};

    test_must(op, hd_str_append(op, out, bytes, sizeof bytes));
}

static inline void merge_put_block(struct merged *m, size_t log, enum hd_log_block_type type,
                                   const struct merge_header *header, const struct hd_str *content)
{
    const struct hd_slice part = hd_str_slice(content);

    test_must(m->op, hd_log_block_encode(m->op, type, header->entries, header->n, &part, 1,
                                         &m->logs[log]));
}

static inline uint32_t merge_count_lines(const char *rows)
{
    uint32_t n = 0;

    for (; *rows != '\0'; rows++)
        n += *rows == '\n';
    return n;
}

/* What a block has besides. NULL: not. */
struct merge_block {
    const char *partial; /* "true" */
    const char *compacted;
    const char *positions; /* "0 3 17", ascending; or "=" and the header's text */
    const char *base;      /* instant of the base file that they are of */
};

/* `text` is to be kept until the block is there. */
static inline void merge_add_positions(struct hd_op *op, struct merge_header *header,
                                       const struct merge_block *more, struct hd_str *text)
{
    uint64_t positions[256];
    size_t n = 0;

    merge_add_header(header, HD_LOG_BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS, more->base);
    if (more->positions == NULL)
        return;
    if (more->positions[0] == '=') {
        merge_add_header(header, HD_LOG_RECORD_POSITIONS, more->positions + 1);
        return;
    }
    for (const char *at = more->positions; *at != '\0'; n++) {
        char *end;

        assert_true(n < HD_ARRAY_LENGTH(positions));
        positions[n] = strtoull(at, &end, 10);
        at = end + (*end == ' ');
    }
    test_must(op, hd_log_positions_encode(op, positions, n, text));
    merge_add_header(header, HD_LOG_RECORD_POSITIONS, hd_str_text(text));
}

static inline void merge_avro_with(struct merged *m, size_t log, const char *instant,
                                   const char *columns, const char *rows, struct merge_block more)
{
    struct hd_op *op = m->op;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct hd_str json = {0}, content = {0}, positions = {0};
    struct hd_arena arena = {0};
    struct hd_avro_schema *avro;
    hd_avro_encoder *encoder;
    struct merge_header header = {0};

    test_schema(op, columns, &schema);
    test_must(op, hd_table_schema_to_avro(op, &schema, "t", &json));
    test_must(op, hd_avro_schema_parse(op, &arena, hd_str_slice(&json), &avro));
    test_must(op, hd_avro_encoder_new(op, &schema, avro, &encoder));
    merge_add_u32be(op, &content, 3);
    merge_add_u32be(op, &content, merge_count_lines(rows));
    if (rows[0] != '\0') {
        test_rows(op, &schema, rows, &batch);
        test_must(op, hd_avro_encoder_add(op, encoder, &batch, NULL, batch.length, true, &content));
        hd_array_clear(&batch);
    }
    merge_add_header(&header, HD_LOG_INSTANT_TIME, instant);
    merge_add_header(&header, HD_LOG_SCHEMA, hd_str_text(&json));
    merge_add_header(&header, HD_LOG_IS_PARTIAL, more.partial);
    merge_add_header(&header, HD_LOG_COMPACTED_BLOCK_TIMES, more.compacted);
    merge_add_positions(op, &header, &more, &positions);
    merge_put_block(m, log, HD_LOG_AVRO_DATA, &header, &content);
    hd_avro_encoder_free(op, encoder);
    hd_arena_clear(&arena);
    hd_schema_clear(&schema);
    hd_str_clear(&positions);
    hd_str_clear(&content);
    hd_str_clear(&json);
}

static inline void merge_avro(struct merged *m, size_t log, const char *instant,
                              const char *columns, const char *rows)
{
    merge_avro_with(m, log, instant, columns, rows, (struct merge_block){0});
}

static inline void merge_parquet_with(struct merged *m, size_t log, const char *instant,
                                      const char *columns, const char *rows,
                                      struct merge_block more)
{
    struct hd_op *op = m->op;
    struct merge_header header = {0};
    struct hd_str content = {0}, positions = {0};
    uint8_t *bytes;
    size_t n;
    char *path;

    test_must(op, hd_path_join(op, m->folder, "block.parquet", &path));
    test_base_file(op, m->fs, path, columns, rows, 0);
    test_must(op, hd_fs_read_file(op, m->fs, path, 1 << 20, &bytes, &n));
    test_must(op, hd_str_append(op, &content, bytes, n));
    merge_add_header(&header, HD_LOG_INSTANT_TIME, instant);
    merge_add_positions(op, &header, &more, &positions);
    merge_put_block(m, log, HD_LOG_PARQUET_DATA, &header, &content);
    hd_free(op, bytes);
    hd_free(op, path);
    hd_str_clear(&positions);
    hd_str_clear(&content);
}

static inline void merge_parquet(struct merged *m, size_t log, const char *instant,
                                 const char *columns, const char *rows)
{
    merge_parquet_with(m, log, instant, columns, rows, (struct merge_block){0});
}

static inline void merge_put_wrapper(struct hd_op *op, struct hd_str *out, const char *type,
                                     const char *text)
{
    static const char *const BRANCHES[] = {"null",  "bool",   "int",  "long",    "float", "double",
                                           "bytes", "string", "date", "decimal", "time",  "micros"};
    int64_t branch = 0;

    while (strcmp(BRANCHES[branch], type) != 0)
        branch++;
    test_must(op, hd_avro_write_long(op, out, branch));
    switch (branch) {
    case 0:
        break;
    case 1:
        test_must(op, hd_avro_write_boolean(op, out, text[0] == 't'));
        break;
    case 4:
        test_must(op, hd_avro_write_float(op, out, strtof(text, NULL)));
        break;
    case 5:
        test_must(op, hd_avro_write_double(op, out, strtod(text, NULL)));
        break;
    case 6:
    case 7:
        test_must(op, hd_avro_write_bytes(op, out, hd_slice_text(text)));
        break;
    case 9: { /* scale 15, of at most 8 bytes */
        const int64_t value = strtoll(text, NULL, 10) * INT64_C(1000000000000000);
        uint8_t bytes[8];

        for (int i = 0; i < 8; i++)
            bytes[i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
        test_must(op, hd_avro_write_bytes(op, out, hd_slice_of(bytes, 8)));
        break;
    }
    default:
        test_must(op, hd_avro_write_long(op, out, strtoll(text, NULL, 10)));
    }
}

/* Lines "key" (ordering int 0) or "key@type:value", as a delete block of version 3. */
static inline void merge_deletes_with(struct merged *m, size_t log, const char *instant,
                                      const char *lines, struct merge_block more)
{
    struct hd_op *op = m->op;
    struct merge_header header = {0};
    struct hd_str content = {0}, list = {0}, positions = {0};

    test_must(op, hd_avro_write_long(op, &list, merge_count_lines(lines)));
    while (*lines != '\0') {
        char line[64];
        const size_t n = test_span(lines, "\n");

        assert_true(n < sizeof line);
        memcpy(line, lines, n);
        line[n] = '\0';
        lines += n + 1;
        char *type = strchr(line, '@');
        if (type != NULL)
            *type++ = '\0';
        char *value = type == NULL ? NULL : strchr(type, ':');
        if (value != NULL)
            *value++ = '\0';
        test_must(op, hd_avro_write_long(op, &list, 1));
        test_must(op, hd_avro_write_bytes(op, &list, hd_slice_text(line)));
        test_must(op, hd_avro_write_long(op, &list, 1));
        test_must(op, hd_avro_write_bytes(op, &list, hd_slice_text("p")));
        merge_put_wrapper(op, &list, type == NULL ? "int" : type, type == NULL ? "0" : value);
    }
    test_must(op, hd_avro_write_long(op, &list, 0));
    merge_add_u32be(op, &content, 3);
    merge_add_u32be(op, &content, (uint32_t)list.size);
    test_must(op, hd_str_append(op, &content, list.data, list.size));
    merge_add_header(&header, HD_LOG_INSTANT_TIME, instant);
    merge_add_positions(op, &header, &more, &positions);
    merge_put_block(m, log, HD_LOG_DELETE, &header, &content);
    hd_str_clear(&positions);
    hd_str_clear(&content);
    hd_str_clear(&list);
}

static inline void merge_deletes(struct merged *m, size_t log, const char *instant,
                                 const char *lines)
{
    merge_deletes_with(m, log, instant, lines, (struct merge_block){0});
}

static inline void merge_rollback(struct merged *m, size_t log, const char *instant,
                                  const char *target)
{
    test_must(m->op, hd_log_rollback_block_encode(m->op, instant, target, &m->logs[log]));
}

static inline void merge_junk(struct merged *m, size_t log, const char *bytes)
{
    test_must(m->op, hd_str_append_text(m->op, &m->logs[log], bytes));
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Write the log files that have blocks. */
static inline void merge_flush(struct merged *m)
{
    struct hd_op *op = m->op;

    m->source.n_logs = 0;
    for (size_t i = 0; i < MERGE_MAX_LOGS; i++) {
        hd_output_file *file;
        char *path;

        if (m->logs[i].size == 0)
            continue;
        hd_free(op, m->log_names[i]);
        test_must(op, hd_asprintf(op, &m->log_names[i], "p/.f_001.log.%zu_0-0-0", i + 1));
        test_must(op, hd_path_join(op, m->folder, m->log_names[i], &path));
        test_must(op, hd_fs_open_output(op, m->fs, path, false, &file));
        test_must(op, hd_output_file_write(op, file, m->logs[i].data, m->logs[i].size));
        test_must(op, hd_output_file_close(op, file, false));
        hd_free(op, path);
        m->log_paths[m->source.n_logs++] = m->log_names[i];
    }
}

static inline hudi_status merge_read(struct merged *m, struct hd_str *out,
                                     struct hd_slice_merge_stats *stats)
{
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch;

    merge_flush(m);
    HD_TRY_OUT(hd_slice_query_schema(m->op, &m->query, &schema));
    HD_TRY_OUT(hd_slice_reader_open(m->op, &m->query, &m->source, &reader));
    while ((status = hd_slice_reader_next(m->op, reader, &batch)) == HUDI_OK) {
        assert_true(batch.length > 0);
        test_append_rows(m->op, &schema, &batch, out);
        hd_array_clear(&batch);
    }
    if (status == HUDI_END)
        status = HUDI_OK;
    if (stats != NULL)
        *stats = hd_slice_reader_merge_stats(reader);
out:
    hd_slice_reader_close(reader);
    hd_schema_clear(&schema);
    return status;
}

static inline void merge_expect(struct merged *m, const char *rows)
{
    struct hd_str got = {0};

    test_must(m->op, merge_read(m, &got, NULL));
    assert_string_equal(hd_str_text(&got), rows);
    hd_str_clear(&got);
}

static inline void merge_expect_error(struct merged *m, hudi_status status, const char *message)
{
    struct hd_str got = {0};

    assert_int_equal(merge_read(m, &got, NULL), status);
    assert_non_null(m->op->error);
    if (strstr(hudi_error_message(m->op->error), message) == NULL)
        fail_msg("%s", hudi_error_message(m->op->error));
    hd_op_clear_error(m->op);
    hd_str_clear(&got);
}

/* Read with every fault in turn: each is passed up, and nothing is left behind. */
static inline void merge_check_faults(struct merged *m)
{
    struct hd_op *const op = m->op;
    hudi_status status = HUDI_INTERNAL;

    merge_flush(m);
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_slice_reader *reader = NULL;
        struct ArrowArray batch;

        assert_true(nth < 10000);
        test_fault_arm(op, nth);
        status = hd_slice_reader_open(op, &m->query, &m->source, &reader);
        while (status == HUDI_OK) {
            status = hd_slice_reader_next(op, reader, &batch);
            if (status == HUDI_OK)
                hd_array_clear(&batch);
        }
        if (status == HUDI_END)
            status = HUDI_OK;
        hd_slice_reader_close(reader);
        assert_true(status != HUDI_OK || !test_fault_fired(op) || op->error == NULL);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
}

#endif
