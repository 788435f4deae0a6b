/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_UPSERT_SPOOLED_H
#define HD_ENGINE_UPSERT_SPOOLED_H

/*
 * An upsert of more records than fit into memory, in passes over files on disk:
 *
 *   1. as they come: records to buckets by the hash of their key              (upsert_spooled.c)
 *   2. in rounds of some buckets: pre-combined and looked up as ever; hits to one bucket a round
 * and lane in the order of slices and rows, inserts to buckets by where they go: the small file
 *      that they fill up, or the partition whose new file groups they make    (upsert_spooled.c)
 *   3. lanes, side by side: the rounds' hits merged into one sequence by slice and row, which the
 *      handles take from as they go through the old file, and the small files' inserts
 *                                                                      (upsert_spooled_write.c)
 *   4. inserts of new file groups, streamed into new files             (upsert_spooled_write.c)
 *
 * Memory holds a round's keys in pass 2, a chunk of each round a lane in pass 3: nothing that grows
 * with a file group. A lane is a range of slices; their number follows from the budget. A record as
 * it lies on disk, integers little-endian:
 *
 *   u32 partition number | u32 slice number + 1, 0: a new file group | i64 row of the old file, -1:
 * an insert | u8 flags | u32 key bytes | key | the row (record/row_codec.h)
 */

#include "arrow/builder.h"
#include "engine/record/row_spool.h"
#include "engine/write/assign.h"
#include "engine/write/upsert_internal.h"

#define HD_SPOOL_SLICE_BUCKETS 128
#define HD_SPOOL_PARTITION_BUCKETS 128
#define HD_SPOOL_BATCH_ROWS 16384

enum {
    HD_SPOOLED_DROP = 1,     /* the old row is dropped */
    HD_SPOOLED_LOG_DROP = 2, /* in a log the record is a delete: all its rows are dropped */
    HD_SPOOLED_AGAIN = 4,    /* another row of the file has brought this record to its log */
    HD_SPOOLED_OLDER = 8,    /* a newer record of its key follows: for logs only */
};

struct hd_upsert_spooled {
    hd_row_spool *by_key;
    hd_row_spool *hits; /* bucket round * n_lanes + lane */
    uint32_t n_lanes;
    uint32_t n_rounds;
    hd_row_spool *inserts;       /* by slice, then by partition */
    uint32_t *insert_counts;     /* of each slice */
    struct hd_small_file *small; /* of all partitions, in slice order; room goes down */
    size_t n_small;
    uint32_t first_bucket; /* of those in the map */
    struct hd_str record;  /* scratch */
};

/** A record's head, as it was read. */
struct hd_spooled_head {
    uint32_t partition;
    uint32_t slice; /* number + 1 */
    int64_t row;
    uint8_t flags;
    struct hd_slice key;
};
hudi_status hd_spooled_head_take(struct hd_op *op, struct hd_cursor *in,
                                 struct hd_spooled_head *out);

/** How many lanes: each has a file group's handle open. */
uint32_t hd_upsert_lanes(const struct hd_op *op, const hd_upsert *upsert);
static inline uint32_t hd_upsert_lane(const hd_upsert *upsert, size_t slice)
{
    return (uint32_t)(slice * upsert->spooled->n_lanes / upsert->n_slices);
}

/** Bucket of the inserts into a slice. */
static inline uint32_t hd_spool_slice_bucket(const hd_upsert *upsert, size_t slice)
{
    return (uint32_t)(slice * HD_SPOOL_SLICE_BUCKETS / upsert->n_slices);
}

/** Records of a bucket as batches. */
struct hd_bucket_reader {
    const hd_upsert *upsert;
    const hd_row_spool *spool;
    struct hd_row_spool_reader place;
    uint32_t slice; /* only records with this one; 0: all */
    hd_builder *rows;
    hd_builder *keys;
    struct ArrowSchema key_field;
    uint32_t *partitions;
};
hudi_status hd_bucket_reader_open(struct hd_op *op, const hd_upsert *upsert,
                                  const hd_row_spool *spool, struct hd_bucket_reader *out);
/** Takes a reader that is all zero. */
void hd_bucket_reader_close(struct hd_op *op, struct hd_bucket_reader *reader);
/** @param slice  number + 1, 0: records of all slices */
void hd_bucket_reader_start(struct hd_bucket_reader *reader, uint32_t bucket, uint32_t slice);
/** The next records; HUDI_END. */
hudi_status hd_bucket_reader_next(struct hd_op *op, struct hd_bucket_reader *reader,
                                  struct hd_input_batch *out);

/** Passes 3 and 4. */
hudi_status hd_upsert_write_spooled(struct hd_op *op, hd_upsert *upsert);

#endif
