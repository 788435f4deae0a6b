/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INTERNAL_SCHEMA_INTERNAL_H
#define HD_ENGINE_INTERNAL_SCHEMA_INTERNAL_H

#include "base/arena.h"
#include "engine/record/projection.h"

/* What the files of the internal schema share. */

enum hd_internal_kind {
    HD_INTERNAL_PRIMITIVE,
    HD_INTERNAL_RECORD,
    HD_INTERNAL_ARRAY,
    HD_INTERNAL_MAP
};

/** A column, a field of a record, an array's element, a map's key or value. */
struct hd_internal_field {
    int64_t id;
    const char *name; /* "element", "key", "value" where the schema has none */
    bool optional;
    enum hd_internal_kind kind;
    struct hd_type type;                /* PRIMITIVE */
    struct hd_internal_field *children; /* RECORD: fields; ARRAY: element; MAP: key, value */
    size_t n_children;
};

struct hd_internal_schema {
    struct hd_arena arena;
    uint64_t version;
    int64_t max_column_id;
    struct hd_internal_field root; /* RECORD */
};

/** The child with this id, or NULL. */
const struct hd_internal_field *hd_internal_field_by_id(const struct hd_internal_field *parent,
                                                        int64_t id);
const struct hd_internal_field *hd_internal_field_by_name(const struct hd_internal_field *parent,
                                                          const char *name);

#endif
