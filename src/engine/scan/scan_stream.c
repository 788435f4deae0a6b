/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "engine/scan/changes.h"

/*
 * The splits of a plan as one stream. With one thread the caller's pulls read; with more, workers
 * read ahead, one split each at a time, into a ring of places: split i lies in place i % N_PLACES.
 *
 * Invariants
 *  1. Splits are taken in order, so the one that is given out was always taken by a worker.
 *  2. A worker waits for room only when its split is not the one given out, or has batches ready:
 *     the stream always goes on.
 *  3. Batches that wait take `limit_bytes` at most, and one batch more for each worker.
 *  4. `lock` guards all of the ring but the insides of a batch; it is not held while anything is
 *     read. The op of a place is its worker's until `is_done`, then the stream's.
 */

#define N_PLACES 64
#define MAX_AHEAD_BYTES (UINT64_C(64) << 20)
#define WORKER_BYTES (UINT64_C(64) << 20) /* of the budget: what decoding a file takes */

struct waiting {
    struct waiting *next;
    struct ArrowArray batch;
    uint64_t n_bytes;
};

struct place {
    struct waiting *first, **last;
    hudi_status status; /* once done: HUDI_OK or the failure in `op` */
    bool is_done;
    struct hd_op op;
};

struct ring {
    pthread_mutex_t lock;
    pthread_cond_t filled; /* for the stream */
    pthread_cond_t room;   /* for workers */
    struct place places[N_PLACES];
    size_t next_split; /* to be taken by a worker */
    uint64_t ahead_bytes, limit_bytes;
    bool stopped;
    struct hd_task **tasks;
    size_t n_tasks;
};

struct scan {
    hd_scan_plan *plan;
    struct ArrowSchema schema;
    size_t n_threads;
    size_t at;               /* split that is given out */
    hd_slice_reader *reader; /* of it, with one thread */
    struct ring *ring;       /* NULL: one thread, or nothing was asked for yet */
    int64_t rows_left;       /* -1: no limit */
};

/* ---- workers ------------------------------------------------------------------------------ */

/* Wait until the batch of split `i` may be put; false when the stream has stopped. */
static bool wait_for_room(const struct scan *scan, struct ring *ring, size_t i, uint64_t n_bytes)
{
    const struct place *place = &ring->places[i % N_PLACES];

    while (!ring->stopped && ring->ahead_bytes > 0 &&
           ring->ahead_bytes + n_bytes > ring->limit_bytes &&
           !(scan->at == i && place->first == NULL))
        pthread_cond_wait(&ring->room, &ring->lock);
    return !ring->stopped;
}

/* Takes over the batch. */
static hudi_status put(struct hd_op *op, struct scan *scan, size_t i, struct ArrowArray *batch)
{
    struct ring *ring = scan->ring;
    struct place *place = &ring->places[i % N_PLACES];
    struct waiting *waiting;
    const hudi_status status = hd_alloc(op, sizeof *waiting, &waiting);

    if (status != HUDI_OK) {
        hd_array_clear(batch);
        return status;
    }
    waiting->n_bytes = hd_array_bytes(&scan->schema, batch);
    hd_array_move(batch, &waiting->batch);
    pthread_mutex_lock(&ring->lock);
    const bool wanted = wait_for_room(scan, ring, i, waiting->n_bytes);
    if (wanted) {
        *place->last = waiting;
        place->last = &waiting->next;
        ring->ahead_bytes += waiting->n_bytes;
        pthread_cond_signal(&ring->filled);
    }
    pthread_mutex_unlock(&ring->lock);
    if (wanted)
        return HUDI_OK;
    hd_array_clear(&waiting->batch);
    hd_free(op, waiting);
    return HUDI_END;
}

static hudi_status read_split(struct hd_op *op, struct scan *scan, size_t i)
{
    hd_slice_reader *reader;
    struct ArrowArray batch;
    hudi_status status =
        hd_slice_reader_open(op, &scan->plan->query, &scan->plan->splits[i], &reader);

    while (status == HUDI_OK) {
        status = hd_slice_reader_next(op, reader, &batch);
        if (status == HUDI_OK)
            status = put(op, scan, i, &batch);
    }
    hd_slice_reader_close(reader);
    return status == HUDI_END ? HUDI_OK : status;
}

