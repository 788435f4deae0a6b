/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_VERIFY_INTERNAL_H
#define HD_SERVICE_VERIFY_INTERNAL_H

#include "base/map.h"
#include "engine/record/key_generator.h"
#include "format/layout/file_name.h"
#include "format/layout/table_snapshot.h"
#include "service/verify.h"
#include "store/base_file.h"

/* ---- what was found: verify_report.c -------------------------------------------------------- */

/* Found by one task; put together at the end. */
struct hd_report_entry {
    bool is_note;
    struct hd_finding finding;
    const char *instant; /* that a look at a later timeline may explain, or NULL */
};
struct hd_report {
    struct hd_arena arena;
    struct hd_report_entry *entries;
    size_t n_entries;
    size_t capacity;
};

hudi_status hd_report_finding(struct hd_op *op, struct hd_report *report, const char *kind,
                              const char *where, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
hudi_status hd_report_note(struct hd_op *op, struct hd_report *report, const char *kind,
                           const char *where, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Say of the entry added last that a later timeline may explain it. */
hudi_status hd_report_of_instant(struct hd_op *op, struct hd_report *report, struct hd_slice time);

/** Turn the failure `status` of reading `where` into a finding `kind` (CORRUPT, IO, INVALID), or
 * into a note "not-checked" (NOT_IMPLEMENTED), and clear the op's error. Any other one is returned.
 */
hudi_status hd_report_failure(struct hd_op *op, struct hd_report *report, hudi_status status,
                              const char *kind, const char *where);

/** Move all entries of `from` (emptied). */
hudi_status hd_report_merge(struct hd_op *op, struct hd_report *into, struct hd_report *from);
void hd_report_clear(struct hd_report *report);

/** Sort and hand over. */
hudi_status hd_report_publish(struct hd_op *op, const struct hd_report *report,
                              struct hd_verification *out);

/* ---- what the timeline says: verify_timeline.c ---------------------------------------------- */

/* What one commit says that it wrote to a log file, and what its blocks there hold. */
struct hd_expected_write {
    struct hd_expected_write *next;
    const char *instant;
    size_t file; /* number in files */
    int64_t n_records, n_deletes;
    int64_t n_found_records, n_found_deletes;
    bool is_unsure; /* several files of the group: Hudi 0.15 counts deletes for the first, and
                       writes them to the last */
};

/* A file that the commit of an instant on the active timeline names. */
struct hd_expected_file {
    const char *path;       /* relative to the table */
    const char *instant;    /* in its name: of a log file below version 8 its base file's */
    const char *written_by; /* the first instant whose commit names it */
    size_t group;           /* number in groups */
    int64_t n_rows;
    int64_t n_bytes; /* 0: not said */
    bool is_log;
    bool seen;                        /* by the listing of its folder */
    struct hd_expected_write *writes; /* to a log file, the newest first */
};

struct hd_expected_group {
    const char *newest_base;              /* instant of its newest base file, NULL: none */
    const char *replaced_by;              /* time of a completed replacecommit, or NULL */
    struct hd_expected_write *last_write; /* to a log file of it */
};

struct hd_expectations {
    struct hd_arena arena;
    struct hd_map paths; /* path -> file number */
    struct hd_expected_file *files;
    size_t n_files;
    size_t file_capacity;
    struct hd_map group_names; /* "partition/file id" -> group number */
    struct hd_expected_group *groups;
    size_t n_groups;
    size_t group_capacity;
    struct hd_map unread;      /* times of completed instants whose commits could not be read */
    struct hd_map archived;    /* times -> 1 when completed there */
    const char *archive_start; /* NULL: nothing is archived, or it cannot be read */
    const char *last_clean;    /* time of the newest completed clean or restore, or NULL */
    bool only_upserts;         /* every completed write known keeps keys unique */
};

/* ---- the check -------------------------------------------------------------------------------*/

struct hd_verify {
    hd_pool *pool;
    const struct hd_options *options;
    struct hd_table_snapshot table;
    struct hd_expectations expected;
    enum hd_complex_encoding key_encoding;
    bool quick;
    size_t max_hashes; /* of keys held at a time */
    HD_ATOMIC(size_t) n_hashes;
    struct hd_report report;
    size_t n_files;
    int64_t n_rows;
};

/** Check the instants and gather what their commits say. */
hudi_status hd_verify_timeline(struct hd_op *op, struct hd_verify *verify);
void hd_expectations_clear(struct hd_expectations *expected);

/** A pending instant that is no rollback: who is behind it, and whether its plan can be carried
 * out: verify_pending.c. */
hudi_status hd_verify_pending(struct hd_op *op, struct hd_verify *verify,
                              const struct hd_instant *instant);
/** Heartbeats of writers that are gone. */
hudi_status hd_verify_heartbeats(struct hd_op *op, struct hd_verify *verify);

/** A file or row that carries `time` belongs to a completed write, by all that is known. */
bool hd_verify_is_committed(const struct hd_verify *verify, const char *time);

/** Files of completed writes that the listing did not see. */
hudi_status hd_verify_missing(struct hd_op *op, struct hd_verify *verify);

/** Number of the group, or SIZE_MAX for one that no commit names. */
hudi_status hd_expected_group_find(struct hd_op *op, const struct hd_expectations *expected,
                                   const char *partition_path, struct hd_slice file_id,
                                   size_t *out);

/* ---- folders and files: verify_folders.c ---------------------------------------------------- */

struct hd_verify_folder;

/* A base file of a completed write, or a log file. */
struct hd_verify_file {
    const char *path;
    const char *name;
    struct hd_file_name parsed; /* of `name` */
    const char *instant;
    uint64_t n_bytes;
    const struct hd_expected_file *expected; /* NULL: its commit is archived */
    bool is_latest;                          /* of its file group */
    int64_t n_rows;                          /* -1: could not be opened */
    bool keys_readable;
    struct hd_verify_folder *folder;
    struct hd_report report;
    /* Of the keys of a latest slice, sorted; verify_duplicates.c. */
    uint64_t *hashes;
    size_t n_hashes;
    uint64_t reserved_bytes; /* of the budget, for `hashes` */
};

struct hd_verify_folder {
    const char *path; /* relative to the table: a partition path */
    struct hd_arena arena;
    struct hd_report report;
    bool has_metafile;
    bool has_data;
    hd_atomic_bool too_many_keys; /* hashes of its files are not complete */
    struct hd_verify_file *files; /* sorted by name */
    size_t n_files;
    struct hd_verify_file *logs;
    size_t n_logs;
    const char **below; /* names of the folders in it */
    size_t n_below;
};

/** List all folders, compare with what is expected, check each base file. */
hudi_status hd_verify_folders(struct hd_op *op, struct hd_verify *verify);

/** Take apart the listing of one folder; verify_listing.c. A folder that is gone is empty. */
hudi_status hd_verify_list(struct hd_op *op, struct hd_verify *verify,
                           struct hd_verify_folder *folder);

/** Open a base file and check it against footer, commit and timeline; verify_base_file.c. */
hudi_status hd_verify_base_file(struct hd_op *op, struct hd_verify *verify,
                                struct hd_verify_file *file);

/** Read the blocks of a log file: frames, headers, and unless quick all rows; verify_log_file.c. */
hudi_status hd_verify_log_file(struct hd_op *op, struct hd_verify *verify,
                               struct hd_verify_file *file);

/** HUDI_NOT_FOUND sets an error. */
hudi_status hd_verify_open(struct hd_op *op, const struct hd_verify *verify,
                           const struct hd_verify_file *file, hd_base_reader **out);

/* ---- keys that occur twice in a partition: verify_duplicates.c ------------------------------ */

/** Get ready for the hashes of `n_rows` keys; what does not fit into memory is left to
 * hd_verify_duplicates(). */
hudi_status hd_key_hashes_begin(struct hd_op *op, struct hd_verify *verify,
                                struct hd_verify_file *file, int64_t n_rows);
/** Add keys, in any number; without effect unless hd_key_hashes_begin() found room. */
void hd_key_hashes_add(struct hd_verify_file *file, const struct hd_slice *keys, size_t n);
/** No more keys of this file. */
void hd_key_hashes_end(struct hd_verify_file *file);
void hd_key_hashes_clear(struct hd_op *op, struct hd_verify_file *file);

/** Find keys that occur more than once in the latest slices of the folder. */
hudi_status hd_verify_duplicates(struct hd_op *op, struct hd_verify *verify,
                                 struct hd_verify_folder *folder);

/** Marker folders that were left; verify_listing.c. */
hudi_status hd_verify_leftovers(struct hd_op *op, struct hd_verify *verify);

#endif
