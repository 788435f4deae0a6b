/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/tagger.h"

#include "arrow/cast.h"
#include "arrow/schema.h"
#include "engine/index/index.h"
#include "engine/write/assign.h"
#include "engine/write/input.h"
#include "format/layout/file_system_view.h"

#define NO_TASK UINT32_MAX

struct hd_tagger {
    const struct hd_write_config *config;
    enum hd_index_type index_type;
};

/* One batch on its way. */
struct tagging {
    struct hd_write_schema schema;
    struct hd_partition_set partitions;
    struct hd_write_status failures; /* told again by the task that gets the rows */
    struct hd_input input;
    struct hd_input_batch batch;
    hd_spillable_map *map;
    int64_t *entries; /* of each good row */
    struct hd_file_system_view view;
    struct hd_arena arena;
    struct hd_index_result found;
};

hudi_status hd_tagger_new(struct hd_op *op, const struct hd_write_config *config, hd_tagger **out)
{
    hudi_status status = HUDI_OK;
    hd_tagger *tagger;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *tagger, &tagger));
    tagger->config = config;
    HD_TRY_OUT(hd_write_index_type(op, config, &tagger->index_type));
    *out = tagger;
    return HUDI_OK;
out:
    hd_free(op, tagger);
    return status;
}

void hd_tagger_free(struct hd_op *op, hd_tagger *tagger)
{
    hd_free(op, tagger);
}

static void clear(struct hd_op *op, struct tagging *t)
{
    hd_index_result_clear(op, &t->found);
    hd_file_system_view_clear(&t->view);
    hd_arena_clear(&t->arena);
    hd_spillable_map_free(op, t->map);
    hd_free(op, t->entries);
    hd_input_batch_clear(op, &t->batch);
    hd_input_close(op, &t->input);
    hd_write_status_clear(op, &t->failures);
    hd_map_clear(&t->partitions.paths);
    hd_write_schema_clear(op, &t->schema);
}

static hudi_status take_batch(struct hd_op *op, const hd_tagger *tagger, struct tagging *t,
                              const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema canonical = {0};
    struct ArrowArray copy = {0};

    HD_TRY_OUT(hd_canonical_schema(op, schema, &canonical));
    HD_TRY_OUT(hd_write_schema_new(op, tagger->config, &canonical, &t->schema));
    HD_TRY_OUT(hd_input_open(op, tagger->config, &t->schema, schema, NULL, &t->partitions,
                             &t->failures, &t->input));
    HD_TRY_OUT(hd_array_borrow(op, batch, &copy));
    HD_TRY_OUT(hd_input_convert(op, &t->input, &copy, &t->batch));
out:
    hd_array_clear(&copy);
    hd_schema_clear(&canonical);
    return status;
}

/* Inserts, as long as nothing else is known: by partition and key. */
static hudi_status by_key(struct hd_op *op, const hd_tagger *tagger, struct tagging *t,
                          uint32_t *tasks)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field = {0};
    struct hd_view keys;
    const bool global = hd_index_is_global(tagger->index_type);

    HD_TRY(hd_schema_init_field(op, &field, "key", &text, false));
    const hudi_status status =
        hd_view_open(op, &t->arena, &field, &t->batch.keys.record_keys, &keys);
    hd_schema_clear(&field);
    HD_TRY(status);
    for (int64_t i = 0; i < t->batch.n_rows; i++) {
        const int64_t row = t->batch.rows != NULL ? t->batch.rows[i] : i;
        const struct hd_slice partition =
            global ? hd_slice_text("")
                   : hd_partition_set_path(&t->partitions, t->batch.keys.partitions[row]);
        tasks[row] = hd_insert_owner(partition, hd_view_bytes(&keys, row), tagger->config->n_tasks);
    }
    return HUDI_OK;
}

