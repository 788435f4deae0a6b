/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROW_SPOOL_H
#define HD_ENGINE_ROW_SPOOL_H

#include "base/op.h"
#include "base/str.h"

/**
 * Records on disk, in numbered buckets: appended in any order, read bucket by bucket in the order
 * they were appended. One file without a name, so that a killed process leaves nothing. In memory
 * there is one buffer a bucket while appending, one while reading. One thread at a time.
 */
typedef struct hd_row_spool hd_row_spool;

/** `folder` NULL: TMPDIR, else /tmp. */
hudi_status hd_row_spool_new(struct hd_op *op, const char *folder, uint32_t n_buckets,
                             hd_row_spool **out);
void hd_row_spool_free(struct hd_op *op, hd_row_spool *spool);

hudi_status hd_row_spool_append(struct hd_op *op, hd_row_spool *spool, uint32_t bucket,
                                struct hd_slice record);
/** All records are appended: what is buffered goes to the file, the buffers go. */
hudi_status hd_row_spool_seal(struct hd_op *op, hd_row_spool *spool);

/** Start over with a bucket. */
void hd_row_spool_rewind(hd_row_spool *spool, uint32_t bucket);
/** The bucket's next record, valid until the next call; HUDI_END. @return HUDI_CORRUPT, HUDI_IO */
hudi_status hd_row_spool_next(struct hd_op *op, hd_row_spool *spool, struct hd_slice *out);

#endif
