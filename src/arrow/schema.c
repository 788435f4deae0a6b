/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/schema.h"

#include <stdio.h>
#include <string.h>

#include "arrow/array.h"

#define MAX_CHILDREN (INT64_C(1) << 20)
#define FORMAT_BYTES 40

/*
 * A node is one allocation: child pointers | child structs | dictionary struct | format | name |
 * metadata. Children not set yet are all zero.
 */
static void node_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    }
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    hd_free(NULL, schema->private_data);
    schema->release = NULL;
}

/* Bytes of Arrow's metadata: i32 n, n times (i32 size, key, i32 size, value). */
static hudi_status metadata_bytes(struct hd_op *op, const char *metadata, uint64_t *out)
{
    int32_t n, size;
    uint64_t at = sizeof n;

    *out = 0;
    if (metadata == NULL)
        return HUDI_OK;
    memcpy(&n, metadata, sizeof n);
    for (int64_t i = 0; i < 2 * (int64_t)n; i++) {
        memcpy(&size, metadata + at, sizeof size);
        if (size < 0)
            return hd_fail(op, HUDI_INVALID, "schema metadata has a size of %d", (int)size);
        at += sizeof size + (uint64_t)size;
    }
    *out = at;
    return HUDI_OK;
}

static hudi_status node_new(struct hd_op *op, const struct ArrowSchema *like, int64_t n_children,
                            bool dictionary, struct ArrowSchema *out)
{
    const char *name = like->name == NULL ? "" : like->name;
    const size_t format_bytes = strlen(like->format) + 1, name_bytes = strlen(name) + 1;
    uint64_t n_metadata;

    *out = (struct ArrowSchema){0};
    if (n_children < 0 || n_children > MAX_CHILDREN)
        return hd_fail(op, HUDI_INVALID, "field \"%s\" has %lld children", name,
                       (long long)n_children);
    HD_TRY(metadata_bytes(op, like->metadata, &n_metadata));

    const size_t n_nodes = (size_t)n_children + (dictionary ? 1 : 0);
    char *block;
    HD_TRY(hd_alloc(op,
                    (size_t)n_children * sizeof(struct ArrowSchema *) +
                        n_nodes * sizeof(struct ArrowSchema) + format_bytes + name_bytes +
                        n_metadata,
                    &block));
    out->private_data = block;
    out->children = (struct ArrowSchema **)block;
    struct ArrowSchema *nodes = (struct ArrowSchema *)(out->children + n_children);
    for (int64_t i = 0; i < n_children; i++)
        out->children[i] = &nodes[i];
    out->n_children = n_children;
    out->dictionary = dictionary ? &nodes[n_children] : NULL;
    char *text = (char *)(nodes + n_nodes);
    out->format = memcpy(text, like->format, format_bytes);
    out->name = memcpy(text + format_bytes, name, name_bytes);
    if (n_metadata > 0)
        out->metadata = memcpy(text + format_bytes + name_bytes, like->metadata, n_metadata);
    out->flags = like->flags;
    out->release = node_release;
    return HUDI_OK;
}

static hudi_status node_init(struct hd_op *op, struct ArrowSchema *out, const char *format,
                             const char *name, bool nullable, int64_t n_children)
{
    const struct ArrowSchema like = {
        .format = format, .name = name, .flags = nullable ? ARROW_FLAG_NULLABLE : 0};

    return node_new(op, &like, n_children, false, out);
}

static hudi_status format_of(struct hd_op *op, const struct hd_type *type, char out[FORMAT_BYTES])
{
    static const char *const PLAIN[] = {
        [HD_TYPE_NULL] = "n",   [HD_TYPE_BOOL] = "b",   [HD_TYPE_INT32] = "i",
        [HD_TYPE_INT64] = "l",  [HD_TYPE_FLOAT] = "f",  [HD_TYPE_DOUBLE] = "g",
        [HD_TYPE_DATE] = "tdD", [HD_TYPE_STRING] = "u", [HD_TYPE_BINARY] = "z",
    };
    static const char UNITS[] = "smun";

    switch (type->id) {
    case HD_TYPE_FIXED_BINARY:
        snprintf(out, FORMAT_BYTES, "w:%d", (int)type->byte_width);
        return HUDI_OK;
    case HD_TYPE_DECIMAL:
        snprintf(out, FORMAT_BYTES, "d:%d,%d", (int)type->precision, (int)type->scale);
        return HUDI_OK;
    case HD_TYPE_TIME:
        snprintf(out, FORMAT_BYTES, "tt%c", UNITS[type->unit]);
        return HUDI_OK;
    case HD_TYPE_TIMESTAMP:
        snprintf(out, FORMAT_BYTES, "ts%c:%s", UNITS[type->unit], type->utc ? "UTC" : "");
        return HUDI_OK;
    default:
        break;
    }
    if ((size_t)type->id >= HD_ARRAY_LENGTH(PLAIN) || PLAIN[type->id] == NULL)
        return hd_fail(op, HUDI_INTERNAL, "type %d is not one without children", (int)type->id);
    snprintf(out, FORMAT_BYTES, "%s", PLAIN[type->id]);
    return HUDI_OK;
}

hudi_status hd_schema_init_struct(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                  bool nullable, int64_t n_children)
{
    return node_init(op, out, "+s", name, nullable, n_children);
}

hudi_status hd_schema_init_field(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                 const struct hd_type *type, bool nullable)
{
    char format[FORMAT_BYTES];

    *out = (struct ArrowSchema){0};
    HD_TRY(format_of(op, type, format));
    return node_init(op, out, format, name, nullable, 0);
}

/* i32 1 | i32 size | key | i32 size | value */
#define DECIMAL_METADATA_HEAD (2 * sizeof(int32_t) + sizeof HD_DECIMAL_BYTES_KEY - 1)

