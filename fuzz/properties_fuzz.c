/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "format/table/table_config.h"

/* Any bytes as hoodie.properties: parsed, understood, written and read again, with nothing lost. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_properties properties, again;
    struct hd_table_config config;
    struct hd_str text = {0};

    hd_op_init(&op);
    if (hd_properties_parse(&op, hd_slice_of(data, size), &properties) == HUDI_OK) {
        if (hd_properties_format(&op, &properties, "fuzz", 0, &text) != HUDI_OK ||
            hd_properties_parse(&op, hd_str_slice(&text), &again) != HUDI_OK ||
            again.n_entries != properties.n_entries)
            abort();
        for (size_t i = 0; i < again.n_entries; i++)
            if (strcmp(again.entries[i].key, properties.entries[i].key) != 0 ||
                strcmp(again.entries[i].value, properties.entries[i].value) != 0)
                abort();
        hd_properties_clear(&again);
        if (hd_table_config_of(&op, &properties, &config) == HUDI_OK)
            hd_table_config_clear(&config);
    }
    hd_str_clear(&text);
    hd_op_clear(&op);
    return 0;
}
