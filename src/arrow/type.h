/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_TYPE_H
#define HD_ARROW_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/*
 * Column types. Inside the library only the canonical types occur; what else a caller's stream or
 * a file brings (large strings, views, dictionaries, small and unsigned integers, date64) is turned
 * into them at the edge by arrow/cast.h. One exception: a writer takes dictionary-encoded strings
 * (HD_TYPE_DICTIONARY over int32 indices), which is how constant meta columns stay small.
 */
enum hd_type_id {
    HD_TYPE_NULL,
    HD_TYPE_BOOL,         /* bits */
    HD_TYPE_INT32,        /* Avro int */
    HD_TYPE_INT64,        /* Avro long */
    HD_TYPE_FLOAT,        /* 32 bits */
    HD_TYPE_DOUBLE,       /* 64 bits */
    HD_TYPE_STRING,       /* UTF-8, 32-bit offsets */
    HD_TYPE_BINARY,       /* 32-bit offsets */
    HD_TYPE_FIXED_BINARY, /* byte_width */
    HD_TYPE_DECIMAL,      /* 128 bits, precision and scale */
    HD_TYPE_DATE,         /* days since 1970-01-01, int32 */
    HD_TYPE_TIME,         /* since midnight; unit MILLI in int32, MICRO or NANO in int64 */
    HD_TYPE_TIMESTAMP,    /* since the epoch in unit, int64; utc or without zone */
    HD_TYPE_LIST,         /* 32-bit offsets, one child */
    HD_TYPE_MAP,          /* 32-bit offsets, child struct<key, value> */
    HD_TYPE_STRUCT,
    HD_TYPE_DICTIONARY, /* strings by int32 index; only towards writers */
    HD_TYPE_OTHER,      /* valid Arrow, not canonical: see arrow/cast.h */
};

enum hd_time_unit { HD_UNIT_SECOND, HD_UNIT_MILLI, HD_UNIT_MICRO, HD_UNIT_NANO };

struct hd_type {
    enum hd_type_id id;
    enum hd_time_unit unit; /* TIME, TIMESTAMP */
    bool utc;               /* TIMESTAMP with any time zone: an instant */
    int32_t byte_width;     /* FIXED_BINARY */
    int32_t precision;      /* DECIMAL */
    int32_t scale;          /* DECIMAL */
};

/** How deep types may nest; deeper schemas are refused (HUDI_INVALID) before anything recurses. */
#define HD_TYPE_MAX_DEPTH 64

/** Type of a field. @return HUDI_INVALID when the format string is none of Arrow's, or a nested
 * type has not the children that its format asks for. */
hudi_status hd_type_of(struct hd_op *op, const struct ArrowSchema *field, struct hd_type *out);

/** As hd_type_of() without a message: false for what that refuses. */
bool hd_type_parse(const struct ArrowSchema *field, struct hd_type *out);

/** Buffers of an array of a canonical type, validity included; 0 for NULL. */
int64_t hd_type_n_buffers(const struct hd_type *type);

/** Bytes of a value in the buffer of values; of an offset, a key where there are these; 0 for NULL,
 * BOOL and STRUCT. */
uint64_t hd_type_width(const struct hd_type *type);

/** Append a readable name, children included: "timestamp[us, UTC]", "list<item: int32>". */
hudi_status hd_type_describe(struct hd_op *op, const struct ArrowSchema *field, struct hd_str *out);

/** Same type all the way down, names of struct children included; nullability and metadata not. */
bool hd_type_equal(const struct ArrowSchema *a, const struct ArrowSchema *b);

/** Every type at and below `field` is canonical (a dictionary is not). */
bool hd_type_is_canonical(const struct ArrowSchema *field);

#endif
