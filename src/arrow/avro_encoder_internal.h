/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_AVRO_ENCODER_INTERNAL_H
#define HD_ARROW_AVRO_ENCODER_INTERNAL_H

#include "arrow/avro_encoder.h"
#include "arrow/view.h"
#include "base/arena.h"

/* Between the files of the encoder: avro_encoder_compile.c makes programs, avro_encoder.c runs
 * them.
 *
 * A program is a flat array of steps in the order of the record's bytes. A step with parts has them
 * right behind it, up to `end`: those of a record's fields, of an array's item, of a map's key and
 * value. A union is part of the step of the branch that its column goes into.
 */

enum hd_avro_put_code {
    PUT_CONSTANT, /* a field without column */
    PUT_NULL,     /* a column of type null: never a value */
    PUT_BOOL,
    PUT_INT32, /* int32 values, as int or long */
    PUT_INT64,
    PUT_FLOAT,
    PUT_DOUBLE,
    PUT_TEXT,  /* strings and bytes */
    PUT_FIXED, /* of its own width */
    PUT_ENUM,
    PUT_UUID, /* text into fixed(16) */
    PUT_DECIMAL,
    PUT_DECIMAL_FIXED,
    PUT_CONVERT, /* any other pair of types without parts */
    PUT_RECORD,
    PUT_LIST,
    PUT_MAP,
};

#define HD_AVRO_REFUSED (-1)  /* null is */
#define HD_AVRO_NO_BYTES (-2) /* null takes */

struct hd_avro_put {
    uint8_t code;
    int32_t branch;                    /* of the union that the value is put into, -1: no union */
    int32_t null_branch;               /* HD_AVRO_REFUSED, HD_AVRO_NO_BYTES */
    uint32_t end;                      /* the step behind this one and its parts */
    uint32_t view;                     /* the column: a slot of the encoder's */
    const char *path;                  /* for messages; in the arena */
    const struct hd_avro_schema *avro; /* not the union */
    struct hd_type to;                 /* what `avro` stands for */
    struct hd_type from;               /* PUT_CONVERT: what the column's values are taken for */
    struct hd_slice constant;
};

/** How to find a column in a batch: child `child` of the view in slot `parent`. */
struct hd_avro_slot {
    uint32_t parent;
    int32_t child;
};

struct hd_avro_encoder {
    struct hd_avro_put *steps;
    size_t n_steps;
    size_t steps_capacity;
    struct hd_avro_slot *slots; /* 0 is the batch */
    size_t n_slots;
    size_t slots_capacity;
    const struct hd_view **views; /* by slot; of the batch being encoded */
    struct hd_arena arena;        /* of the program */
    struct hd_arena batch_arena;  /* of the views */
    struct ArrowSchema rows;      /* a copy */
};

/** Fill steps and slots; `rows` and an empty arena are there. */
hudi_status hd_avro_encoder_compile(struct hd_op *op, const struct hd_avro_schema *writer,
                                    struct hd_avro_encoder *encoder);

#endif
