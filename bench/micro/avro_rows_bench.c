/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Avro records of 12 columns to Arrow batches and back, rows per second of CPU time on one core.
 * The baselines of the same run are hd_avro_skip() over the same records, which is what reading
 * their bytes costs at least, and memcpy() of them.
 *
 *     gcc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Iinclude bench/micro/avro_rows_bench.c src/arrow/[*].c
 * \
 *         src/codec/[*].c src/base/[*].c -lm -lpthread -ljansson -lz -ldeflate -lzstd -llz4 \
 *         -lsnappy -o avro_rows_bench && ./avro_rows_bench     ([*]: a plain star)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arrow/array.h"
#include "arrow/avro_decoder.h"
#include "arrow/avro_encoder.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "codec/avro.h"

#define N_ROWS 100000
#define BATCH_ROWS 10000
#define SECONDS 1.0

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":[\"null\"," type "]}"
#define LOGICAL(type, logical) "{\"type\":\"" type "\",\"logicalType\":\"" logical "\"}"
#define TEXT "\"string\""

static const char SCHEMA[] =
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" FIELD("_hoodie_commit_time", TEXT) "," FIELD("_hoodie_record_key", TEXT) "," FIELD("id", "\"long\"") "," FIELD(
        "at",
        LOGICAL(
            "long",
            "timestamp-micros")) "," FIELD("name",
                                           TEXT) "," FIELD("city",
                                                           TEXT) "," FIELD("qty",
                                                                           "\"int\"") "," FIELD("pr"
                                                                                                "ic"
                                                                                                "e",
                                                                                                "\""
                                                                                                "do"
                                                                                                "ub"
                                                                                                "le"
                                                                                                "\"") "," FIELD("ok",
                                                                                                                "\"boolean\"") "," FIELD("day",
                                                                                                                                         LOGICAL(
                                                                                                                                             "int",
                                                                                                                                             "date")) "," FIELD("amount",
                                                                                                                                                                "{\"type\":\"fixed\",\"name\":\"f\",\"size\":5,\"logicalType\":\"decimal\",\"precision\":10,"
                                                                                                                                                                "\"scale\":2}") "," FIELD("note",
                                                                                                                                                                                          TEXT) "]}";

static struct hd_op op;

/* CPU time: other load counts for neither. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(hudi_status status)
{
    if (status == HUDI_OK)
        return;
    fprintf(stderr, "%s\n", op.error == NULL ? "failed" : hudi_error_message(op.error));
    exit(1);
}

static void put_text(struct hd_str *out, const char *text)
{
    must(hd_avro_write_long(&op, out, 1));
    must(hd_avro_write_bytes(&op, out, hd_slice_text(text)));
}

static void put_long(struct hd_str *out, int64_t value)
{
    must(hd_avro_write_long(&op, out, 1));
    must(hd_avro_write_long(&op, out, value));
}

/* One record behind its length, as in a log block. */
static void put_record(struct hd_str *out, int64_t i)
{
    static const char *const CITIES[] = {"Berlin", "Lima", "Nairobi", "Ulaanbaatar", "Quito"};
    const size_t start = out->size;
    char text[64];

    must(hd_str_append(&op, out, "\0\0\0\0", 4));
    put_text(out, "20261130201014609");
    snprintf(text, sizeof text, "key-%09d", (int)(i * 7919 % 1000000007));
    put_text(out, text);
    put_long(out, i * 31337);
    put_long(out, 1709168523456789 + i * 1000003);
    snprintf(text, sizeof text, "name %d", (int)(i % 5000));
    put_text(out, text);
    put_text(out, CITIES[i % 5]);
    put_long(out, i % 1000 - 500);
    must(hd_avro_write_long(&op, out, 1));
    must(hd_avro_write_double(&op, out, (double)i / 7));
    must(hd_avro_write_long(&op, out, 1));
    must(hd_avro_write_boolean(&op, out, i % 2 == 0));
    put_long(out, 19000 + i % 700);
    must(hd_avro_write_long(&op, out, 1));
    const uint32_t amount = (uint32_t)i * 12345;
    const uint8_t fixed[5] = {0, (uint8_t)(amount >> 24), (uint8_t)(amount >> 16),
                              (uint8_t)(amount >> 8), (uint8_t)amount};
    must(hd_str_append(&op, out, fixed, sizeof fixed));
    if (i % 4 == 0)
        must(hd_avro_write_long(&op, out, 0));
    else
        put_text(out, "a note of somewhat more than thirty bytes");
    const size_t size = out->size - start - 4;
    for (unsigned b = 0; b < 4; b++)
        out->data[start + b] = (char)(size >> (24 - 8 * b));
}

