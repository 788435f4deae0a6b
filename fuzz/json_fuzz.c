/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON text; one that parses can be written in both styles, and what is written parses again. */
#include <stdlib.h>

#include "codec/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_json *json, *again;

    hd_op_init(&op);
    if (hd_json_parse(&op, hd_slice_of(data, size), &json) == HUDI_OK) {
        for (enum hd_json_style style = HD_JSON_COMPACT; style <= HD_JSON_PRETTY; style++) {
            struct hd_json_writer writer;
            struct hd_str text = {0};

            hd_json_writer_init(&writer, &text, style);
            if (hd_json_value(&op, &writer, json) != HUDI_OK ||
                hd_json_parse(&op, hd_str_slice(&text), &again) != HUDI_OK)
                abort();
            hd_json_free(again);
            hd_str_clear(&text);
        }
        hd_json_free(json);
    }
    hd_op_clear(&op);
    return 0;
}
