/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_STREAM_H
#define HD_ARROW_STREAM_H

#include "arrow/type.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/** Pull from somebody's stream. @return HUDI_END after the last batch; HUDI_IO (or what the errno
 * says, or the very status when the stream is one of ours) with the stream's own message. */
hudi_status hd_stream_schema(struct hd_op *op, struct ArrowArrayStream *stream,
                             struct ArrowSchema *out);
hudi_status hd_stream_next(struct hd_op *op, struct ArrowArrayStream *stream,
                           struct ArrowArray *out);
/** Release if not released; all zero after. */
void hd_stream_clear(struct ArrowArrayStream *stream);

/** What a source of batches of ours implements to become an ArrowArrayStream. */
struct hd_stream_ops {
    /** Copy the schema. */
    hudi_status (*schema)(struct hd_op *op, void *self, struct ArrowSchema *out);
    /** The next batch or HUDI_END. */
    hudi_status (*next)(struct hd_op *op, void *self, struct ArrowArray *out);
    void (*close)(void *self);
};

/** Export: `self` is closed when the stream is released; on failure it stays the caller's. The `op`
 * of the calls is a child of `parent` and owned by the stream: errors become its last error
 * ("MESSAGE" or "PATH: MESSAGE", errno EIO, EINVAL, ENOMEM, ENOSYS, ECANCELED) and stay: a stream
 * that failed goes on failing. What `parent` points to (budget, cancel flag, clock) must outlive
 * the stream. */
hudi_status hd_stream_export(struct hd_op *parent, const struct hd_stream_ops *ops, void *self,
                             struct ArrowArrayStream *out);

/** A stream over `n` batches (moved in and zeroed; released on failure) of one schema (copied). */
hudi_status hd_stream_of_batches(struct hd_op *op, const struct ArrowSchema *schema,
                                 struct ArrowArray *batches, int64_t n,
                                 struct ArrowArrayStream *out);

#endif
