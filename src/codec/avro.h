/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_AVRO_H
#define HD_CODEC_AVRO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"
#include "codec/avro_schema.h"
#include "codec/compress.h"

/* ---- decoding of Avro binary -------------------------------------------------------------- */

/* All: HUDI_CORRUPT when the bytes end early or are no value of the type; the cursor is then where
 * it was. Slices point into the cursor's buffer. */

/** Long and int share a form; an int must fit 32 bits. */
hudi_status hd_avro_read_int(struct hd_op *op, struct hd_cursor *in, int32_t *out);
static inline hudi_status hd_avro_read_long(struct hd_op *op, struct hd_cursor *in, int64_t *out)
{
    return hd_cursor_zigzag(op, in, out);
}
hudi_status hd_avro_read_boolean(struct hd_op *op, struct hd_cursor *in, bool *out);
hudi_status hd_avro_read_float(struct hd_op *op, struct hd_cursor *in, float *out);
hudi_status hd_avro_read_double(struct hd_op *op, struct hd_cursor *in, double *out);
/** Bytes and strings. Not checked for UTF-8. */
hudi_status hd_avro_read_bytes(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out);
/** Position of a union's branch or an enum's symbol, checked to be below `n`. */
hudi_status hd_avro_read_index(struct hd_op *op, struct hd_cursor *in, size_t n, uint32_t *out);

/**
 * Header of the next block of an array or map. `*n_items` is 0 at the end. An item takes at least
 * `item_min_bytes` (of a map: hd_avro_map_min_bytes()), so a count beyond what is left is refused;
 * of items that take no bytes there may be 1024 in a block.
 * `*n_bytes` (may be NULL) is the size of the block where the writer gave it, else 0.
 */
hudi_status hd_avro_read_block(struct hd_op *op, struct hd_cursor *in, uint64_t item_min_bytes,
                               uint64_t *n_items, uint64_t *n_bytes);

/** Least bytes of one entry of a map with these values: the key's length and the value. */
static inline uint64_t hd_avro_map_min_bytes(const struct hd_avro_schema *values)
{
    return values->min_bytes + 1;
}

/** Pass over one value. Bounded in depth (HUDI_CORRUPT beyond) and by the bytes there are. */
hudi_status hd_avro_skip(struct hd_op *op, const struct hd_avro_schema *schema,
                         struct hd_cursor *in);

/* ---- encoding ----------------------------------------------------------------------------- */

/** Also for int, union branch, enum symbol, block count. */
hudi_status hd_avro_write_long(struct hd_op *op, struct hd_str *out, int64_t value);
hudi_status hd_avro_write_boolean(struct hd_op *op, struct hd_str *out, bool value);
hudi_status hd_avro_write_float(struct hd_op *op, struct hd_str *out, float value);
hudi_status hd_avro_write_double(struct hd_op *op, struct hd_str *out, double value);
/** Bytes and strings. */
hudi_status hd_avro_write_bytes(struct hd_op *op, struct hd_str *out, struct hd_slice value);

#define HD_AVRO_LONG_MAX_BYTES 10

/** The bytes of a long at `out`, which has room for HD_AVRO_LONG_MAX_BYTES; returns their number.
 */
static inline size_t hd_avro_put_long(uint8_t *out, int64_t value)
{
    uint64_t v = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    size_t n = 0;

    while (v >= 0x80) {
        out[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    out[n++] = (uint8_t)v;
    return n;
}

/* ---- object container files ---------------------------------------------------------------- */

#define HD_AVRO_SYNC_BYTES 16

/**
 * A container file in memory. Layout: "Obj" 1 | map<bytes> of metadata | 16-byte sync marker, then
 * blocks: long records | long bytes | data | sync marker.
 */
struct hd_avro_container {
    struct hd_slice schema_json; /* in the file's bytes */
    enum hd_codec codec;
    bool has_checksum; /* snappy blocks end with the CRC-32 of the data */
    uint8_t sync[HD_AVRO_SYNC_BYTES];
    struct hd_cursor header;  /* the metadata map */
    struct hd_cursor in;      /* blocks not yet read */
    uint64_t max_block_bytes; /* decompressed; 16 MiB and 64 times the file */
    struct hd_str block;      /* the current block, decompressed */
};

/**
 * Read the header of a container file: codec null, deflate, snappy or zstandard.
 * @param file  must outlive the container
 * @param out   release with hd_avro_container_clear(); all zero on failure
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another codec
 */
hudi_status hd_avro_container_open(struct hd_op *op, struct hd_slice file,
                                   struct hd_avro_container *out);
void hd_avro_container_clear(struct hd_avro_container *container);

/** A header entry, e.g. "avro.codec". @return HUDI_NOT_FOUND (no error set) */
hudi_status hd_avro_container_meta(struct hd_op *op, const struct hd_avro_container *container,
                                   const char *key, struct hd_slice *out);

/**
 * The next block: a cursor over its records, back to back, and how many there are. Both are valid
 * until the next call. The caller checks that its records use up the cursor.
 * @return HUDI_END after the last one; HUDI_CORRUPT also for a file that ends inside a block
 */
hudi_status hd_avro_container_next(struct hd_op *op, struct hd_avro_container *container,
                                   struct hd_cursor *records, uint64_t *n_records);

/**
 * Append a whole container file with one block (none for 0 records), codec null, and nothing but
 * avro.schema in its header, as Hudi writes its timeline files.
 * @param sync  NULL: a random one from the op
 */
hudi_status hd_avro_container_write(struct hd_op *op, struct hd_slice schema_json,
                                    struct hd_slice records, uint64_t n_records,
                                    const uint8_t *sync, struct hd_str *out);

#endif
