/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_AVRO_DECODER_INTERNAL_H
#define HD_ARROW_AVRO_DECODER_INTERNAL_H

#include "arrow/avro_decoder.h"
#include "arrow/builder_internal.h"
#include "base/arena.h"

/* Between the files of the decoder: avro_decoder_compile.c makes programs, avro_decoder.c runs
 * them.
 *
 * A program is a flat array of steps, in the order of the record's bytes. A step with parts has
 * them right behind it, up to `end`:
 *
 *     record   DO_OPEN (of a union with null alone)  steps of the fields in the writer's order,
 *              DO_NULL and DO_CONSTANT for columns that the writer lacks, DO_CLOSE
 *     array    DO_LIST  steps of one item
 *     map      DO_MAP  DO_STRING (the key)  steps of one value
 *     union    DO_UNION  steps of each branch, each but the last with a DO_JUMP behind it
 *     default  DO_CONSTANT  steps that read the constant's bytes
 *
 * A union of null and one more is no step: `null_branch` says on the first step of the other
 * branch which of the two positions is null, and null continues at `end`.
 */

enum hd_avro_step_code {
    /* A value to a column of its own type; the builder has room for the row. */
    DO_BOOL,
    DO_INT,  /* also dates, times in 32 bits */
    DO_LONG, /* also times, timestamps */
    DO_INT_TO_LONG,
    DO_FLOAT,
    DO_DOUBLE,
    DO_STRING, /* checked for UTF-8 */
    DO_BYTES,
    DO_FIXED,
    DO_ENUM,
    DO_DECIMAL, /* on bytes */
    DO_DECIMAL_FIXED,
    DO_CONVERT, /* any other pair of types without parts */
    DO_NULL,    /* takes no bytes */
    DO_REFUSE,  /* a branch that does not fit the column */
    /* Structure. */
    DO_OPEN,
    DO_CLOSE,
    DO_LIST,
    DO_MAP,
    DO_UNION,
    DO_JUMP,
    DO_CONSTANT,
    /* Values that are not wanted. */
    DO_SKIP_LONG,
    DO_SKIP_BYTES,
    DO_SKIP_N,
    DO_SKIP,
};

#define HD_AVRO_NOT_NULLABLE 0xff /* null_branch of what is not in a union with null */

struct hd_avro_step {
    uint8_t code;
    uint8_t null_branch; /* 0, 1 or HD_AVRO_NOT_NULLABLE */
    bool nullable;       /* the column takes nulls */
    bool by_text;        /* DO_CONVERT: a float to a double, by way of its text */
    uint32_t end;        /* the step behind this one and its parts */
    hd_builder *to;      /* NULL when nothing is wanted */
    const char *path;    /* of the field, for messages; in the arena */
    const struct hd_avro_schema *avro;
    const struct ArrowSchema *wanted; /* in the decoder's copy */
    union {
        uint64_t n_bytes;               /* DO_FIXED, DO_DECIMAL_FIXED, DO_SKIP_N */
        uint64_t item_min_bytes;        /* DO_LIST, DO_MAP */
        const uint32_t *branches;       /* DO_UNION: first steps */
        struct hd_slice constant;       /* DO_CONSTANT */
        struct hd_type from;            /* DO_CONVERT: what the value is taken for */
        const struct hd_slice *symbols; /* DO_ENUM */
    } u;
};

struct hd_avro_decoder {
    struct hd_avro_step *steps;
    size_t n_steps;
    size_t capacity;
    struct hd_arena arena;
    struct ArrowSchema wanted; /* a copy */
    hd_builder *root;          /* a struct */
    uint64_t bytes;
    int64_t first_rows; /* room that is made for the first row of a batch */
};

/** Fill `decoder->steps`; `wanted`, `root` and an empty arena are there. */
hudi_status hd_avro_decoder_compile(struct hd_op *op, const struct hd_avro_schema *writer,
                                    const struct hd_avro_decoder_options *options,
                                    struct hd_avro_decoder *decoder);

/** Big-endian two's complement of any length but 0. false when it does not fit 128 bits. */
bool hd_avro_decimal_load(struct hd_slice bytes, hd_int128 *out);

/** A place in bytes that a program reads. */
struct hd_avro_input {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *start;
    uint64_t file_offset; /* of `start` */
};

/** DO_CONVERT: read the value at `in` and append it as the column has it. */
hudi_status hd_avro_step_convert(struct hd_op *op, const struct hd_avro_step *step,
                                 struct hd_avro_input *in, int64_t row);

/** HUDI_CORRUPT naming the field and the byte. */
hudi_status hd_avro_step_corrupt(struct hd_op *op, const struct hd_avro_step *step,
                                 const struct hd_avro_input *in, const char *what)
    __attribute__((cold));

/** A zig-zag number; false when it is cut short or longer than 64 bits. */
static inline bool hd_avro_input_long(struct hd_avro_input *in, int64_t *out)
{
    const uint8_t *at = in->at;
    uint64_t value = 0;

    for (unsigned shift = 0; at < in->end && shift < 64; shift += 7) {
        const uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            in->at = at;
            *out = (int64_t)(value >> 1 ^ (0 - (value & 1)));
            return true;
        }
    }
    return false;
}

/** Bytes with their length before them, in place. */
static inline bool hd_avro_input_bytes(struct hd_avro_input *in, struct hd_slice *out)
{
    int64_t size;

    if (!hd_avro_input_long(in, &size) || size < 0 || size > in->end - in->at)
        return false;
    *out = hd_slice_of(in->at, (size_t)size);
    in->at += size;
    return true;
}

/** The next `n` bytes, in place. */
static inline bool hd_avro_input_take(struct hd_avro_input *in, uint64_t n, const uint8_t **out)
{
    if (n > (uint64_t)(in->end - in->at))
        return false;
    *out = in->at;
    in->at += n;
    return true;
}

#endif
