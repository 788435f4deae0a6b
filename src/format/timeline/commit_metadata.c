/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/commit_metadata.h"

#include <string.h>

/* Room for one more element of `*(T **)pointer` in the arena, doubling; what was there is copied.
 */
static hudi_status grow_by_one(struct hd_op *op, struct hd_arena *arena, void *pointer, size_t n,
                               size_t *capacity, size_t element_bytes)
{
    void *grown, *old;
    const size_t wanted = *capacity == 0 ? 4 : *capacity * 2;

    if (n < *capacity)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, arena, wanted, element_bytes, &grown));
    memcpy(&old, pointer, sizeof old);
    if (n > 0)
        memcpy(grown, old, n * element_bytes);
    memcpy(pointer, &grown, sizeof grown);
    *capacity = wanted;
    return HUDI_OK;
}

static hudi_status copy_text(struct hd_op *op, struct hd_arena *arena, const char *text,
                             const char **out)
{
    char *copy = NULL;

    if (text != NULL)
        HD_TRY(hd_arena_strdup(op, arena, text, &copy));
    *out = copy;
    return HUDI_OK;
}

static hudi_status copy_texts(struct hd_op *op, struct hd_arena *arena, const char *const *texts,
                              size_t n, const char ***out)
{
    HD_TRY(hd_arena_array(op, arena, n, sizeof **out, out));
    for (size_t i = 0; i < n; i++)
        HD_TRY(copy_text(op, arena, texts[i], &(*out)[i]));
    return HUDI_OK;
}

hudi_status hd_write_stat_copy(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_write_stat *stat, struct hd_write_stat *out)
{
    *out = *stat;
    HD_TRY(copy_text(op, arena, stat->file_id, &out->file_id));
    HD_TRY(copy_text(op, arena, stat->path, &out->path));
    HD_TRY(copy_text(op, arena, stat->partition_path, &out->partition_path));
    HD_TRY(copy_text(op, arena, stat->prev_commit, &out->prev_commit));
    HD_TRY(copy_text(op, arena, stat->prev_base_file, &out->prev_base_file));
    HD_TRY(copy_text(op, arena, stat->temp_path, &out->temp_path));
    HD_TRY(copy_text(op, arena, stat->base_file, &out->base_file));
    HD_TRY(copy_texts(op, arena, stat->log_files, stat->n_log_files, &out->log_files));
    HD_TRY(copy_texts(op, arena, stat->cdc_paths, stat->n_cdc, &out->cdc_paths));
    HD_TRY(hd_arena_array(op, arena, stat->n_cdc, sizeof *out->cdc_sizes, &out->cdc_sizes));
    if (stat->n_cdc > 0)
        memcpy(out->cdc_sizes, stat->cdc_sizes, stat->n_cdc * sizeof *out->cdc_sizes);
    return HUDI_OK;
}

hudi_status hd_commit_metadata_new_stat(struct hd_op *op, struct hd_commit_metadata *metadata,
                                        struct hd_write_stat **out)
{
    HD_TRY(grow_by_one(op, &metadata->arena, &metadata->stats, metadata->n_stats,
                       &metadata->stat_capacity, sizeof *metadata->stats));
    *out = &metadata->stats[metadata->n_stats++];
    **out = (struct hd_write_stat){0};
    return HUDI_OK;
}

hudi_status hd_commit_metadata_add_stat(struct hd_op *op, struct hd_commit_metadata *metadata,
                                        const struct hd_write_stat *stat)
{
    struct hd_write_stat copy, *added;

    HD_TRY(hd_write_stat_copy(op, &metadata->arena, stat, &copy));
    HD_TRY(hd_commit_metadata_new_stat(op, metadata, &added));
    *added = copy;
    return HUDI_OK;
}

hudi_status hd_commit_metadata_set_extra(struct hd_op *op, struct hd_commit_metadata *metadata,
                                         const char *key, const char *value)
{
    const char *key_copy, *value_copy;
    size_t value_capacity = metadata->extra_capacity;

    HD_TRY(copy_text(op, &metadata->arena, value, &value_copy));
    for (size_t i = 0; i < metadata->n_extra; i++) {
        if (strcmp(metadata->extra_keys[i], key) == 0) {
            metadata->extra_values[i] = value_copy;
            return HUDI_OK;
        }
    }
    HD_TRY(copy_text(op, &metadata->arena, key, &key_copy));
    HD_TRY(grow_by_one(op, &metadata->arena, &metadata->extra_values, metadata->n_extra,
                       &value_capacity, sizeof *metadata->extra_values));
    HD_TRY(grow_by_one(op, &metadata->arena, &metadata->extra_keys, metadata->n_extra,
                       &metadata->extra_capacity, sizeof *metadata->extra_keys));
    metadata->extra_keys[metadata->n_extra] = key_copy;
    metadata->extra_values[metadata->n_extra++] = value_copy;
    return HUDI_OK;
}

const char *hd_commit_metadata_extra(const struct hd_commit_metadata *metadata, const char *key)
{
    for (size_t i = 0; i < metadata->n_extra; i++) {
        if (strcmp(metadata->extra_keys[i], key) == 0)
            return metadata->extra_values[i];
    }
    return NULL;
}

/* The entry of a partition, made when there is none. */
static hudi_status find_replaced(struct hd_op *op, struct hd_commit_metadata *metadata,
                                 const char *partition_path, struct hd_replaced **out)
{
    struct hd_map *const index = &metadata->replaced_index;
    struct hd_map_entry *entry;
    const char *copy;

    for (size_t i = index->n_entries; i < metadata->n_replaced; i++) /* those that were parsed */
        HD_TRY(hd_map_put(op, index, hd_slice_text(metadata->replaced[i].partition_path), i, &entry,
                          NULL));
    entry = hd_map_find(index, hd_slice_text(partition_path));
    if (entry == NULL) {
        HD_TRY(copy_text(op, &metadata->arena, partition_path, &copy));
        HD_TRY(grow_by_one(op, &metadata->arena, &metadata->replaced, metadata->n_replaced,
                           &metadata->replaced_capacity, sizeof *metadata->replaced));
        HD_TRY(hd_map_put(op, index, hd_slice_text(copy), metadata->n_replaced, &entry, NULL));
        metadata->replaced[metadata->n_replaced++] = (struct hd_replaced){.partition_path = copy};
    }
    *out = &metadata->replaced[entry->value];
    return HUDI_OK;
}

hudi_status hd_commit_metadata_add_replaced(struct hd_op *op, struct hd_commit_metadata *metadata,
                                            const char *partition_path, const char *file_id)
{
    struct hd_replaced *replaced;
    const char *copy;

    HD_TRY(find_replaced(op, metadata, partition_path, &replaced));
    HD_TRY(copy_text(op, &metadata->arena, file_id, &copy));
    HD_TRY(grow_by_one(op, &metadata->arena, &replaced->file_ids, replaced->n_file_ids,
                       &replaced->file_id_capacity, sizeof *replaced->file_ids));
    replaced->file_ids[replaced->n_file_ids++] = copy;
    metadata->is_replace = true;
    return HUDI_OK;
}

void hd_commit_metadata_clear(struct hd_commit_metadata *metadata)
{
    hd_map_clear(&metadata->replaced_index);
    hd_arena_clear(&metadata->arena);
    *metadata = (struct hd_commit_metadata){0};
}
