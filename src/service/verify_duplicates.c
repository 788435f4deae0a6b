/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/stored_keys.h"
#include "service/verify_internal.h"

/*
 * Keys that stand more than once in the latest slices of a partition, with 8 bytes for each key.
 *
 *  1. While its files are checked, the hash of each key is kept, sorted for each file.
 *  2. The files' hashes are merged: equal ones side by side are candidates.
 *  3. Only when there are any, the keys are read again and the candidates compared as they are, so
 *     that a finding never rests on a hash.
 *
 * Without room for all hashes of a partition, step 1 is done anew in passes, each over those hashes
 * that fall into one of `n_passes` equal ranges.
 */

/* Candidates compared exactly; the number of more is by hash. */
#define MAX_CANDIDATES 1024
/* Different keys of one hash that are told apart. */
#define MAX_KEYS_OF_HASH 16
/* Hashes of a pass, at the least. */
#define MIN_PASS_HASHES 65536
#define MAX_PASSES 4096

struct candidate {
    uint64_t hash;
    size_t n_keys;                          /* different keys seen */
    struct hd_slice keys[MAX_KEYS_OF_HASH]; /* in the search's arena */
    const char *files[MAX_KEYS_OF_HASH];    /* where each was seen first */
    int64_t rows[MAX_KEYS_OF_HASH];
    bool is_duplicate;
};

struct search {
    struct hd_verify *verify;
    struct hd_verify_folder *folder;
    struct hd_arena arena;
    struct candidate *candidates; /* sorted by hash once they are complete */
    size_t n_candidates;
    uint64_t n_more; /* that found no room */
    /* What the finding says: the first in file order. */
    char *key;
    const char *files[2];
    int64_t rows[2];
};

/* ---- sorting hashes ------------------------------------------------------------------------- */

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* In place by the byte at `shift`, then each of its 256 parts by the one below. */
static void sort_hashes(uint64_t *hashes, size_t n, int shift)
{
    size_t ends[256] = {0}, starts[256], at = 0;

    if (n < 512) {
        if (n > 1)
            qsort(hashes, n, sizeof *hashes, compare_hashes);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ends[(hashes[i] >> shift) & 0xff]++;
    for (size_t b = 0; b < 256; b++) {
        starts[b] = at;
        at += ends[b];
        ends[b] = at;
    }
    for (size_t b = 0; b < 256; b++) {
        while (starts[b] < ends[b]) {
            const uint64_t hash = hashes[starts[b]];
            const size_t to = (hash >> shift) & 0xff;

            hashes[starts[b]] = hashes[starts[to]];
            hashes[starts[to]++] = hash;
        }
    }
    if (shift == 0)
        return;
    for (size_t b = 0, from = 0; b < 256; from = ends[b++])
        sort_hashes(hashes + from, ends[b] - from, shift - 8);
}

/* ---- step 1: while a file is checked -------------------------------------------------------- */

hudi_status hd_key_hashes_begin(struct hd_op *op, struct hd_verify *verify,
                                struct hd_verify_file *file, int64_t n_rows)
{
    const size_t n = n_rows > 0 ? (size_t)n_rows : 0;

    if (!file->is_latest || n == 0 || atomic_load(&file->folder->too_many_keys))
        return HUDI_OK;
    if (n > verify->max_hashes || atomic_fetch_add(&verify->n_hashes, n) > verify->max_hashes - n ||
        !hd_budget_try_reserve(op, n * sizeof *file->hashes)) {
        atomic_store(&file->folder->too_many_keys, true);
        return HUDI_OK;
    }
    file->reserved_bytes = n * sizeof *file->hashes;
    return hd_alloc_raw(op, n, sizeof *file->hashes, &file->hashes);
}

void hd_key_hashes_add(struct hd_verify_file *file, const struct hd_slice *keys, size_t n)
{
    const size_t capacity = (size_t)file->reserved_bytes / sizeof *file->hashes;

    if (file->hashes == NULL)
        return;
    for (size_t i = 0; i < n && file->n_hashes < capacity; i++)
        file->hashes[file->n_hashes++] = hd_hash_bytes(keys[i].data, keys[i].size);
}

void hd_key_hashes_end(struct hd_verify_file *file)
{
    if (file->hashes != NULL)
        sort_hashes(file->hashes, file->n_hashes, 56);
}

void hd_key_hashes_clear(struct hd_op *op, struct hd_verify_file *file)
{
    hd_free(op, file->hashes);
    if (file->reserved_bytes > 0)
        hd_budget_release(op, file->reserved_bytes);
    file->hashes = NULL;
    file->n_hashes = 0;
    file->reserved_bytes = 0;
}

/* ---- step 2: candidates --------------------------------------------------------------------- */

static hudi_status add_candidate(struct hd_op *op, struct search *search, uint64_t hash)
{
    if (search->candidates == NULL)
        HD_TRY(hd_alloc_array(op, MAX_CANDIDATES, sizeof *search->candidates, &search->candidates));
    if (search->n_candidates < MAX_CANDIDATES)
        search->candidates[search->n_candidates++].hash = hash;
    else
        search->n_more++;
    return HUDI_OK;
}

/* A sorted run of hashes, of one file. */
struct run {
    const uint64_t *at;
    const uint64_t *end;
};

/* Restore the heap (smallest first) below place `i`. */
static void sift_down(struct run *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (*heap[child].at < *heap[least].at)
                least = child;
        if (least == i)
            return;
        const struct run swapped = heap[i];
        heap[i] = heap[least];
        heap[least] = swapped;
        i = least;
    }
}

