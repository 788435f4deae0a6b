/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/stored_keys.h"

#include "arrow/array.h"
#include "arrow/schema.h"
#include "format/table/table_schema.h"

struct hd_stored_keys {
    hd_base_reader *reader;
    hd_key_generator *generator; /* NULL: the meta column is there */
    struct ArrowSchema schema;   /* of the columns read */
    int32_t *row_groups;
    int32_t n_row_groups;
    int32_t at;               /* row group being read */
    hd_base_batches *batches; /* of that row group */
    int64_t next_row;
    struct ArrowArray batch;
    struct ArrowArray made; /* keys built by the generator */
    struct hd_arena arena;
};

/* Top-level columns that hold the key fields; a nested field "a.b" needs column "a". */
static hudi_status key_columns(struct hd_op *op, const struct hd_table_config *config,
                               const struct ArrowSchema *file, int32_t *columns, int32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < config->n_record_key_fields; i++) {
        const char *field = config->record_key_fields[i];
        const size_t length = strcspn(field, ".");
        int32_t found = -1;

        for (int32_t c = 0; c < file->n_children && found < 0; c++) {
            const char *name = file->children[c]->name;
            if (strcmp(name, field) == 0 ||
                (strlen(name) == length && memcmp(name, field, length) == 0))
                found = c;
        }
        if (found < 0)
            return hd_fail(op, HUDI_CORRUPT, "no column for record key field \"%s\"", field);
        bool known = false;
        for (int32_t c = 0; c < *n; c++)
            known |= columns[c] == found;
        if (!known)
            columns[(*n)++] = found;
    }
    return HUDI_OK;
}

static hudi_status choose_columns(struct hd_op *op, const struct hd_table_config *config,
                                  const struct hd_options *options,
                                  enum hd_complex_encoding encoding, struct hd_stored_keys *keys)
{
    hudi_status status = HUDI_OK;
    const struct ArrowSchema *file = hd_base_reader_schema(keys->reader);
    int32_t *columns = NULL, n = 1;

    HD_TRY_OUT(hd_alloc_array(op, config->n_record_key_fields + 1, sizeof *columns, &columns));
    columns[0] = hd_schema_find(file, HD_META_RECORD_KEY);
    if (columns[0] >= 0 && config->populate_meta_fields) {
        HD_TRY_OUT(hd_schema_select(op, file, columns, 1, &keys->schema));
        goto out;
    }
    HD_TRY_OUT(key_columns(op, config, file, columns, &n));
    HD_TRY_OUT(hd_schema_select(op, file, columns, n, &keys->schema));
    HD_TRY_OUT(hd_record_key_generator_new(op, config, options, &keys->schema, encoding,
                                           &keys->generator));
out:
    hd_free(op, columns);
    return status;
}

hudi_status hd_stored_keys_open(struct hd_op *op, const struct hd_table_config *config,
                                const struct hd_options *options, enum hd_complex_encoding encoding,
                                hd_base_reader *reader, const int32_t *row_groups,
                                int32_t n_row_groups, struct hd_stored_keys **out)
{
    hudi_status status = HUDI_OK;
    struct hd_stored_keys *keys;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *keys, &keys));
    keys->reader = reader;
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_row_groups, sizeof *row_groups, &keys->row_groups));
    memcpy(keys->row_groups, row_groups, (size_t)n_row_groups * sizeof *row_groups);
    keys->n_row_groups = n_row_groups;
    keys->at = -1;
    HD_TRY_OUT(choose_columns(op, config, options, encoding, keys));
    *out = keys;
    return HUDI_OK;
out:
    hd_stored_keys_close(op, keys);
    return status;
}

/* Go to the next row group; its first row's number is the rows of all before it. */
static hudi_status next_row_group(struct hd_op *op, struct hd_stored_keys *keys)
{
    int32_t *wanted = NULL;
    const struct ArrowSchema *file = hd_base_reader_schema(keys->reader);
    const int32_t n = (int32_t)keys->schema.n_children;

    hd_base_batches_close(keys->batches);
    keys->batches = NULL;
    if (++keys->at >= keys->n_row_groups)
        return HUDI_END;
    const int32_t row_group = keys->row_groups[keys->at];
    keys->next_row = 0;
    for (int32_t i = 0; i < row_group; i++)
        keys->next_row += hd_base_reader_row_group_rows(keys->reader, i);
    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *wanted, &wanted));
    for (int32_t i = 0; i < n; i++)
        wanted[i] = hd_schema_find(file, keys->schema.children[i]->name);
    const struct hd_base_read_options options = {
        .columns = wanted, .n_columns = n, .row_groups = &row_group, .n_row_groups = 1};
    const hudi_status status = hd_base_reader_read(op, keys->reader, &options, &keys->batches);
    hd_free(op, wanted);
    return status;
}

hudi_status hd_stored_keys_next(struct hd_op *op, struct hd_stored_keys *keys, struct hd_view *out,
                                int64_t *first_row)
{
    hd_array_clear(&keys->batch);
    hd_array_clear(&keys->made);
    hd_arena_reset(&keys->arena);
    for (;;) {
        hudi_status status = HUDI_END;
        if (keys->batches != NULL)
            status = hd_base_batches_next(op, keys->batches, &keys->batch);
        if (status == HUDI_OK)
            break;
        if (status != HUDI_END)
            return status;
        HD_TRY(next_row_group(op, keys));
    }
    *first_row = keys->next_row;
    keys->next_row += keys->batch.length;
    if (keys->generator != NULL) {
        const struct hd_type text = {.id = HD_TYPE_STRING};
        struct ArrowSchema field;

        HD_TRY(hd_key_generator_record_keys(op, keys->generator, &keys->batch, &keys->made));
        HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
        const hudi_status status = hd_view_open(op, &keys->arena, &field, &keys->made, out);
        hd_schema_clear(&field);
        return status;
    }
    struct hd_view view;
    HD_TRY(hd_view_open(op, &keys->arena, &keys->schema, &keys->batch, &view));
    *out = view.children[0];
    return HUDI_OK;
}

void hd_stored_keys_close(struct hd_op *op, struct hd_stored_keys *keys)
{
    if (keys == NULL)
        return;
    hd_base_batches_close(keys->batches);
    hd_key_generator_free(keys->generator);
    hd_schema_clear(&keys->schema);
    hd_array_clear(&keys->batch);
    hd_array_clear(&keys->made);
    hd_arena_clear(&keys->arena);
    hd_free(op, keys->row_groups);
    hd_free(op, keys);
}
