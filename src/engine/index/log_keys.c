/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/log_keys.h"

#include "arrow/array.h"
#include "arrow/schema.h"
#include "format/table/table_schema.h"

/* The columns that the key fields are in: of a nested field "a.b" that is "a". */
static hudi_status open_key_fields(struct hd_op *op, const struct hd_index_request *request,
                                   struct hd_log_keys *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_config *config = &request->table->config;
    struct hd_arena arena = {0};
    const char **names;
    size_t n = 0;

    HD_TRY_OUT(hd_arena_array(op, &arena, config->n_record_key_fields, sizeof *names, &names));
    for (size_t i = 0; i < config->n_record_key_fields; i++) {
        const char *field = config->record_key_fields[i];
        char *name;
        bool known = false;

        HD_TRY_OUT(hd_arena_strndup(op, &arena, field, strcspn(field, "."), &name));
        for (size_t k = 0; k < n; k++)
            known |= strcmp(names[k], name) == 0;
        if (!known)
            names[n++] = name;
    }
    status = hd_merged_rows_open(op, request->table, request->options, names, n,
                                 request->n_slices < 4 ? request->n_slices : 4, &out->rows);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail(op, HUDI_CORRUPT, "the table has no columns for its record key fields");
out:
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_log_keys_open(struct hd_op *op, const struct hd_index_request *request,
                             struct hd_log_keys *out)
{
    const char *name = HD_META_RECORD_KEY;

    out->rebuilt = !request->table->config.populate_meta_fields;
    if (out->rebuilt)
        return open_key_fields(op, request, out);
    return hd_merged_rows_open(op, request->table, request->options, &name, 1,
                               request->n_slices < 4 ? request->n_slices : 4, &out->rows);
}

void hd_log_keys_close(struct hd_op *op, struct hd_log_keys *keys)
{
    hd_merged_rows_close(op, &keys->rows);
}

/* One slice's look-up. */
struct lookup {
    const struct hd_index_request *request;
    const struct hd_log_keys *keys;
    const struct hd_key_group *group;
    const bool *found;
    struct hd_file_hits *hits;
    size_t hit_capacity;
    hd_key_generator *generator; /* where keys are rebuilt */
    int64_t *entries;
    size_t entry_capacity;
    struct hd_arena arena; /* one batch */
};

/* Keys of a batch; `made` holds them where they are rebuilt. */
static hudi_status keys_of(struct hd_op *op, struct lookup *lookup, const struct ArrowArray *batch,
                           struct ArrowArray *made, struct hd_view *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field;
    struct hd_view view;

    if (lookup->generator == NULL) {
        HD_TRY(hd_view_open(op, &lookup->arena, &lookup->keys->rows.rows, batch, &view));
        *out = view.children[0];
        return HUDI_OK;
    }
    HD_TRY(hd_key_generator_record_keys(op, lookup->generator, batch, made));
    HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
    const hudi_status status = hd_view_open(op, &lookup->arena, &field, made, out);
    hd_schema_clear(&field);
    return status;
}

static hudi_status look_up_batch(struct hd_op *op, struct lookup *lookup,
                                 const struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    struct hd_file_hits *hits = lookup->hits;
    struct ArrowArray made = {0};
    struct hd_view keys;

    hd_arena_reset(&lookup->arena);
    HD_TRY_OUT(keys_of(op, lookup, batch, &made, &keys));
    HD_TRY_OUT(hd_grow(op, &lookup->entries, &lookup->entry_capacity, (size_t)keys.length,
                       sizeof *lookup->entries));
    hd_spillable_map_find(lookup->request->map, lookup->group->space, &keys, 0, keys.length,
                          lookup->entries);
    for (int64_t i = 0; i < keys.length; i++) {
        const int64_t entry = lookup->entries[i];

        if (entry < 0 || lookup->found[entry])
            continue;
        HD_TRY_OUT(
            hd_grow(op, &hits->hits, &lookup->hit_capacity, hits->n_hits + 1, sizeof *hits->hits));
        hits->hits[hits->n_hits++] =
            (struct hd_index_hit){.row = HD_INDEX_ROW_IN_LOGS, .entry = entry};
    }
out:
    hd_array_clear(&made);
    return status;
}

hudi_status hd_log_key_lookup(struct hd_op *op, const struct hd_index_request *request,
                              const struct hd_log_keys *keys, const struct hd_key_group *group,
                              const struct hd_file_slice *slice, const bool *found,
                              struct hd_file_hits *hits)
{
    hudi_status status = HUDI_OK;
    struct hd_merged_slice merged = {0};
    struct lookup lookup = {.request = request,
                            .keys = keys,
                            .group = group,
                            .found = found,
                            .hits = hits,
                            .hit_capacity = hits->n_hits};

    if (keys->rebuilt)
        HD_TRY_OUT(hd_record_key_generator_new(op, &request->table->config, request->options,
                                               &keys->rows.rows, request->encoding,
                                               &lookup.generator));
    HD_TRY_OUT(hd_merged_slice_open(op, &keys->rows, slice, &merged));
    for (;;) {
        struct ArrowArray batch = {0};

        HD_TRY_OUT(hd_op_check_cancel(op));
        status = hd_slice_reader_next(op, merged.reader, &batch);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        status = look_up_batch(op, &lookup, &batch);
        hd_array_clear(&batch);
        HD_TRY_OUT(status);
    }
out:
    hd_merged_slice_close(op, &merged);
    hd_key_generator_free(lookup.generator);
    hd_arena_clear(&lookup.arena);
    hd_free(op, lookup.entries);
    return status;
}