static hudi_status merge_runs(struct hd_op *op, struct search *search, struct run *heap, size_t n)
{
    uint64_t last = 0;
    size_t n_equal = 0;

    for (size_t i = n / 2; i > 0; i--)
        sift_down(heap, n, i - 1);
    while (n > 0) {
        const uint64_t hash = *heap[0].at;

        n_equal = n_equal > 0 && hash == last ? n_equal + 1 : 1;
        if (n_equal == 2)
            HD_TRY(add_candidate(op, search, hash));
        last = hash;
        if (++heap[0].at == heap[0].end)
            heap[0] = heap[--n];
        sift_down(heap, n, 0);
    }
    return HUDI_OK;
}

static hudi_status merge_files(struct hd_op *op, struct search *search)
{
    struct hd_verify_folder *const folder = search->folder;
    struct run *heap;
    size_t n = 0;

    HD_TRY(hd_alloc_array(op, folder->n_files, sizeof *heap, &heap));
    for (size_t i = 0; i < folder->n_files; i++)
        if (folder->files[i].n_hashes > 0)
            heap[n++] = (struct run){folder->files[i].hashes,
                                     folder->files[i].hashes + folder->files[i].n_hashes};
    const hudi_status status = merge_runs(op, search, heap, n);
    hd_free(op, heap);
    return status;
}

/* ---- reading keys again --------------------------------------------------------------------- */

typedef hudi_status take_keys(struct hd_op *op, void *self, const struct hd_verify_file *file,
                              const struct hd_view *keys, int64_t first_row);

static hudi_status read_keys(struct hd_op *op, struct search *search,
                             const struct hd_verify_file *file, take_keys *take, void *self)
{
    hudi_status status = HUDI_OK;
    const struct hd_verify *const verify = search->verify;
    hd_base_reader *reader = NULL;
    struct hd_stored_keys *keys = NULL;
    int32_t *row_groups = NULL;
    struct hd_view view;
    int64_t first_row;

    HD_TRY_OUT(hd_verify_open(op, verify, file, &reader));
    const int32_t n = hd_base_reader_n_row_groups(reader);
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *row_groups, &row_groups));
    for (int32_t i = 0; i < n; i++)
        row_groups[i] = i;
    HD_TRY_OUT(hd_stored_keys_open(op, &verify->table.config, verify->options, verify->key_encoding,
                                   reader, row_groups, n, &keys));
    while ((status = hd_stored_keys_next(op, keys, &view, &first_row)) == HUDI_OK) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        if (view.type.id != HD_TYPE_STRING && view.type.id != HD_TYPE_DICTIONARY)
            HD_TRY_OUT(hd_fail(op, HUDI_CORRUPT, "record keys are no strings"));
        HD_TRY_OUT(take(op, self, file, &view, first_row));
    }
    if (status == HUDI_END)
        status = HUDI_OK;
out:
    hd_stored_keys_close(op, keys);
    hd_base_reader_close(reader);
    hd_free(op, row_groups);
    return status;
}

