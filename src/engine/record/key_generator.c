/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/key_generator.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "arrow/array.h"
#include "arrow/java_text.h"
#include "arrow/schema.h"
#include "engine/record/key_generator_internal.h"

#define KEY_CONSISTENT "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
#define KEY_PARTITION_FIELDS "hoodie.datasource.write.partitionpath.field"

/* ---- construction ------------------------------------------------------------------------- */

static hudi_status find_field(struct hd_op *op, const struct ArrowSchema *schema, const char *kind,
                              const char *name, struct hd_arena *arena, struct hd_key_field *out)
{
    char *copy = NULL;
    struct hd_str type = {0};
    const hudi_status status = hd_field_path_find(op, schema, name, &out->path);

    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_INVALID, "%s field \"%s\" is not in the schema", kind, name);
    HD_TRY(status);
    if (!hd_java_type_has_text(&out->path.type)) {
        const struct ArrowSchema *field = schema;

        for (int32_t i = 0; i < out->path.n_steps; i++)
            field = field->children[out->path.steps[i]];
        const hudi_status described = hd_type_describe(op, field, &type);

        if (described == HUDI_OK)
            hd_fail_record(op, HUDI_INVALID, "%s field \"%s\" is of type %s, which makes no key",
                           kind, name, hd_str_text(&type));
        hd_str_clear(&type);
        return described != HUDI_OK ? described : HUDI_INVALID;
    }
    HD_TRY(hd_arena_strdup(op, arena, name, &copy));
    out->name = copy;
    HD_TRY(hd_arena_printf(op, arena, &copy, "%s:", name));
    out->prefix = copy;
    out->prefix_size = strlen(copy);
    return HUDI_OK;
}

static hudi_status find_keys(struct hd_op *op, const struct hd_table_config *config,
                             enum hd_complex_encoding encoding, struct hd_key_generator *generator)
{
    const size_t n =
        config->key_generator == HD_KEYGEN_AUTO_RECORD ? 0 : config->n_record_key_fields;

    HD_TRY(hd_arena_array(op, &generator->arena, n, sizeof(*generator->keys), &generator->keys));
    for (size_t i = 0; i < n; i++)
        HD_TRY(find_field(op, &generator->schema, "record key", config->record_key_fields[i],
                          &generator->arena, &generator->keys[i]));
    generator->n_keys = n;
    generator->named =
        n > 1 || (n == 1 && config->key_generator == HD_KEYGEN_GLOBAL_DELETE) ||
        (n == 1 && config->key_generator == HD_KEYGEN_COMPLEX && encoding == HD_COMPLEX_WITH_FIELD);
    return HUDI_OK;
}

/* In the custom generator's option "a:simple,b:timestamp" the kind of `field`; NULL when it is not
 * there. `*n` is its length. */
static const char *kind_in_option(const char *option, const char *field, size_t *n)
{
    const size_t field_size = strlen(field);

    while (option != NULL && *option != '\0') {
        option += strspn(option, ", ");
        const size_t size = strcspn(option, ",");
        const char *colon = memchr(option, ':', size);

        if (colon != NULL && (size_t)(colon - option) == field_size &&
            memcmp(option, field, field_size) == 0) {
            *n = size - field_size - 1;
            while (*n > 0 && colon[*n] == ' ')
                --*n;
            return colon + 1;
        }
        option += size;
    }
    return NULL;
}

/* Is partition field `i` formatted as a time? */
static hudi_status is_timestamp(struct hd_op *op, const struct hd_table_config *config,
                                const struct hd_options *options, size_t i, bool *out)
{
    const char *kind = NULL;
    size_t n = 0;

    *out = config->key_generator == HD_KEYGEN_TIMESTAMP;
    if (config->key_generator != HD_KEYGEN_CUSTOM)
        return HUDI_OK;
    if (config->partition_kinds != NULL) {
        kind = config->partition_kinds[i];
        n = strlen(kind);
    } else if (options != NULL) { /* up to version 7 tables do not say */
        kind = kind_in_option(hd_properties_get(&options->set, KEY_PARTITION_FIELDS),
                              config->partition_fields[i], &n);
    }
    if (kind != NULL && n == 9 && strncasecmp(kind, "timestamp", n) == 0)
        *out = true;
    else if (kind == NULL || n != 6 || strncasecmp(kind, "simple", n) != 0)
        return hd_fail(op, HUDI_INVALID,
                       "partition field \"%s\" of the custom key generator is neither \"simple\" "
                       "nor \"timestamp\": " KEY_PARTITION_FIELDS " says which",
                       config->partition_fields[i]);
    return HUDI_OK;
}

static hudi_status find_partitions(struct hd_op *op, const struct hd_table_config *config,
                                   const struct hd_options *options,
                                   struct hd_key_generator *generator)
{
    const bool none = config->key_generator == HD_KEYGEN_NON_PARTITION ||
                      config->key_generator == HD_KEYGEN_GLOBAL_DELETE;
    const size_t n = none ? 0 : config->n_partition_fields;