static struct hd_slice record_at(struct hd_cursor *in)
{
    struct hd_slice record;
    uint32_t size;

    must(hd_cursor_u32be(&op, in, &size));
    must(hd_cursor_take(&op, in, size, &record));
    return record;
}

static struct hd_cursor over(const struct hd_str *records)
{
    return hd_cursor_over(records->data, records->size, 0);
}

static void skip_all(const struct hd_str *records, const struct hd_avro_schema *schema)
{
    struct hd_cursor in = over(records);

    while (hd_cursor_left(&in) > 0) {
        const struct hd_slice record = record_at(&in);
        struct hd_cursor one = hd_cursor_over(record.data, record.size, 0);
        must(hd_avro_skip(&op, schema, &one));
    }
}

static void decode_all(const struct hd_str *records, hd_avro_decoder *decoder)
{
    struct hd_cursor in = over(records);
    struct ArrowArray batch;

    while (hd_cursor_left(&in) > 0) {
        must(hd_avro_decoder_add(&op, decoder, record_at(&in)));
        if (hd_avro_decoder_n_rows(decoder) == BATCH_ROWS) {
            must(hd_avro_decoder_finish(&op, decoder, &batch));
            hd_array_clear(&batch);
        }
    }
}

static void report(const char *what, double rows, double bytes, double spent)
{
    printf("%-28s %8.2f million rows/s %8.0f MB/s\n", what, rows / spent * 1e-6,
           bytes / spent * 1e-6);
}

#define MEASURE(what, statement)                                                                   \
    do {                                                                                           \
        double n_rows_ = 0, start_ = seconds();                                                    \
        while (seconds() - start_ < SECONDS) {                                                     \
            statement;                                                                             \
            n_rows_ += N_ROWS;                                                                     \
        }                                                                                          \
        report(what, n_rows_, n_rows_ / N_ROWS * (double)records.size, seconds() - start_);        \
    } while (0)

int main(void)
{
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema;
    struct ArrowSchema rows, few;
    struct ArrowArray batch;
    struct hd_str records = {0}, copy = {0};
    hd_avro_decoder *decoder, *narrow;
    hd_avro_encoder *encoder;

    hd_op_init(&op);
    must(hd_avro_schema_parse(&op, &arena, hd_slice_text(SCHEMA), &schema));
    must(hd_avro_to_arrow(&op, schema, &rows));
    for (int64_t i = 0; i < N_ROWS; i++)
        put_record(&records, i);
    must(hd_avro_decoder_new(&op, schema, &rows, &decoder));
    must(hd_schema_select(&op, &rows, (const int32_t[]){1, 3}, 2, &few));
    must(hd_avro_decoder_new(&op, schema, &few, &narrow));
    must(hd_avro_encoder_new(&op, &rows, schema, &encoder));
    printf("%d records of 12 columns, %.1f MB\n", N_ROWS, (double)records.size * 1e-6);

    MEASURE("decode", decode_all(&records, decoder));
    MEASURE("decode 2 of 12 columns", decode_all(&records, narrow));
    MEASURE("hd_avro_skip()", skip_all(&records, schema));
    struct hd_cursor in = over(&records);
    while (hd_cursor_left(&in) > 0)
        must(hd_avro_decoder_add(&op, decoder, record_at(&in)));
    must(hd_avro_decoder_finish(&op, decoder, &batch));
    MEASURE("encode", (copy.size = 0,
                       must(hd_avro_encoder_add(&op, encoder, &batch, NULL, N_ROWS, true, &copy))));
    if (copy.size != records.size || memcmp(copy.data, records.data, copy.size) != 0) {
        fprintf(stderr, "encoded records differ\n");
        return 1;
    }
    MEASURE("memcpy()", memcpy(copy.data, records.data, copy.size));
    return 0;
}
