/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/create_handle.h"

#include <stdio.h>
#include <string.h>

#include "engine/write/base_sink.h"

struct hd_create_handle {
    hd_base_sink *sink;
};

hudi_status hd_create_handle_open(struct hd_op *op, const struct hd_write_config *config,
                                  const struct hd_write_schema *schema, const char *partition_path,
                                  uint32_t ordinal, uint64_t first_seqno, hd_create_handle **out)
{
    hudi_status status = HUDI_OK;
    hd_create_handle *handle;
    char uuid[HD_UUID_BYTES], file_id[HD_UUID_BYTES + 2];

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *handle, &handle));
    do
        hd_random_uuid(op, uuid);
    while (strspn(uuid, "0123456789") >= 8); /* would look like a bucket index's file group */
    snprintf(file_id, sizeof file_id, "%s-0", uuid);
    const struct hd_base_sink_target target = {.partition_path = partition_path,
                                               .file_id = file_id,
                                               .ordinal = ordinal,
                                               .first_seqno = first_seqno,
                                               .io_type = HD_IO_CREATE};
    HD_TRY_OUT(hd_base_sink_open(op, config, schema, &target, &handle->sink));
    *out = handle;
    return HUDI_OK;
out:
    hd_create_handle_abort(op, handle);
    return status;
}

hudi_status hd_create_handle_append(struct hd_op *op, hd_create_handle *handle,
                                    struct hd_shared_array *records, struct ArrowArray *keys)
{
    return hd_base_sink_new_rows(op, handle->sink, records, keys);
}

uint64_t hd_create_handle_next_seqno(const hd_create_handle *handle)
{
    return hd_base_sink_next_seqno(handle->sink);
}

bool hd_create_handle_can_write(const hd_create_handle *handle)
{
    return hd_base_sink_can_write(handle->sink);
}

int64_t hd_create_handle_rows_to_look(const hd_create_handle *handle)
{
    return hd_base_sink_rows_to_look(handle->sink);
}

hudi_status hd_create_handle_close(struct hd_op *op, hd_create_handle *handle,
                                   struct hd_arena *arena, struct hd_write_stat *stat)
{
    *stat = (struct hd_write_stat){.prev_commit = "null"};
    hudi_status status = hd_base_sink_close(op, handle->sink, arena, stat);
    stat->num_inserts = stat->num_writes;
    handle->sink = NULL;
    hd_create_handle_abort(op, handle);
    return status;
}

void hd_create_handle_abort(struct hd_op *op, hd_create_handle *handle)
{
    if (handle == NULL)
        return;
    hd_base_sink_abort(op, handle->sink);
    hd_free(op, handle);
}
