/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "store/base_file.h"

struct hudi_file_list {
    const hudi_table *table;
    struct hd_file_system_view view;
    struct hd_arena arena;
    const struct hd_file_slice **slices;
    size_t n_slices;
};

hudi_status hudi_table_files(const hudi_table *table, const char *as_of, hudi_file_list **out,
                             hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_file_list *list = NULL;
    const struct hd_table_snapshot *snapshot = &table->snapshot;
    char time[HD_INSTANT_TIME_BYTES];

    *out = NULL;
    hd_call_begin(&op, table->context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *list, &list));
    list->table = table;
    if (as_of != NULL)
        HD_TRY_OUT(hd_instant_time_parse(&op, as_of, snapshot->config.timeline_utc, time));
    HD_TRY_OUT(hd_timeline_check_writes(&op, &snapshot->timeline));
    HD_TRY_OUT(hd_file_system_view_load(&op, table->context->pool, snapshot->fs, snapshot->path,
                                        &snapshot->config, &snapshot->timeline, NULL, 0,
                                        &list->view));
    HD_TRY_OUT(hd_file_system_view_slices(&op, &list->view, as_of == NULL ? NULL : time,
                                          &list->arena, &list->slices, &list->n_slices));
    *out = list;
    list = NULL;
out:
    hudi_file_list_free(list);
    return hd_call_end(&op, status, err);
}

size_t hudi_file_list_length(const hudi_file_list *list)
{
    return list->n_slices;
}

const char *hudi_file_list_partition(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->partition_path;
}

const char *hudi_file_list_file_id(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->file_id;
}

const char *hudi_file_list_instant(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->base_instant;
}

const char *hudi_file_list_base_file(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->base == NULL ? NULL : list->slices[i]->base->name;
}

uint64_t hudi_file_list_base_bytes(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->base == NULL ? 0 : list->slices[i]->base->size_bytes;
}

size_t hudi_file_list_n_logs(const hudi_file_list *list, size_t i)
{
    return list->slices[i]->n_logs;
}

uint64_t hudi_file_list_log_bytes(const hudi_file_list *list, size_t i)
{
    uint64_t n_bytes = 0;

    for (size_t l = 0; l < list->slices[i]->n_logs; l++)
        n_bytes += list->slices[i]->logs[l].size_bytes;
    return n_bytes;
}

static hudi_status count_rows(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_data_file *base, int64_t *n_rows)
{
    hudi_status status = HUDI_OK;
    char *path = NULL;
    hd_input_file *file = NULL;
    hd_base_reader *reader = NULL;

    HD_TRY_OUT(hd_path_join(op, table->path, base->path, &path));
    HD_TRY_OUT(hd_fs_open_input(op, table->fs, path, &file));
    HD_TRY_OUT(hd_base_reader_open(op, file, table->config.base_file_format, &reader));
    *n_rows = hd_base_reader_n_rows(reader);
out:
    hd_free(op, path);
    hd_base_reader_close(reader);
    return hd_fail_path(op, status, base->path);
}

hudi_status hudi_file_list_rows(hudi_file_list *list, size_t i, int64_t *n_rows, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(list), HD_OUT(n_rows)));
    struct hd_op op;
    const struct hd_data_file *base = list->slices[i]->base;

    *n_rows = -1;
    if (base == NULL)
        return HUDI_OK;
    hd_call_begin(&op, list->table->context, NULL);
    return hd_call_end(&op, count_rows(&op, &list->table->snapshot, base, n_rows), err);
}

void hudi_file_list_free(hudi_file_list *list)
{
    if (list == NULL)
        return;
    hd_file_system_view_clear(&list->view);
    hd_arena_clear(&list->arena);
    hd_free(NULL, list);
}