int32_t hd_schema_decimal_bytes(const struct ArrowSchema *field)
{
    int32_t n, size, value = 0;
    const char *at = field->metadata;

    if (at == NULL)
        return 0;
    memcpy(&n, at, sizeof n);
    memcpy(&size, at + sizeof n, sizeof size);
    if (n != 1 || size != (int32_t)sizeof HD_DECIMAL_BYTES_KEY - 1 ||
        memcmp(at + 2 * sizeof n, HD_DECIMAL_BYTES_KEY, (size_t)size) != 0)
        return 0;
    at += DECIMAL_METADATA_HEAD;
    memcpy(&size, at, sizeof size);
    at += sizeof size;
    for (int32_t i = 0; i < size && i < 9 && at[i] >= '0' && at[i] <= '9'; i++)
        value = value * 10 + (at[i] - '0');
    return value;
}

hudi_status hd_schema_set_decimal_bytes(struct hd_op *op, struct ArrowSchema *field,
                                        int32_t n_bytes)
{
    char metadata[DECIMAL_METADATA_HEAD + 2 * sizeof(int32_t) + 16] = {0}, digits[16];
    const int32_t one = 1, key_size = (int32_t)sizeof HD_DECIMAL_BYTES_KEY - 1,
                  size = snprintf(digits, sizeof digits, "%d", (int)n_bytes);
    struct ArrowSchema like = *field, out;
    char *at = metadata;

    at = (char *)memcpy(at, &one, sizeof one) + sizeof one;
    at = (char *)memcpy(at, &key_size, sizeof key_size) + sizeof key_size;
    at = (char *)memcpy(at, HD_DECIMAL_BYTES_KEY, (size_t)key_size) + key_size;
    at = (char *)memcpy(at, &size, sizeof size) + sizeof size;
    memcpy(at, digits, (size_t)size);
    like.metadata = metadata;
    HD_TRY(node_new(op, &like, 0, false, &out));
    hd_schema_clear(field);
    *field = out;
    return HUDI_OK;
}

hudi_status hd_schema_init_list(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                bool nullable)
{
    return node_init(op, out, "+l", name, nullable, 1);
}

hudi_status hd_schema_init_map(struct hd_op *op, struct ArrowSchema *out, const char *name,
                               bool nullable)
{
    hudi_status status;

    HD_TRY(node_init(op, out, "+m", name, nullable, 1));
    HD_TRY_OUT(node_init(op, out->children[0], "+s", "entries", false, 2));
    HD_TRY_OUT(node_init(op, out->children[0]->children[0], "u", "key", false, 0));
    return HUDI_OK;
out:
    hd_schema_clear(out);
    return status;
}

hudi_status hd_schema_init_dictionary(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                      bool nullable)
{
    const struct ArrowSchema like = {
        .format = "i", .name = name, .flags = nullable ? ARROW_FLAG_NULLABLE : 0};

    HD_TRY(node_new(op, &like, 0, true, out));
    const hudi_status status = node_init(op, out->dictionary, "u", "", true, 0);
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

static hudi_status copy_node(struct hd_op *op, const struct ArrowSchema *from, const char *name,
                             int64_t flags, int depth, struct ArrowSchema *out)
{
    struct ArrowSchema like = *from;
    hudi_status status = HUDI_OK;

    *out = (struct ArrowSchema){0};
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    if (from->format == NULL)
        return hd_fail(op, HUDI_INVALID, "field \"%s\" has no format", name == NULL ? "" : name);
    like.name = name;
    like.flags = flags;
    HD_TRY(node_new(op, &like, from->n_children, from->dictionary != NULL, out));
    for (int64_t i = 0; i < from->n_children; i++) {
        const struct ArrowSchema *child = from->children[i];
        HD_TRY_OUT(copy_node(op, child, child->name, child->flags, depth + 1, out->children[i]));
    }
    if (from->dictionary != NULL)
        HD_TRY_OUT(copy_node(op, from->dictionary, from->dictionary->name, from->dictionary->flags,
                             depth + 1, out->dictionary));
out:
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

hudi_status hd_schema_copy(struct hd_op *op, const struct ArrowSchema *from,
                           struct ArrowSchema *out)
{
    return copy_node(op, from, from->name, from->flags, 0, out);
}

hudi_status hd_schema_copy_as(struct hd_op *op, const struct ArrowSchema *from, const char *name,
                              bool nullable, struct ArrowSchema *out)
{
    const int64_t flags =
        nullable ? from->flags | ARROW_FLAG_NULLABLE : from->flags & ~(int64_t)ARROW_FLAG_NULLABLE;

    return copy_node(op, from, name, flags, 0, out);
}

hudi_status hd_schema_select(struct hd_op *op, const struct ArrowSchema *root,
                             const int32_t *columns, int32_t n, struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;

    HD_TRY(node_new(op, root, n, false, out));
    for (int32_t i = 0; i < n; i++) {
        if (columns[i] < 0 || columns[i] >= root->n_children) {
            status = hd_fail(op, HUDI_INVALID, "column %d of %lld is wanted", (int)columns[i],
                             (long long)root->n_children);
            goto out;
        }
        HD_TRY_OUT(hd_schema_copy(op, root->children[columns[i]], out->children[i]));
    }
out:
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

int32_t hd_schema_find(const struct ArrowSchema *root, const char *name)
{
    for (int64_t i = 0; i < root->n_children; i++) {
        const char *child = root->children[i]->name;
        if (child != NULL && strcmp(child, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

void hd_schema_clear(struct ArrowSchema *schema)
{
    if (schema->release != NULL)
        schema->release(schema);
    *schema = (struct ArrowSchema){0};
}
