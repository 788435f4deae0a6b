/* SPDX-License-Identifier: Apache-2.0 */
/* Names: of the timeline's files, of data files, of partitions, and times as users type them. */
#include <stdlib.h>
#include <string.h>

#include "format/layout/file_name.h"
#include "format/layout/partition.h"
#include "format/timeline/instant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An instant's name is made again from its parts. */
static void check_instant(struct hd_op *op, int number, const char *name)
{
    const struct hd_table_version *version;
    struct hd_instant_name parsed;
    char time[HD_INSTANT_TIME_BYTES] = "", completion[HD_INSTANT_TIME_BYTES] = "";
    char *again;

    if (hd_table_version_of(op, number, &version) != HUDI_OK)
        abort();
    if (!hd_instant_name_parse(version, name, &parsed))
        return;
    memcpy(time, parsed.time.data, parsed.time.size);
    if (parsed.completion_time.size > 0)
        memcpy(completion, parsed.completion_time.data, parsed.completion_time.size);
    if (hd_instant_name_format(op, version, time, parsed.action, parsed.state,
                               parsed.completion_time.size > 0 ? completion : NULL,
                               &again) != HUDI_OK ||
        strcmp(again, name) != 0)
        abort();
    hd_free(op, again);
}

static void check_partition_value(struct hd_op *op, struct hd_slice value)
{
    struct hd_str encoded = {0}, decoded = {0}, any = {0};

    if (hd_partition_value_encode(op, value, &encoded) != HUDI_OK ||
        hd_partition_value_decode(op, hd_str_slice(&encoded), &decoded) != HUDI_OK ||
        !hd_slice_equal(hd_str_slice(&decoded), value) ||
        hd_partition_value_decode(op, value, &any) != HUDI_OK)
        abort();
    hd_str_clear(&encoded);
    hd_str_clear(&decoded);
    hd_str_clear(&any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_file_name file;
    char time[HD_INSTANT_TIME_BYTES];
    char *name;

    hd_op_init(&op);
    if (hd_strndup(&op, data, size, &name) != HUDI_OK)
        abort();
    check_instant(&op, 6, name);
    check_instant(&op, 8, name);
    if (hd_file_name_parse(name, &file) != (file.kind != HD_FILE_OTHER))
        abort();
    if (hd_instant_time_parse(&op, name, true, time) == HUDI_OK && strlen(time) >= sizeof time)
        abort();
    check_partition_value(&op, hd_slice_of(data, size));
    hd_free(&op, name);
    hd_op_clear(&op);
    return 0;
}
