/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_DELETES_H
#define HD_FORMAT_LOG_DELETES_H

#include "base/arena.h"
#include "format/log/log_block.h"

/*
 * What a delete block says: keys, partition paths and ordering values, as columns. The content is a
 * version and a length, then by version (docs/format/log-format.md 4.2)
 *
 *     1  Kryo HoodieKey[]: no ordering values
 *     2  Kryo DeleteRecord[]
 *     3  Avro HoodieDeleteRecordList
 */

/* The Java class that a value had, as far as it matters: values of two classes do not compare. */
enum hd_ordering_type {
    HD_ORDERING_NONE, /* null, or a block without ordering values */
    HD_ORDERING_BOOLEAN,
    HD_ORDERING_INT, /* also bytes and shorts of version 2 */
    HD_ORDERING_LONG,
    HD_ORDERING_FLOAT,
    HD_ORDERING_DOUBLE,
    HD_ORDERING_BYTES,
    HD_ORDERING_STRING,
    HD_ORDERING_DATE, /* days since the epoch */
    HD_ORDERING_DECIMAL,
    HD_ORDERING_TIME_MICROS,
    HD_ORDERING_TIMESTAMP_MICROS, /* since the epoch */
    HD_ORDERING_ARRAY,            /* of several ordering fields (1.1 and later) */
};

struct hd_ordering_value {
    enum hd_ordering_type type;
    int32_t scale; /* decimal */
    union {
        int64_t integer;       /* boolean to long, date, time, timestamp */
        double real;           /* float, double */
        struct hd_slice bytes; /* bytes, string (UTF-8), decimal (unscaled, big-endian two's
                                  complement) */
        struct {
            const struct hd_ordering_value *items; /* never arrays themselves */
            size_t n_items;
        };
    };
};

/** "int", "timestamp_micros", ...: for messages and listings. Static. */
const char *hd_ordering_type_name(enum hd_ordering_type type);

/** The delete takes effect by its arrival, whatever the stored record's ordering value: there is no
 * value, or it is int 0 (a long 0 is a value). */
static inline bool hd_ordering_is_by_arrival(const struct hd_ordering_value *value)
{
    return value->type == HD_ORDERING_NONE ||
           (value->type == HD_ORDERING_INT && value->integer == 0);
}

/**
 * `n` deletes. A null key or partition path has `data` NULL; an empty one has not. Everything is in
 * the arena or in the content that was decoded.
 */
struct hd_log_deletes {
    uint32_t version; /* of the content */
    size_t n;
    struct hd_slice *record_keys;
    struct hd_slice *partition_paths;
    struct hd_ordering_value *ordering; /* NULL: all none (version 1) */
    size_t capacity;
    struct hd_arena arena;
};

/**
 * Decode the content of a delete block, which must outlive the result. Order is that of the block.
 * @param file_offset  of the content, for messages
 * @param out          release with hd_log_deletes_clear(); all zero on failure
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another version and for a Java class of ordering
 *         values that Hudi does not make, by name. Allocates a small multiple of the content
 *
 * Source: HoodieDeleteBlock.deserialize (Hudi 0.10.1, 0.13.1, 1.1.1)
 */
hudi_status hd_log_deletes_decode(struct hd_op *op, struct hd_slice content, uint64_t file_offset,
                                  struct hd_log_deletes *out);
void hd_log_deletes_clear(struct hd_op *op, struct hd_log_deletes *deletes);

/** Memory of the decoded form, for budgets. */
uint64_t hd_log_deletes_bytes(const struct hd_log_deletes *deletes);

/**
 * Append the content of a delete block of `version`: 1 for tables of version 2 and 3, 2 for 4 and
 * 5, 3 for 6 and later. `deletes->version` is not looked at; keys and paths are written as strings,
 * empty ones too. What has no ordering value gets int 0; version 1 leaves ordering values out.
 * @return HUDI_INVALID for another version, a decimal that does not fit decimal(30,15) (version 3),
 *         arrays in arrays; HUDI_NOT_IMPLEMENTED for bytes and arrays in version 2. `out` is as
 *         before then
 *
 * Source: HoodieDeleteBlock.getContentBytes, HoodieAvroUtils.wrapValueIntoAvro (Hudi 0.15.0)
 */
hudi_status hd_log_deletes_encode(struct hd_op *op, uint32_t version,
                                  const struct hd_log_deletes *deletes, struct hd_str *out);

#endif