    HD_TRY(hd_arena_array(op, &generator->arena, n, sizeof(*generator->partitions),
                          &generator->partitions));
    for (size_t i = 0; i < n; i++) {
        struct hd_key_field *field = &generator->partitions[i];
        bool timestamp = false;

        HD_TRY(find_field(op, &generator->schema, "partition", config->partition_fields[i],
                          &generator->arena, field));
        HD_TRY(is_timestamp(op, config, options, i, &timestamp));
        if (timestamp)
            HD_TRY(hd_timestamp_key_new(op, config, options, field->name, &field->path.type,
                                        generator->timestamps_as_text, &generator->arena,
                                        &field->timestamp));
    }
    generator->n_partitions = n;
    return HUDI_OK;
}

static hudi_status fill_generator(struct hd_op *op, const struct hd_table_config *config,
                                  const struct hd_options *options,
                                  const struct ArrowSchema *schema,
                                  enum hd_complex_encoding encoding, bool partitions,
                                  struct hd_key_generator *generator)
{
    char *text = NULL;
    const char *consistent =
        options == NULL ? NULL : hd_properties_get(&options->set, KEY_CONSISTENT);

    if (config->key_generator == HD_KEYGEN_USER)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "key generator %s is not known",
                       config->key_generator_class == NULL ? "of the table"
                                                           : config->key_generator_class);
    if (consistent == NULL)
        consistent = hd_properties_get(&config->properties, KEY_CONSISTENT);
    generator->timestamps_as_text = consistent != NULL && strcasecmp(consistent, "true") == 0;
    generator->key_bytes = 16;
    generator->hive_style = config->hive_style_partitioning;
    generator->url_encode = config->url_encode_partitioning;
    generator->drop_partition_columns = config->drop_partition_columns;
    HD_TRY(hd_arena_strdup(op, &generator->arena, config->default_partition, &text));
    generator->default_partition = text;
    HD_TRY(hd_schema_copy(op, schema, &generator->schema));
    HD_TRY(find_keys(op, config, encoding, generator));
    generator->keys_only = !partitions;
    return partitions ? find_partitions(op, config, options, generator) : HUDI_OK;
}

static hudi_status new_generator(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const struct ArrowSchema *schema,
                                 enum hd_complex_encoding encoding, bool partitions,
                                 hd_key_generator **out)
{
    struct hd_key_generator *generator = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof(*generator), &generator));
    const hudi_status status =
        fill_generator(op, config, options, schema, encoding, partitions, generator);

    if (status != HUDI_OK) {
        hd_key_generator_free(generator);
        return status;
    }
    *out = generator;
    return HUDI_OK;
}

hudi_status hd_key_generator_new(struct hd_op *op, const struct hd_table_config *config,
                                 const struct hd_options *options, const struct ArrowSchema *schema,
                                 enum hd_complex_encoding encoding, hd_key_generator **out)
{
    return new_generator(op, config, options, schema, encoding, true, out);
}

hudi_status hd_record_key_generator_new(struct hd_op *op, const struct hd_table_config *config,
                                        const struct hd_options *options,
                                        const struct ArrowSchema *schema,
                                        enum hd_complex_encoding encoding, hd_key_generator **out)
{
    return new_generator(op, config, options, schema, encoding, false, out);
}

void hd_key_generator_free(hd_key_generator *generator)
{
    if (generator == NULL)
        return;
    hd_schema_clear(&generator->schema);
    hd_arena_clear(&generator->arena);
    hd_arena_clear(&generator->views);
    hd_str_clear(&generator->path);
    hd_str_clear(&generator->value);
    hd_free(NULL, generator->instant_time);
    hd_free(NULL, generator);
}

hudi_status hd_key_generator_set_task(struct hd_op *op, hd_key_generator *generator,
                                      const char *instant_time, uint32_t task)
{
    char *copy = NULL;

    HD_TRY(hd_strdup(op, instant_time, &copy));
    hd_free(op, generator->instant_time);
    generator->instant_time = copy;
    generator->task = task;
    generator->next_row = 0;
    return HUDI_OK;
}

/* ---- batches ------------------------------------------------------------------------------ */

hudi_status hd_key_failures_add(struct hd_op *op, struct hd_key_failures *failures, int64_t row,
                                const char *reason)
{
    if (failures->n == failures->capacity)
        HD_TRY(hd_grow(op, &failures->list, &failures->capacity, failures->n + 1,
                       sizeof(*failures->list)));
    failures->list[failures->n++] = (struct hd_key_failure){row, reason};
    return HUDI_OK;
}

void hd_keys_clear(struct hd_op *op, struct hd_keys *keys)
{
    hd_array_clear(&keys->record_keys);
    hd_free(op, keys->partitions);
    hd_free(op, keys->failures);
    *keys = (struct hd_keys){0};
}

