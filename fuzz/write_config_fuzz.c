/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of writer tasks, without the table they name: what is parsed is encoded to what
 * parses as the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/write/write_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static void check_again(struct hd_op *op, struct hd_write_config *config, const char *uri)
{
    struct hd_table_snapshot table = {.uri = (char *)uri};
    struct hd_write_config again;
    struct hd_str text = {0}, text_again = {0};
    const char *uri_again;

    config->table = &table;
    must(hd_write_config_encode(op, config, &text) == HUDI_OK);
    must(hd_write_config_parse(op, hd_str_slice(&text), &uri_again, &again) == HUDI_OK);
    again.table = &table;
    must(strcmp(uri, uri_again) == 0);
    must(hd_write_config_encode(op, &again, &text_again) == HUDI_OK);
    must(hd_slice_equal(hd_str_slice(&text), hd_str_slice(&text_again)));
    hd_write_config_clear(&again);
    hd_str_clear(&text);
    hd_str_clear(&text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_write_config config;
    const char *uri;
    struct hd_op op;

    hd_op_init(&op);
    if (hd_write_config_parse(&op, hd_slice_of(data, size), &uri, &config) == HUDI_OK)
        check_again(&op, &config, uri);
    hd_write_config_clear(&config);
    hd_op_clear(&op);
    return 0;
}
