/* SPDX-License-Identifier: Apache-2.0 */
/* A container file: header, schema, every record skipped and read. */
#include <stdlib.h>

#include "codec/avro.h"
#include "codec/avro_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_block(struct hd_op *op, const struct hd_avro_schema *schema,
                       struct hd_cursor records, uint64_t n_records)
{
    struct hd_cursor skipped = records;

    for (uint64_t i = 0; i < n_records; i++) {
        struct hd_arena arena = {0};
        struct hd_str out = {0};
        struct hd_avro_value value;

        hudi_status read = hd_avro_read_value(op, &arena, schema, &records, &value);
        hd_op_clear_error(op);
        hudi_status skip = hd_avro_skip(op, schema, &skipped);
        hd_op_clear_error(op);
        if (read == HUDI_OK && (skip != HUDI_OK || skipped.at != records.at))
            abort(); /* what reads can be skipped, and ends in the same place */
        if (read == HUDI_OK) {
            hudi_status written = hd_avro_write_value(op, schema, &value, &out);
            if (written != HUDI_OK && written != HUDI_SCHEMA)
                abort();
        }
        hd_op_clear_error(op);
        hd_str_clear(&out);
        hd_arena_clear(&arena);
        if (read != HUDI_OK)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_arena arena = {0};
    struct hd_avro_container container;
    struct hd_avro_schema *schema;
    struct hd_cursor records;
    uint64_t n_records;

    hd_op_init(&op);
    if (hd_avro_container_open(&op, hd_slice_of(data, size), &container) == HUDI_OK) {
        if (hd_avro_schema_parse(&op, &arena, container.schema_json, &schema) == HUDI_OK)
            while (hd_avro_container_next(&op, &container, &records, &n_records) == HUDI_OK)
                read_block(&op, schema, records, n_records);
        hd_avro_container_clear(&container);
    }
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