static hudi_status open_columns(struct hd_op *op, struct hd_key_generator *generator,
                                const struct ArrowArray *batch, struct hd_view *out)
{
    hd_arena_reset(&generator->views);
    return hd_view_open(op, &generator->views, &generator->schema, batch, out);
}

/* Both lists ascend by row; a row in both counts once, for its key. */
static hudi_status merge_failures(struct hd_op *op, const struct hd_key_failures *keys,
                                  const struct hd_key_failures *partitions, struct hd_keys *out)
{
    size_t k = 0;
    size_t p = 0;

    if (keys->n + partitions->n == 0)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, keys->n + partitions->n, sizeof(*out->failures), &out->failures));
    while (k < keys->n || p < partitions->n) {
        const bool from_keys =
            p == partitions->n || (k < keys->n && keys->list[k].row <= partitions->list[p].row);

        if (from_keys) {
            if (p < partitions->n && partitions->list[p].row == keys->list[k].row)
                p++;
            out->failures[out->n_failures++] = keys->list[k++];
        } else {
            out->failures[out->n_failures++] = partitions->list[p++];
        }
    }
    return HUDI_OK;
}

hudi_status hd_key_generator_apply(struct hd_op *op, hd_key_generator *generator,
                                   const struct ArrowArray *batch, struct hd_arena *arena,
                                   struct hd_partition_set *partitions, struct hd_keys *out)
{
    struct hd_key_failures key_failures = {0};
    struct hd_key_failures partition_failures = {0};
    struct hd_view view;
    hudi_status status;

    *out = (struct hd_keys){0};
    assert(!generator->keys_only);
    HD_TRY(open_columns(op, generator, batch, &view));
    const int64_t n_rows = view.length;

    HD_TRY_OUT(hd_record_keys_make(op, generator, view.children, n_rows, arena, &key_failures,
                                   &out->record_keys));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_rows, sizeof(*out->partitions), &out->partitions));
    HD_TRY_OUT(hd_partition_numbers_make(op, generator, view.children, n_rows, arena, partitions,
                                         &partition_failures, out->partitions));
    HD_TRY_OUT(merge_failures(op, &key_failures, &partition_failures, out));
    out->n_rows = n_rows;
out:
    hd_free(op, key_failures.list);
    hd_free(op, partition_failures.list);
    if (status != HUDI_OK)
        hd_keys_clear(op, out);
    return status;
}

hudi_status hd_key_generator_record_keys(struct hd_op *op, hd_key_generator *generator,
                                         const struct ArrowArray *batch, struct ArrowArray *out)
{
    struct hd_key_failures failures = {0};
    struct hd_arena arena = {0};
    struct hd_view view;
    hudi_status status;

    *out = (struct ArrowArray){0};
    HD_TRY_OUT(open_columns(op, generator, batch, &view));
    if (generator->n_keys == 0) {
        status = hd_fail(op, HUDI_INVALID,
                         "the table has neither record key fields nor stored record keys");
        goto out;
    }
    HD_TRY_OUT(
        hd_record_keys_make(op, generator, view.children, view.length, &arena, &failures, out));
    if (failures.n > 0)
        status = hd_fail(op, HUDI_CORRUPT, "row %" PRId64 " of a batch: %s", failures.list[0].row,
                         failures.list[0].reason);
out:
    hd_free(op, failures.list);
    hd_arena_clear(&arena);
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}

/* ---- what a table's keys look like -------------------------------------------------------- */

hudi_status hd_complex_encoding_detect(struct hd_op *op, const char *field,
                                       const struct hd_view *stored_keys, int64_t *n_seen,
                                       enum hd_complex_encoding *out)
{
    const size_t n = strlen(field);
    int64_t n_named = 0;
    int64_t n_bare = 0;

    for (int64_t i = 0; i < stored_keys->length; i++) {
        if (hd_view_is_null(stored_keys, i))
            continue;
        const struct hd_slice key = hd_view_bytes(stored_keys, i);
        const bool named = key.size > n && key.data[n] == ':' && memcmp(key.data, field, n) == 0;

        n_named += named;
        n_bare += !named;
    }
    *n_seen = n_named + n_bare;
    *out = n_bare > 0 ? HD_COMPLEX_BARE : HD_COMPLEX_WITH_FIELD;
    if (n_named > 0 && n_bare > 0)
        return hd_fail(op, HUDI_CONFLICT,
                       "the table's record keys are mixed: %" PRId64 " begin with \"%s:\", %" PRId64
                       " do not",
                       n_named, field, n_bare);
    return HUDI_OK;
}

/* ---- texts -------------------------------------------------------------------------------- */

hudi_status hd_java_double_text(struct hd_op *op, double value, struct hd_str *out)
{
    char text[HD_JAVA_TEXT_BYTES];

    return hd_str_append(op, out, text, hd_java_double_format(value, text));
}

hudi_status hd_java_float_text(struct hd_op *op, float value, struct hd_str *out)
{
    char text[HD_JAVA_TEXT_BYTES];

    return hd_str_append(op, out, text, hd_java_float_format(value, text));
}