/* All latest files whose keys could be read the first time; what fails now is told. */
static hudi_status read_folder(struct hd_op *op, struct search *search, take_keys *take, void *self)
{
    for (size_t i = 0; i < search->folder->n_files; i++) {
        const struct hd_verify_file *const file = &search->folder->files[i];

        if (!file->is_latest || !file->keys_readable)
            continue;
        const hudi_status status = read_keys(op, search, file, take, self);
        if (status == HUDI_NOT_FOUND)
            hd_op_clear_error(op); /* cleaned by now */
        else if (status != HUDI_OK)
            HD_TRY(hd_report_failure(op, &search->folder->report, status, "unreadable-file",
                                     file->path));
    }
    return HUDI_OK;
}

static struct hd_slice key_at(const struct hd_view *keys, int64_t row)
{
    return hd_view_is_null(keys, row) ? (struct hd_slice){0} : hd_view_bytes(keys, row);
}

/* ---- step 1 in passes ----------------------------------------------------------------------- */

struct pass {
    struct search *search;
    uint64_t *hashes;
    size_t n;
    size_t capacity;
    uint64_t number, n_passes;
    bool overflow;
};

static hudi_status take_pass(struct hd_op *op, void *self, const struct hd_verify_file *file,
                             const struct hd_view *keys, int64_t first_row)
{
    struct pass *const pass = self;

    (void)op, (void)file, (void)first_row;
    for (int64_t row = 0; row < keys->length && !pass->overflow; row++) {
        const struct hd_slice key = key_at(keys, row);
        const uint64_t hash = hd_hash_bytes(key.data, key.size);

        if (key.size == 0 || ((hash >> 32) * pass->n_passes) >> 32 != pass->number)
            continue;
        if (pass->n == pass->capacity)
            pass->overflow = true;
        else
            pass->hashes[pass->n++] = hash;
    }
    return HUDI_OK;
}

/* False in `*done` when a pass had too many hashes. */
static hudi_status run_passes(struct hd_op *op, struct pass *pass, bool *done)
{
    struct search *const search = pass->search;

    *done = false;
    search->n_candidates = 0;
    search->n_more = 0;
    for (pass->number = 0; pass->number < pass->n_passes; pass->number++) {
        pass->n = 0;
        HD_TRY(read_folder(op, search, take_pass, pass));
        if (pass->overflow)
            return HUDI_OK;
        sort_hashes(pass->hashes, pass->n, 56);
        struct run run = {pass->hashes, pass->hashes + pass->n};
        HD_TRY(merge_runs(op, search, &run, pass->n > 0));
    }
    *done = true;
    return HUDI_OK;
}

static size_t pass_capacity(struct hd_op *op, const struct hd_verify *verify, size_t n_rows)
{
    size_t capacity = n_rows < verify->max_hashes ? n_rows : verify->max_hashes;

    while (capacity > MIN_PASS_HASHES && !hd_budget_try_reserve(op, capacity * sizeof(uint64_t)))
        capacity /= 2;
    if (capacity > MIN_PASS_HASHES)
        hd_budget_release(op, capacity * sizeof(uint64_t));
    return capacity > MIN_PASS_HASHES ? capacity : MIN_PASS_HASHES;
}

static hudi_status find_in_passes(struct hd_op *op, struct search *search)
{
    struct hd_verify_folder *const folder = search->folder;
    struct pass pass = {.search = search};
    size_t n_rows = 0;
    bool done = false;

    for (size_t i = 0; i < folder->n_files; i++) {
        hd_key_hashes_clear(op, &folder->files[i]);
        if (folder->files[i].is_latest && folder->files[i].n_rows > 0)
            n_rows += (size_t)folder->files[i].n_rows;
    }
    pass.capacity = pass_capacity(op, search->verify, n_rows);
    const uint64_t n_bytes = pass.capacity * sizeof *pass.hashes;
    const bool reserved = hd_budget_try_reserve(op, n_bytes);
    hudi_status status = hd_alloc_raw(op, pass.capacity, sizeof *pass.hashes, &pass.hashes);
    pass.n_passes = n_rows <= pass.capacity ? 1 : 2 * (n_rows / pass.capacity) + 1;
    for (; status == HUDI_OK && !done && pass.n_passes <= MAX_PASSES; pass.n_passes *= 2) {
        pass.overflow = false;
        status = run_passes(op, &pass, &done);
    }
    hd_free(op, pass.hashes);
    if (reserved)
        hd_budget_release(op, n_bytes);
    if (status == HUDI_OK && !done)
        status = hd_report_note(op, &folder->report, "not-checked",
                                folder->path[0] == '\0' ? "." : folder->path,
                                "too many keys to look for duplicates in the memory there is");
    return status;
}

