/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_VERIFY_H
#define HD_SERVICE_VERIFY_H

#include "base/arena.h"
#include "base/op.h"
#include "base/pool.h"
#include "format/table/config_keys.h"

/** One thing that a check found. Strings belong to the verification. */
struct hd_finding {
    const char *kind;    /* "missing-file": one of those that README.md of this folder lists */
    const char *where;   /* a path relative to the table, an instant, or a partition path */
    const char *message; /* one line */
};

/** What is wrong (findings) and what is worth knowing (notes), each sorted by (where, kind,
 * message). */
struct hd_verification {
    struct hd_arena arena;
    struct hd_finding *findings;
    size_t n_findings;
    struct hd_finding *notes;
    size_t n_notes;
    size_t n_files; /* base files that were opened, those of older slices among them */
    int64_t n_rows; /* in the base files of the latest slices */
};

/**
 * Check a whole table as it stands now: properties, timeline, that every file of a completed write
 * is there, and of each base file what its footer and its commit say against what is in it.
 * Damage is a finding and no failure. Nothing is changed. Writers may be at work meanwhile.
 *
 * Memory: the write stats of the active timeline, one listing of some folders at a time, and 64
 * bits for each row of some partitions, of the op's budget (more than that takes several passes).
 *
 * With libhudi.verify.quick only the meta columns are read, not all of each file.
 *
 * @param out  set on success, release with hd_verification_clear()
 * @return HUDI_NOT_FOUND when there is no table, HUDI_IO when folders cannot be listed,
 *         HUDI_CANCELLED, HUDI_NO_MEMORY
 */
hudi_status hd_verify(struct hd_op *op, hd_pool *pool, const char *uri,
                      const struct hd_options *options, struct hd_verification *out);
void hd_verification_clear(struct hd_verification *verification);

#endif
