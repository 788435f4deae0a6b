/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log file of Avro blocks: decoded, encoded and written again, merged by key in memory and
 * with more records than memory holds. bench/micro/log_files makes the file and runs this beside
 * Hudi's own classes in a warm JVM.
 *
 *     log_files_bench TABLE SPILL_BYTES     a merge-on-read table of one file group with one log
 *
 * Prints NAME RECORDS CPU_SECONDS, a line each; the first of two rounds is not printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arrow/array.h"
#include "arrow/avro_decoder.h"
#include "arrow/avro_encoder.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "engine/scan/scan_internal.h"
#include "engine/slice/slice_reader.h"
#include "format/log/log_reader.h"
#include "format/log/log_records.h"
#include "format/log/log_writer.h"

#define BATCH_ROWS 10000
#define MAX_BATCHES 4096
#define N_ROUNDS 2

static struct hd_op op;
static struct hd_table_snapshot table;
static hd_scan_plan *plan;
static struct ArrowArray batches[MAX_BATCHES];
static size_t n_batches;
static struct hd_arena arena;
static struct hd_avro_schema *avro;
static struct ArrowSchema schema;

static void must(hudi_status status)
{
    if (status == HUDI_OK)
        return;
    fprintf(stderr, "%s\n", op.error == NULL ? "?" : hudi_error_message(op.error));
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void open_schema(const struct hd_log_block *block)
{
    struct hd_slice text;

    if (avro != NULL)
        return;
    must(hd_log_header_find(&op, block, HD_LOG_SCHEMA, &text));
    must(hd_avro_schema_parse(&op, &arena, text, &avro));
    must(hd_avro_to_arrow(&op, avro, &schema));
}

/* The records of a block to columns; they are kept. */
static int64_t decode_block(hd_log_reader *reader, const struct hd_log_block *block)
{
    struct hd_log_records records;
    struct hd_slice record;
    hd_avro_decoder *decoder;
    hudi_status status;
    int64_t n = 0;

    open_schema(block);
    must(hd_log_records_open(&op, hd_log_reader_file(reader), block, &records));
    must(hd_avro_decoder_new(&op, avro, &schema, &decoder));
    do {
        status = hd_log_records_next(&op, &records, &record);
        if (status == HUDI_OK)
            must(hd_avro_decoder_add(&op, decoder, record));
        else if (status != HUDI_END)
            must(status);
        if (hd_avro_decoder_n_rows(decoder) == BATCH_ROWS || status == HUDI_END) {
            must(hd_avro_decoder_finish(&op, decoder, &batches[n_batches]));
            n += batches[n_batches++].length;
        }
    } while (status == HUDI_OK && n_batches < MAX_BATCHES);
    hd_avro_decoder_free(&op, decoder);
    hd_log_records_close(&op, &records);
    return n;
}

static int64_t decode(const char *path)
{
    hd_log_reader *reader;
    struct hd_log_block block;
    hudi_status status;
    int64_t n = 0;

    for (size_t i = 0; i < n_batches; i++)
        hd_array_clear(&batches[i]);
    n_batches = 0;
    must(hd_log_reader_open(&op, table.fs, path, &reader));
    while ((status = hd_log_reader_next(&op, reader, &block)) == HUDI_OK) {
        n += decode_block(reader, &block);
        hd_log_block_clear(&op, &block);
    }
    if (status != HUDI_END)
        must(status);
    hd_log_reader_close(&op, reader);
    return n;
}

/* The columns that were decoded to a new log file of one block, synced. */
static int64_t write_log(const char *folder)
{
    static const struct hd_log_header_entry HEADER[] = {
        {HD_LOG_INSTANT_TIME, {(const uint8_t *)"20240101000000000", 17}}};
    const struct hd_log_target target = {.fs = table.fs,
                                         .table_path = folder,
                                         .partition_path = "",
                                         .file_id = "bench-0",
                                         .instant = "20240101000000000",
                                         .write_token = "0-0-0",
                                         .first_version = 1,
                                         .max_bytes = UINT64_MAX};
    struct hd_str content = {0}, head = {0}, tail = {0};
    struct hd_log_append append;
    hd_avro_encoder *encoder;
    hd_log_writer *writer;
    int64_t n = 0;

    must(hd_avro_encoder_new(&op, &schema, avro, &encoder));
    for (size_t i = 0; i < n_batches; i++) {
        must(hd_avro_encoder_add(&op, encoder, &batches[i], NULL, batches[i].length, true,
                                 &content));
        n += batches[i].length;
    }
    must(hd_log_block_frame(&op, HD_LOG_AVRO_DATA, HEADER, HD_ARRAY_LENGTH(HEADER), content.size,
                            &head, &tail));
    must(hd_log_writer_open(&op, &target, &writer));
    const struct hd_slice parts[] = {hd_str_slice(&head), hd_str_slice(&content),
                                     hd_str_slice(&tail)};
    must(hd_log_writer_append(&op, writer, parts, HD_ARRAY_LENGTH(parts), &append));
    must(hd_log_writer_close(&op, writer));
    hd_avro_encoder_free(&op, encoder);
    hd_str_clear(&content);
    hd_str_clear(&head);
    hd_str_clear(&tail);
    return n;
}

/* The log alone, merged by key: every entry comes out once, as a row. */
static int64_t scan(uint64_t memory_bytes)
{
    struct hd_slice_query query = plan->query;
    struct hd_slice_source slice = plan->splits[0];
    hd_slice_reader *reader;
    struct ArrowArray batch;
    hudi_status status;
    int64_t n = 0;

    query.merge_bytes = memory_bytes;
    slice.base_path = NULL;
    must(hd_slice_reader_open(&op, &query, &slice, &reader));
    while ((status = hd_slice_reader_next(&op, reader, &batch)) == HUDI_OK) {
        n += batch.length;
        hd_array_clear(&batch);
    }
    if (status != HUDI_END)
        must(status);
    hd_slice_reader_close(reader);
    return n;
}

static void report(int round, const char *name, int64_t n, double start)
{
    const double seconds = now() - start;

    if (round == N_ROUNDS - 1)
        printf("%s %" PRId64 " %.3f\n", name, n, seconds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char *path, folder[] = "/tmp/log-files-bench-XXXXXX", file[128];

    if (argc != 3 || mkdtemp(folder) == NULL)
        return 2;
    hd_op_init(&op);
    must(hd_table_snapshot_load(&op, argv[1], &table));
    must(hd_scan_plan_new(&op, NULL, &table, NULL, &plan));
    if (plan->n_splits != 1 || plan->splits[0].n_logs != 1)
        return 2;
    must(hd_path_join(&op, table.path, plan->splits[0].log_paths[0], &path));
    for (int round = 0; round < N_ROUNDS; round++) {
        double start = now();
        report(round, "decode", decode(path), start);
        start = now();
        report(round, "write", write_log(folder), start);
        snprintf(file, sizeof file, "%s/.bench-0_20240101000000000.log.1_0-0-0", folder);
        unlink(file);
        start = now();
        report(round, "scan", scan(UINT64_C(4) << 30), start);
        start = now();
        report(round, "scan-spilling", scan(strtoull(argv[2], NULL, 10)), start);
    }
    rmdir(folder);
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(&op, &table);
    hd_free(&op, path);
    hd_op_clear(&op);
    return 0;
}