static hudi_status look_up(struct hd_op *op, const hd_tagger *tagger, struct tagging *t)
{
    const struct hd_write_config *config = tagger->config;
    const bool global = hd_index_is_global(tagger->index_type);
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const struct hd_spillable_map_options options = {.schema = &t->schema.record,
                                                     .memory_bytes = UINT64_MAX};
    const size_t n = t->partitions.paths.n_entries;
    struct ArrowSchema field = {0};
    struct hd_view keys;
    const char **paths;
    const struct hd_file_slice **slices;
    size_t n_slices;

    HD_TRY(hd_spillable_map_new(op, &options, &t->map));
    HD_TRY(hd_alloc_array(op, (size_t)t->batch.n_rows, sizeof *t->entries, &t->entries));
    HD_TRY(hd_schema_init_field(op, &field, "key", &text, false));
    const hudi_status status =
        hd_view_open(op, &t->arena, &field, &t->batch.keys.record_keys, &keys);
    hd_schema_clear(&field);
    HD_TRY(status);
    HD_TRY(hd_spillable_map_put(op, t->map, &keys, global ? NULL : t->batch.keys.partitions,
                                t->batch.records, t->batch.rows, t->batch.n_rows, NULL,
                                t->entries));
    HD_TRY(hd_arena_array(op, &t->arena, n, sizeof *paths, &paths));
    for (size_t i = 0; i < n; i++)
        paths[i] = (const char *)hd_partition_set_path(&t->partitions, (uint32_t)i).data;
    HD_TRY(hd_file_system_view_load(op, config->pool, config->table->fs, config->table->path,
                                    &config->table->config, &config->table->timeline,
                                    global ? NULL : paths, global ? 0 : n, &t->view));
    HD_TRY(hd_file_system_view_slices(op, &t->view, NULL, &t->arena, &slices, &n_slices));
    const struct hd_index_request request = {.table = config->table,
                                             .options = &config->options,
                                             .pool = config->pool,
                                             .type = tagger->index_type,
                                             .encoding = config->encoding,
                                             .map = t->map,
                                             .partitions = &t->partitions,
                                             .slices = slices,
                                             .n_slices = n_slices};
    return hd_index_tag(op, &request, &t->found);
}

/* Rows whose key is stored go to the owner of its file group. */
static hudi_status by_file_group(struct hd_op *op, const hd_tagger *tagger, struct tagging *t,
                                 uint32_t *tasks)
{
    const int64_t n_entries = hd_spillable_map_length(t->map);
    uint32_t *owners;

    HD_TRY(hd_arena_array(op, &t->arena, (size_t)n_entries, sizeof *owners, &owners));
    for (int64_t i = 0; i < n_entries; i++)
        owners[i] = NO_TASK;
    for (size_t f = 0; f < t->found.n_files; f++) {
        const struct hd_file_hits *file = &t->found.files[f];
        const uint32_t owner = hd_file_owner(file->slice->partition_path, file->slice->file_id,
                                             tagger->config->n_tasks);
        for (size_t i = 0; i < file->n_hits; i++) {
            const int64_t entry = file->hits[i].entry;
            if (owners[entry] != NO_TASK && owners[entry] != owner) {
                const struct hd_slice key = hd_spillable_map_key(t->map, entry);
                return hd_fail(op, HUDI_CONFLICT,
                               "record key \"%.*s\" is stored in file groups of two owners; this "
                               "table must be written by one task",
                               (int)key.size, (const char *)key.data);
            }
            owners[entry] = owner;
        }
    }
    for (int64_t i = 0; i < t->batch.n_rows; i++) {
        const int64_t row = t->batch.rows != NULL ? t->batch.rows[i] : i;
        if (owners[t->entries[i]] != NO_TASK)
            tasks[row] = owners[t->entries[i]];
    }
    return HUDI_OK;
}

hudi_status hd_tagger_tag(struct hd_op *op, hd_tagger *tagger, const struct ArrowSchema *schema,
                          const struct ArrowArray *batch, uint32_t *tasks)
{
    hudi_status status = HUDI_OK;
    struct tagging t = {0};

    for (int64_t i = 0; i < batch->length; i++)
        tasks[i] = 0;
    HD_TRY_OUT(take_batch(op, tagger, &t, schema, batch));
    HD_TRY_OUT(by_key(op, tagger, &t, tasks));
    if (tagger->config->operation == HD_OPERATION_UPSERT ||
        tagger->config->operation == HD_OPERATION_DELETE) {
        HD_TRY_OUT(look_up(op, tagger, &t));
        HD_TRY_OUT(by_file_group(op, tagger, &t, tasks));
    }
out:
    clear(op, &t);
    return status;
}
