/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "arrow/schema.h"
#include "format/table/table_schema.h"

/* Avro text is hostile in commits: add meta columns, take them off, evolve it with itself. */
static void use_avro(struct hd_op *op, const char *json)
{
    struct hd_str with_meta = {0}, without = {0};
    char *evolved = NULL;

    if (hd_table_schema_add_meta(op, json, true, &with_meta) == HUDI_OK &&
        hd_table_schema_strip_meta(op, hd_str_text(&with_meta), &without) == HUDI_OK &&
        hd_table_schema_evolve(op, hd_str_text(&without), hd_str_text(&without), &evolved) ==
            HUDI_OK &&
        evolved != NULL)
        abort(); /* a schema and itself differ */
    hd_op_clear_error(op);
    hd_str_clear(&with_meta);
    hd_str_clear(&without);
}

/* The text as lines or as Avro; what can be read can be written and is the same when read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct ArrowSchema schema, again;
    struct hd_str json = {0};
    char *text;

    hd_op_init(&op);
    if (hd_strndup(&op, data, size, &text) != HUDI_OK)
        return 0;
    if (size > 0 && data[0] == '{')
        use_avro(&op, text);
    if (hd_table_schema_parse(&op, hd_slice_of(data, size), &schema) == HUDI_OK) {
        (void)hd_table_schema_check_names(&op, &schema);
        hd_op_clear_error(&op);
        if (hd_table_schema_to_avro(&op, &schema, "t", &json) == HUDI_OK) {
            if (hd_table_schema_from_avro(&op, hd_str_text(&json), &again) != HUDI_OK ||
                !hd_type_equal(&schema, &again))
                abort();
            hd_schema_clear(&again);
        }
        hd_schema_clear(&schema);
    }
    hd_str_clear(&json);
    hd_free(&op, text);
    hd_op_clear(&op);
    return 0;
}