/* The next split for a worker; false at the end. */
static bool take_split(struct scan *scan, struct hd_op *op, size_t *out)
{
    struct ring *ring = scan->ring;
    bool taken;

    pthread_mutex_lock(&ring->lock);
    while (!ring->stopped && ring->next_split < scan->plan->n_splits &&
           ring->next_split >= scan->at + N_PLACES)
        pthread_cond_wait(&ring->room, &ring->lock);
    taken = !ring->stopped && ring->next_split < scan->plan->n_splits;
    if (taken) {
        *out = ring->next_split++;
        hd_op_init_child(&ring->places[*out % N_PLACES].op, op);
    }
    pthread_mutex_unlock(&ring->lock);
    return taken;
}

static hudi_status work(struct hd_op *op, void *argument)
{
    struct scan *scan = argument;
    struct ring *ring = scan->ring;
    size_t i;

    while (take_split(scan, op, &i)) {
        struct place *place = &ring->places[i % N_PLACES];
        const hudi_status status = read_split(&place->op, scan, i);

        pthread_mutex_lock(&ring->lock);
        place->status = status;
        place->is_done = true;
        pthread_cond_signal(&ring->filled);
        pthread_mutex_unlock(&ring->lock);
    }
    return HUDI_OK;
}

/* ---- the ring ----------------------------------------------------------------------------- */

static void drop_batches(struct place *place)
{
    for (struct waiting *w = place->first, *next; w != NULL; w = next) {
        next = w->next;
        hd_array_clear(&w->batch);
        hd_free(NULL, w);
    }
}

static void close_ring(struct scan *scan)
{
    struct ring *ring = scan->ring;
    struct hd_op op;

    if (ring == NULL)
        return;
    pthread_mutex_lock(&ring->lock);
    ring->stopped = true;
    pthread_cond_broadcast(&ring->room);
    pthread_mutex_unlock(&ring->lock);
    hd_op_init(&op);
    for (size_t i = 0; i < ring->n_tasks; i++)
        (void)hd_task_join(&op, ring->tasks[i]);
    hd_op_clear(&op);
    for (size_t i = scan->at; i < ring->next_split; i++) {
        drop_batches(&ring->places[i % N_PLACES]);
        hd_op_clear(&ring->places[i % N_PLACES].op);
    }
    pthread_cond_destroy(&ring->filled);
    pthread_cond_destroy(&ring->room);
    pthread_mutex_destroy(&ring->lock);
    hd_free(NULL, ring->tasks);
    hd_free(NULL, ring);
    scan->ring = NULL;
}

/* Slices that are read at the same time. */
static size_t n_workers(const struct hd_op *op, const struct scan *scan)
{
    const uint64_t n_affordable = op->budget->limit_bytes / WORKER_BYTES;
    size_t n = scan->n_threads;

    if (n > scan->plan->n_splits)
        n = scan->plan->n_splits;
    if (n > n_affordable)
        n = (size_t)n_affordable;
    return n > 0 ? n : 1;
}

static hudi_status open_ring(struct hd_op *op, struct scan *scan)
{
    const size_t n = n_workers(op, scan);
    struct ring *ring;

    HD_TRY(hd_alloc(op, sizeof *ring, &ring));
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->filled, NULL);
    pthread_cond_init(&ring->room, NULL);
    ring->next_split = scan->at;
    ring->limit_bytes = op->budget->limit_bytes / 4;
    if (ring->limit_bytes > MAX_AHEAD_BYTES)
        ring->limit_bytes = MAX_AHEAD_BYTES;
    for (size_t i = 0; i < N_PLACES; i++)
        ring->places[i].last = &ring->places[i].first;
    scan->ring = ring;
    HD_TRY(hd_alloc_array(op, n, sizeof(struct hd_task *), &ring->tasks));
    for (size_t i = 0; i < n; i++) {
        HD_TRY(hd_task_start(op, work, scan, &ring->tasks[i]));
        ring->n_tasks++;
    }
    return HUDI_OK;
}

