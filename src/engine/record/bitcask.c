/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/bitcask.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/cursor.h"
#include "engine/record/disk_record.h"
#include "engine/record/spillable_map_index.h"
#include "store/temporary_file.h"

/*
 * Records (disk_record.h), nothing else.
 *
 * Invariants
 *  1. Records follow each other without gap: record i is at offsets[i] .. offsets[i + 1].
 *  2. What is not in the file yet, from `n_written` on, is in `tail`; no record is in both.
 *  3. A failed append changes nothing: a tail that could not be written is written again later.
 */
#define WRITE_BYTES (128u << 10) /* the tail is written when it would pass this */
#define READ_BYTES (256u << 10)  /* of neighbours at once */
#define GAP_BYTES 4096u          /* reading this much in vain is cheaper than another call */
#define GROUP_BYTES 2048u

struct bitcask {
    int file;
    bool compress;
    char *folder;
    struct hd_str tail;
    uint64_t n_written;
    uint64_t *offsets; /* n_groups + 1 */
    size_t offsets_capacity;
    size_t n_groups;
    uint64_t reserved_bytes; /* of the budget */
};

int hd_bitcask_file(const void *store)
{
    return ((const struct bitcask *)store)->file;
}

/* ---- open, close -------------------------------------------------------------------------- */

static void close_store(struct hd_op *op, void *store)
{
    struct bitcask *const b = store;

    if (b == NULL)
        return;
    if (b->file >= 0)
        close(b->file); /* nothing in it is wanted any more */
    hd_budget_release(op, b->reserved_bytes);
    hd_str_clear(&b->tail);
    hd_free(op, b->offsets);
    hd_free(op, b->folder);
    hd_free(op, b);
}

static hudi_status open_store(struct hd_op *op, const char *folder, bool compress, void **out)
{
    struct bitcask *b;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *b, &b));
    b->file = -1;
    b->compress = compress;
    HD_TRY_OUT(hd_strdup(op, folder, &b->folder));
    HD_TRY_OUT(hd_grow_reserved(op, &b->offsets, &b->offsets_capacity, 1, sizeof *b->offsets,
                                "places on disk", &b->reserved_bytes));
    b->offsets[0] = 0;
    HD_TRY_OUT(hd_temporary_file(op, folder, &b->file));
    *out = b;
    b = NULL;
out:
    close_store(op, b);
    return status;
}

/* ---- append ------------------------------------------------------------------------------- */

