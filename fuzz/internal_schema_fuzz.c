/* SPDX-License-Identifier: Apache-2.0 */
/* An internal schema, or a history of them; one that parses becomes columns that can be joined with
 * those of its own conversion. */
#include <stdlib.h>

#include "arrow/schema.h"
#include "engine/record/projection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct hd_op *op, hd_internal_schema *schema)
{
    struct ArrowSchema arrow = {0}, renamed = {0};
    hd_internal_schema *made = NULL;
    const char **names = NULL;

    if (hd_internal_schema_to_arrow(op, schema, &arrow) == HUDI_OK &&
        hd_internal_schema_of_arrow(op, &arrow, &made) == HUDI_OK &&
        hd_internal_schema_rename(op, schema, made, &arrow, &renamed) == HUDI_OK &&
        renamed.n_children != arrow.n_children)
        abort(); /* positions stay */
    if (made != NULL)
        (void)hd_internal_schema_file_names(op, schema, made, &arrow, &names);
    hd_free(op, names);
    hd_schema_clear(&arrow);
    hd_schema_clear(&renamed);
    hd_internal_schema_free(made);
    hd_internal_schema_free(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_internal_schema *schema;

    hd_op_init(&op);
    if (hd_internal_schema_parse(&op, hd_slice_of(data, size), &schema) == HUDI_OK)
        use(&op, schema);
    hd_op_clear_error(&op);
    if (hd_internal_schema_of_history(&op, hd_slice_of(data, size), 5, &schema) == HUDI_OK)
        use(&op, schema);
    hd_op_clear(&op);
    return 0;
}