/* ---- step 3: the keys themselves ------------------------------------------------------------ */

static int compare_candidates(const void *a, const void *b)
{
    return compare_hashes(&((const struct candidate *)a)->hash,
                          &((const struct candidate *)b)->hash);
}

static struct candidate *find_candidate(const struct search *search, uint64_t hash)
{
    size_t low = 0, high = search->n_candidates;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (search->candidates[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->n_candidates && search->candidates[low].hash == hash
               ? &search->candidates[low]
               : NULL;
}

/* A key of a candidate's hash, which was seen before or not. */
static hudi_status meet(struct hd_op *op, struct search *search, struct candidate *candidate,
                        struct hd_slice key, const char *file, int64_t row)
{
    char *copy;

    for (size_t i = 0; i < candidate->n_keys; i++) {
        if (!hd_slice_equal(candidate->keys[i], key))
            continue;
        candidate->is_duplicate = true;
        if (search->key == NULL) {
            HD_TRY(hd_arena_strndup(op, &search->arena, key.data, key.size, &search->key));
            search->files[0] = candidate->files[i];
            search->rows[0] = candidate->rows[i];
            search->files[1] = file;
            search->rows[1] = row;
        }
        return HUDI_OK;
    }
    if (candidate->n_keys == MAX_KEYS_OF_HASH)
        return HUDI_OK;
    HD_TRY(hd_arena_strndup(op, &search->arena, key.data, key.size, &copy));
    candidate->keys[candidate->n_keys] = hd_slice_of(copy, key.size);
    candidate->files[candidate->n_keys] = file;
    candidate->rows[candidate->n_keys++] = row;
    return HUDI_OK;
}

static hudi_status take_exact(struct hd_op *op, void *self, const struct hd_verify_file *file,
                              const struct hd_view *keys, int64_t first_row)
{
    struct search *const search = self;

    for (int64_t row = 0; row < keys->length; row++) {
        const struct hd_slice key = key_at(keys, row);
        struct candidate *const candidate =
            key.size == 0 ? NULL : find_candidate(search, hd_hash_bytes(key.data, key.size));

        if (candidate != NULL && !candidate->is_duplicate)
            HD_TRY(meet(op, search, candidate, key, file->name, first_row + row));
    }
    return HUDI_OK;
}

static hudi_status report(struct hd_op *op, struct search *search)
{
    struct hd_verify_folder *const folder = search->folder;
    const struct hd_verify *const verify = search->verify;
    const bool is_finding =
        verify->expected.only_upserts && verify->table.config.type == HD_COPY_ON_WRITE;
    uint64_t n = search->n_more;

    for (size_t i = 0; i < search->n_candidates; i++)
        n += search->candidates[i].is_duplicate;
    if (search->key == NULL)
        return HUDI_OK;
    return (is_finding ? hd_report_finding : hd_report_note)(
        op, &folder->report, "duplicate-key", folder->path[0] == '\0' ? "." : folder->path,
        "\"%.100s\" is in row %" PRId64 " of %s and in row %" PRId64 " of %s (%" PRIu64
        " such keys)%s",
        search->key, search->rows[0], search->files[0], search->rows[1], search->files[1], n,
        is_finding ? "" : ", which inserts may do");
}

hudi_status hd_verify_duplicates(struct hd_op *op, struct hd_verify *verify,
                                 struct hd_verify_folder *folder)
{
    hudi_status status = HUDI_OK;
    struct search search = {.verify = verify, .folder = folder};

    if (verify->expected.unread.n_entries > 0)
        return HUDI_OK; /* they may have replaced file groups */
    HD_TRY_OUT(atomic_load(&folder->too_many_keys) ? find_in_passes(op, &search)
                                                   : merge_files(op, &search));
    if (search.n_candidates == 0)
        goto out;
    qsort(search.candidates, search.n_candidates, sizeof *search.candidates, compare_candidates);
    HD_TRY_OUT(read_folder(op, &search, take_exact, &search));
    HD_TRY_OUT(report(op, &search));
out:
    hd_free(op, search.candidates);
    hd_arena_clear(&search.arena);
    return status;
}