static hudi_status write_tail(struct hd_op *op, struct bitcask *b)
{
    size_t done = 0;

    if (b->tail.size == 0)
        return HUDI_OK;
    HD_TRY(hd_op_fault_point(op, "write"));
    while (done < b->tail.size) {
        const ssize_t n =
            pwrite(b->file, b->tail.data + done, b->tail.size - done, (off_t)(b->n_written + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || n == 0) {
            const hudi_status status =
                hd_fail_errno(op, n == 0 ? ENOSPC : errno,
                              "%zu bytes of spilled records, after %" PRIu64 " written before",
                              b->tail.size, b->n_written);
            return hd_fail_path(op, status, b->folder);
        }
        done += (size_t)n;
    }
    b->n_written += done;
    b->tail.size = 0;
    return HUDI_OK;
}

static hudi_status append(struct hd_op *op, void *store, const struct hd_disk_group *group)
{
    struct bitcask *const b = store;

    HD_TRY(hd_grow_reserved(op, &b->offsets, &b->offsets_capacity, b->n_groups + 2,
                            sizeof *b->offsets, "places on disk", &b->reserved_bytes));
    if (b->tail.size + group->ends[group->n_rows - 1] > WRITE_BYTES)
        HD_TRY(write_tail(op, b));
    HD_TRY(hd_disk_record_append(op, group, b->compress, &b->tail));
    b->offsets[++b->n_groups] = b->n_written + b->tail.size;
    return HUDI_OK;
}

/* ---- read --------------------------------------------------------------------------------- */

struct reading {
    struct hd_op *op;
    const struct bitcask *store;
    hd_disk_group_visit visit;
    void *self;
    struct hd_str bytes; /* of neighbouring records */
    struct hd_disk_record_reader reader;
};

static hudi_status take_record(struct reading *r, struct hd_cursor in, size_t i)
{
    struct hd_disk_group group;
    const hudi_status status = hd_disk_record_decode(r->op, &r->reader, in, &group);

    if (status != HUDI_OK)
        return hd_fail_path(r->op, status, r->store->folder);
    return r->visit(r->op, r->self, i, &group);
}

static hudi_status read_file(struct reading *r, uint64_t offset, uint64_t n)
{
    const struct bitcask *const b = r->store;

    HD_TRY(hd_op_fault_point(r->op, "read"));
    r->bytes.size = 0;
    HD_TRY(hd_str_reserve(r->op, &r->bytes, n));
    while (r->bytes.size < n) {
        const ssize_t got = pread(b->file, r->bytes.data + r->bytes.size, n - r->bytes.size,
                                  (off_t)(offset + r->bytes.size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hd_fail_path(r->op,
                                hd_fail_errno(r->op, errno, "spilled records at byte %" PRIu64,
                                              offset + r->bytes.size),
                                b->folder);
        if (got == 0)
            return hd_fail_path(r->op,
                                hd_fail(r->op, HUDI_CORRUPT,
                                        "spilled records at byte %" PRIu64 " are cut short",
                                        offset),
                                b->folder);
        r->bytes.size += (size_t)got;
    }
    return HUDI_OK;
}

/* The groups from `i` on that one read covers; returns where it ends. */
static uint64_t extent(const struct bitcask *b, const uint64_t *groups, size_t n, size_t i,
                       size_t *end)
{
    const uint64_t start = b->offsets[groups[i]];
    uint64_t stop = b->offsets[groups[i] + 1];

    for (i++; i < n; i++) {
        const uint64_t from = b->offsets[groups[i]], to = b->offsets[groups[i] + 1];
        if (from >= b->n_written || from - stop > GAP_BYTES || to - start > READ_BYTES)
            break;
        stop = to;
    }
    *end = i;
    return stop;
}

static hudi_status read_groups(struct reading *r, const uint64_t *groups, size_t n)
{
    const struct bitcask *const b = r->store;
    size_t i = 0;

    for (size_t end; i < n && b->offsets[groups[i]] < b->n_written; i = end) {
        const uint64_t start = b->offsets[groups[i]];
        const uint64_t stop = extent(b, groups, n, i, &end);

        HD_TRY(read_file(r, start, stop - start));
        for (size_t k = i; k < end; k++) {
            const uint64_t from = b->offsets[groups[k]], to = b->offsets[groups[k] + 1];
            HD_TRY(
                take_record(r, hd_cursor_over(r->bytes.data + (from - start), to - from, from), k));
        }
    }
    for (; i < n; i++) {
        const uint64_t from = b->offsets[groups[i]], to = b->offsets[groups[i] + 1];
        HD_TRY(take_record(r, hd_cursor_over(b->tail.data + (from - b->n_written), to - from, from),
                           i));
    }
    return HUDI_OK;
}

static hudi_status read_store(struct hd_op *op, const void *store, const uint64_t *groups, size_t n,
                              hd_disk_group_visit visit, void *self)
{
    struct reading r = {.op = op, .store = store, .visit = visit, .self = self};
    const hudi_status status = read_groups(&r, groups, n);

    hd_str_clear(&r.bytes);
    hd_disk_record_reader_clear(op, &r.reader);
    return status;
}

static uint64_t disk_bytes(const void *store)
{
    return ((const struct bitcask *)store)->n_written;
}

static uint64_t memory_bytes(const void *store)
{
    const struct bitcask *const b = store;

    return b->tail.capacity + b->reserved_bytes;
}

const struct hd_disk_store_ops hd_bitcask_ops = {
    .open = open_store,
    .close = close_store,
    .append = append,
    .read = read_store,
    .disk_bytes = disk_bytes,
    .memory_bytes = memory_bytes,
    .group_bytes = GROUP_BYTES,
};
