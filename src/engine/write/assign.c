/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/assign.h"

#include <stdlib.h>
#include <string.h>

hudi_status hd_average_record_bytes(struct hd_op *op, const struct hd_write_config *config,
                                    int64_t *out)
{
    const struct hd_timeline *timeline = &config->table->timeline;
    const int64_t limit = hd_write_int(config, "hoodie.parquet.small.file.limit");
    const double threshold = hd_options_double(&config->options, &config->table->config.properties,
                                               "hoodie.record.size.estimation.threshold") *
                             (double)limit;

    *out = hd_write_int(config, "hoodie.copyonwrite.record.size.estimate");
    int64_t n_read = 0;
    const int64_t n_wanted = hd_write_int(config, "_hoodie.record.size.estimator.max.commits");
    for (size_t i = timeline->n_instants; i-- > 0 && n_read < n_wanted;) {
        const struct hd_instant *instant = &timeline->instants[i];
        struct hd_commit_metadata metadata;
        int64_t n_rows = 0, n_bytes = 0;

        if (!hd_instant_is_completed_write(instant))
            continue;
        n_read++;
        HD_TRY(hd_timeline_read_commit(op, timeline, instant, &metadata));
        for (size_t s = 0; s < metadata.n_stats; s++) {
            if (metadata.stats[s].is_log) /* says nothing of base files */
                continue;
            n_rows += metadata.stats[s].num_writes;
            n_bytes += metadata.stats[s].total_write_bytes;
        }
        hd_commit_metadata_clear(&metadata);
        if (n_rows > 0 && (double)n_bytes > threshold) {
            *out = (n_bytes + n_rows - 1) / n_rows;
            break;
        }
    }
    return HUDI_OK;
}

/* Merge-on-read: a file under logs is rewritten by compaction, not for the sake of inserts. */
static bool has_logs(const struct hd_file_slice *slice)
{
    return slice->n_logs > 0 || slice->compaction_instant != NULL;
}

static int by_size(const void *a, const void *b)
{
    const struct hd_small_file *x = a, *y = b;
    const uint64_t size_x = x->slice->base->size_bytes, size_y = y->slice->base->size_bytes;

    if (size_x != size_y)
        return size_x < size_y ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Of the small files [first, *n) of one partition the smallest few are left. */
static void keep_smallest(const struct hd_write_config *config, struct hd_small_file *out,
                          size_t first, size_t *n)
{
    const size_t limit =
        (size_t)hd_write_int(config, "hoodie.merge.small.file.group.candidates.limit");

    if (config->table->config.type != HD_MERGE_ON_READ || *n - first <= limit)
        return;
    qsort(out + first, *n - first, sizeof *out, by_size);
    *n = first + limit;
}

void hd_small_files(const struct hd_write_config *config, int64_t record_bytes,
                    const struct hd_file_slice *const *slices, size_t n_slices,
                    struct hd_small_file *out, size_t *n)
{
    const int64_t limit = hd_write_int(config, "hoodie.parquet.small.file.limit");
    const int64_t max = hd_write_int(config, "hoodie.parquet.max.file.size");
    size_t first = 0; /* of the partition at hand */

    *n = 0;
    if (!hd_write_fills_small_files(config))
        return;
    for (size_t i = 0; i < n_slices; i++) {
        const struct hd_file_slice *slice = slices[i];

        if (i > 0 && strcmp(slice->partition_path, slices[i - 1]->partition_path) != 0) {
            keep_smallest(config, out, first, n);
            first = *n;
        }
        if (slice->base == NULL || slice->base->size_bytes == 0 ||
            (int64_t)slice->base->size_bytes >= limit || has_logs(slice) ||
            hd_write_is_pending(config, slice->partition_path, slice->file_id))
            continue;
        if (hd_file_owner(slice->partition_path, slice->file_id, config->n_tasks) != config->task)
            continue;
        const int64_t room = (max - (int64_t)slice->base->size_bytes) / record_bytes;
        if (room > 0)
            out[(*n)++] = (struct hd_small_file){.slice = slice, .index = i, .room = room};
    }
    keep_smallest(config, out, first, n);
}

static uint32_t owner(struct hd_slice a, struct hd_slice b, uint32_t n_tasks)
{
    const uint64_t hash = hd_hash_bytes(a.data, a.size) * 31 + hd_hash_bytes(b.data, b.size);

    return n_tasks <= 1 ? 0 : (uint32_t)((hash ^ hash >> 32) % n_tasks);
}

uint32_t hd_file_owner(const char *partition_path, const char *file_id, uint32_t n_tasks)
{
    return owner(hd_slice_text(partition_path), hd_slice_text(file_id), n_tasks);
}

uint32_t hd_insert_owner(struct hd_slice partition_path, struct hd_slice record_key,
                         uint32_t n_tasks)
{
    return owner(partition_path, record_key, n_tasks);
}
