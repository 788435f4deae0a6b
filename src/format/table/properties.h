/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_PROPERTIES_H
#define HD_FORMAT_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/op.h"
#include "base/str.h"

/**
 * A Java properties file: keys in file order, the last of equal keys wins. ISO-8859-1 with \uXXXX
 * on disk, UTF-8 here. All zero is empty and ready. docs/format/table-layout.md 3.1
 */
struct hd_property {
    const char *key;
    const char *value;
};
struct hd_properties {
    struct hd_arena arena;
    struct hd_property *entries;
    size_t n_entries;
    size_t capacity;
    struct hd_map by_key; /* key -> entry number */
};

/** @return HUDI_CORRUPT for bytes that are no properties (a bad \u escape, a NUL) with the line */
hudi_status hd_properties_parse(struct hd_op *op, struct hd_slice text, struct hd_properties *out);
void hd_properties_clear(struct hd_properties *properties);

/** The value or NULL; belongs to `properties`. */
const char *hd_properties_get(const struct hd_properties *properties, const char *key);

/** Set or add (copied); value NULL removes. */
hudi_status hd_properties_set(struct hd_op *op, struct hd_properties *properties, const char *key,
                              const char *value);

hudi_status hd_properties_copy(struct hd_op *op, const struct hd_properties *from,
                               struct hd_properties *out);

/** Text with the two comment lines real writers put first (`comment`, then a Java date of `now_ms`
 * in UTC), Java's escapes, one "key=value" a line. */
hudi_status hd_properties_format(struct hd_op *op, const struct hd_properties *properties,
                                 const char *comment, uint64_t now_ms, struct hd_str *out);

#endif