/* The batch that comes next, HUDI_END when the current split has no more. */
static hudi_status take_batch(struct hd_op *op, struct scan *scan, struct ArrowArray *out)
{
    struct ring *ring = scan->ring;
    struct place *place = &ring->places[scan->at % N_PLACES];
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&ring->lock);
    while (place->first == NULL && !place->is_done)
        pthread_cond_wait(&ring->filled, &ring->lock);
    struct waiting *waiting = place->first;
    if (waiting != NULL) {
        place->first = waiting->next;
        if (place->first == NULL)
            place->last = &place->first;
        ring->ahead_bytes -= waiting->n_bytes;
    } else {
        status = place->status == HUDI_OK ? HUDI_END : place->status;
        hd_op_join(op, &place->op);
        *place = (struct place){.last = &place->first};
        scan->at++;
    }
    pthread_cond_broadcast(&ring->room);
    pthread_mutex_unlock(&ring->lock);
    if (waiting != NULL) {
        hd_array_move(&waiting->batch, out);
        hd_free(op, waiting);
    }
    return status;
}

/* ---- the stream --------------------------------------------------------------------------- */

static hudi_status next_ahead(struct hd_op *op, struct scan *scan, struct ArrowArray *out)
{
    if (scan->ring == NULL)
        HD_TRY(open_ring(op, scan));
    while (scan->at < scan->plan->n_splits) {
        const hudi_status status = take_batch(op, scan, out);
        if (status != HUDI_END)
            return status;
    }
    return HUDI_END;
}

static hudi_status next_here(struct hd_op *op, struct scan *scan, struct ArrowArray *out)
{
    while (scan->at < scan->plan->n_splits) {
        if (scan->reader == NULL)
            HD_TRY(hd_slice_reader_open(op, &scan->plan->query, &scan->plan->splits[scan->at],
                                        &scan->reader));
        const hudi_status status = hd_slice_reader_next(op, scan->reader, out);
        if (status != HUDI_END)
            return status;
        hd_slice_reader_close(scan->reader);
        scan->reader = NULL;
        scan->at++;
    }
    return HUDI_END;
}

static hudi_status scan_schema(struct hd_op *op, void *self, struct ArrowSchema *out)
{
    const struct scan *scan = self;

    return hd_slice_query_schema(op, &scan->plan->query, out);
}

static hudi_status scan_next(struct hd_op *op, void *self, struct ArrowArray *out)
{
    struct scan *scan = self;
    struct ArrowArray batch;

    HD_TRY(hd_op_check_cancel(op));
    if (scan->rows_left == 0)
        return HUDI_END;
    HD_TRY(scan->n_threads > 1 ? next_ahead(op, scan, &batch) : next_here(op, scan, &batch));
    if (scan->rows_left < 0 || batch.length <= scan->rows_left) {
        scan->rows_left -= scan->rows_left < 0 ? 0 : batch.length;
        hd_array_move(&batch, out);
        return HUDI_OK;
    }
    const int64_t n_rows = scan->rows_left;
    scan->rows_left = 0;
    return hd_array_slice(op, &batch, 0, n_rows, out);
}

static void scan_close(void *self)
{
    struct scan *scan = self;

    close_ring(scan);
    hd_slice_reader_close(scan->reader);
    hd_schema_clear(&scan->schema);
    hd_scan_plan_free(scan->plan);
    hd_free(NULL, scan);
}

/* Rows that are few enough to read no more of a file than that. */
#define FEW_ROWS 65536

hudi_status hd_scan_stream(struct hd_op *op, hd_pool *pool, hd_scan_plan *plan,
                           struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {scan_schema, scan_next, scan_close};
    hudi_status status;
    struct scan *scan;
    int32_t n_filtered;

    if (plan->type == HD_QUERY_CHANGES)
        return hd_changes_stream(op, plan, out);
    *out = (struct ArrowArrayStream){0};
    status = hd_alloc(op, sizeof *scan, &scan);
    if (status != HUDI_OK) {
        hd_scan_plan_free(plan);
        return status;
    }
    scan->plan = plan;
    scan->rows_left = plan->limit;
    scan->n_threads = pool == NULL ? 1 : hd_pool_threads(pool);
    hd_predicate_columns(plan->predicate, &n_filtered);
    if (plan->limit > 0 && plan->limit <= FEW_ROWS && n_filtered == 0) {
        scan->n_threads = 1;
        if (plan->query.batch_rows == 0 || plan->query.batch_rows > plan->limit)
            plan->query.batch_rows = plan->limit;
    }
    plan->query.merge_bytes = op->budget->limit_bytes / 2 / n_workers(op, scan);
    HD_TRY_OUT(hd_slice_query_schema(op, &plan->query, &scan->schema));
    HD_TRY_OUT(hd_stream_export(op, &OPS, scan, out));
    return HUDI_OK;
out:
    scan_close(scan);
    return status;
}
