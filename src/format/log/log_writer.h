/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_WRITER_H
#define HD_FORMAT_LOG_WRITER_H

#include <stdbool.h>

#include "base/op.h"
#include "base/str.h"
#include "store/file_system.h"

/**
 * Writes groups of blocks to the log files of one file group. A group is never split over files.
 * Nothing is made before the first group.
 *
 * Unless asked to write on in the newest one, files are never written to by two: the first version
 * that is asked for, the next one while a name is taken, and again the next one when a file has
 * grown past `max_bytes`. A file gets its name when it is whole and on disk, so a writer that dies
 * leaves no torn block, which releases before 0.11 cannot read past: only a temporary file that
 * nobody looks at. docs/format/log-format.md 9.2
 *
 * Of a file that is written on all blocks show as they come, and a writer that dies may leave a
 * torn one. So it is not written on behind a torn block, nor when it has grown past `max_bytes`:
 * the next version is begun. Failing, it is cut back to what it was.
 *
 * Source: HoodieLogFormatWriter (Hudi 0.15.0), on stores without append and with it
 */
typedef struct hd_log_writer hd_log_writer;

/** Whether a name is that of a temporary file which the writer of instant `time` made. */
bool hd_log_temporary_is_of(const char *name, const char *time);

/** Strings are copied. */
struct hd_log_target {
    hd_file_system *fs;
    const char *table_path;
    const char *partition_path; /* its folder exists */
    const char *file_id;
    const char *instant; /* in the name: the slice's base instant below version 8 */
    const char *writer;  /* instant that writes: in the names of temporary files */
    const char *write_token;
    const char
        *last_file;     /* name of the newest log file, to be written on; NULL: it is left alone */
    const char *suffix; /* of the names: ".cdc", static; NULL: none */
    uint32_t first_version; /* one above the newest log file of that instant */
    uint64_t max_bytes;     /* hoodie.logfile.max.size */
    /* Called before a file of that name is begun, or written on, which then need not come to be;
     * NULL: nobody needs to know. */
    hudi_status (*announce)(struct hd_op *op, void *self, const char *file_name);
    void *self;
};

/** Where a group of blocks went. Strings belong to the writer, until it is closed. */
struct hd_log_append {
    const char *file_name;
    const char *path; /* relative to the table */
    uint32_t version;
    uint64_t offset;
    uint64_t size_bytes; /* of the group */
};

hudi_status hd_log_writer_open(struct hd_op *op, const struct hd_log_target *target,
                               hd_log_writer **out);

/** Write a group of blocks, given as parts that are written one after the other. After a failure
 * the writer can only be aborted. */
hudi_status hd_log_writer_append(struct hd_op *op, hd_log_writer *writer,
                                 const struct hd_slice *parts, size_t n_parts,
                                 struct hd_log_append *out);

/** All files are on disk under their names, which are durable once the partition's folder is
 * synced. Frees the writer in any case. @return HUDI_CONFLICT when somebody took a name meanwhile
 */
hudi_status hd_log_writer_close(struct hd_op *op, hd_log_writer *writer);

/** Remove the file that is open and free. Files filled before stay: whoever announced them knows
 * them. Takes NULL. */
void hd_log_writer_abort(struct hd_op *op, hd_log_writer *writer);

#endif
