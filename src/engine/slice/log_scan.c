/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_scan.h"

#include <string.h>

#include "base/map.h"
#include "engine/slice/log_damage.h"
#include "format/layout/file_name.h"

/* Texts of headers, each kept once: the schema of all blocks is one, as a rule. */
struct texts {
    struct hd_map map;
    struct hd_arena *arena;
};

static hudi_status keep_text(struct hd_op *op, struct texts *texts, struct hd_slice *text)
{
    struct hd_map_entry *entry;
    bool added;
    char *copy;

    if (text->size == 0)
        return HUDI_OK;
    HD_TRY(hd_map_put(op, &texts->map, *text, 0, &entry, &added));
    if (added) {
        HD_TRY(hd_arena_strndup(op, texts->arena, text->data, text->size, &copy));
        entry->value = (uint64_t)(uintptr_t)copy;
    }
    text->data = (const uint8_t *)(uintptr_t)entry->value;
    return HUDI_OK;
}

static hudi_status find_header(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out)
{
    const hudi_status status = hd_log_header_find(op, block, key, out);

    if (status != HUDI_NOT_FOUND)
        return status;
    *out = (struct hd_slice){0};
    return HUDI_OK;
}

/* Whether the block has positions in the base file that is read. HFile blocks have their records in
 * another order. Source: PositionBasedFileGroupRecordBuffer.extractRecordPositions (Hudi 1.1.1) */
static hudi_status has_positions(struct hd_op *op, const struct hd_log_block *block,
                                 struct hd_slice base_instant, bool *out)
{
    struct hd_slice instant, positions;

    HD_TRY(find_header(op, block, HD_LOG_BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS, &instant));
    HD_TRY(find_header(op, block, HD_LOG_RECORD_POSITIONS, &positions));
    *out = positions.size > 0 && base_instant.size > 0 && hd_slice_equal(instant, base_instant) &&
           block->type != HD_LOG_HFILE_DATA;
    return HUDI_OK;
}

static void count(const struct hd_log_block *block, struct hd_slice_merge_stats *stats)
{
    stats->n_blocks++;
    stats->n_corrupt_blocks += block->type == HD_LOG_CORRUPT;
    stats->n_rollback_blocks += block->type == HD_LOG_COMMAND;
}

static hudi_status add_block(struct hd_op *op, uint32_t file, const struct hd_log_block *block,
                             struct texts *texts, struct hd_log_scan *scan)
{
    struct hd_log_entry entry;
    struct hd_slice partial;
    struct hd_log_scan_block own = {.file = file, .offset = block->offset};

    count(block, &scan->stats);
    if (block->type == HD_LOG_CORRUPT)
        return HUDI_OK;
    HD_TRY(hd_log_entry_of(op, block, &entry));
    HD_TRY(keep_text(op, texts, &entry.instant));
    HD_TRY(keep_text(op, texts, &entry.target));
    HD_TRY(keep_text(op, texts, &entry.compacted));
    HD_TRY(find_header(op, block, HD_LOG_SCHEMA, &own.schema));
    HD_TRY(keep_text(op, texts, &own.schema));
    HD_TRY(find_header(op, block, HD_LOG_IS_PARTIAL, &partial));
    own.is_partial = hd_slice_equal(partial, hd_slice_text("true"));
    HD_TRY(has_positions(op, block, scan->base_instant, &own.has_positions));
    HD_TRY(hd_grow(op, &scan->blocks, &scan->block_capacity, scan->n_blocks + 1,
                   sizeof *scan->blocks));
    HD_TRY(hd_grow(op, &scan->entries, &scan->entry_capacity, scan->n_blocks + 1,
                   sizeof *scan->entries));
    scan->blocks[scan->n_blocks] = own;
    scan->entries[scan->n_blocks++] = entry;
    return HUDI_OK;
}

hudi_status hd_log_scan_open_file(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice, uint32_t file,
                                  hd_log_reader **out)
{
    char *path;

    *out = NULL;
    HD_TRY(hd_path_join(op, query->table_path, slice->log_paths[file], &path));
    const hudi_status status = hd_fail_path(op, hd_log_reader_open(op, query->fs, path, out), path);
    hd_free(op, path);
    return status;
}

/* One block, into `scan` if it can be understood. @return HUDI_END */
static hudi_status scan_block(struct hd_op *op, const struct hd_slice_query *query,
                              hd_log_reader *reader, uint32_t file, struct texts *texts,
                              struct hd_log_scan *scan)
{
    const char *const path = hd_input_file_path(hd_log_reader_file(reader));
    const uint64_t offset = hd_log_reader_offset(reader);
    struct hd_log_block block;

    hudi_status status = hd_log_reader_next(op, reader, &block);
    if (status == HUDI_OK) {
        status = add_block(op, file, &block, texts, scan);
        hd_log_block_clear(op, &block);
    } else if (status == HUDI_NOT_IMPLEMENTED) {
        scan->stats.n_blocks++;
    }
    if (status == HUDI_OK || status == HUDI_END)
        return status;
    HD_TRY(hd_log_damage(op, query, path, offset, status));
    scan->stats.n_corrupt_blocks++;
    return HUDI_OK;
}

static hudi_status scan_file(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_source *slice, uint32_t file,
                             struct texts *texts, struct hd_log_scan *scan)
{
    hd_log_reader *reader;
    hudi_status status;

    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_log_scan_open_file(op, query, slice, file, &reader));
    do
        status = scan_block(op, query, reader, file, texts, scan);
    while (status == HUDI_OK);
    if (status == HUDI_END)
        status = HUDI_OK;
    hd_error_set_path(op, hd_input_file_path(hd_log_reader_file(reader)));
    hd_log_reader_close(op, reader);
    return status;
}

/* The instant in the base file's name. Positions are those of rows in Parquet files. */
static struct hd_slice base_instant(const struct hd_slice_source *slice)
{
    const char *const slash = slice->base_path == NULL ? NULL : strrchr(slice->base_path, '/');
    struct hd_file_name name;

    if (slice->base_path == NULL ||
        !hd_file_name_parse(slash == NULL ? slice->base_path : slash + 1, &name) ||
        name.kind != HD_FILE_BASE || !hd_slice_equal(name.extension, hd_slice_text(".parquet")))
        return (struct hd_slice){0};
    return name.instant;
}

hudi_status hd_log_scan_load(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_source *slice, const struct hd_log_rules *rules,
                             struct hd_log_scan *out)
{
    static const struct hd_log_instants ALL = {0};
    const struct hd_log_instants *instants =
        query->log_instants == NULL ? &ALL : query->log_instants;
    hudi_status status = HUDI_OK;
    struct texts texts = {.arena = &out->arena};

    *out = (struct hd_log_scan){.stats.n_log_files = (int64_t)slice->n_logs,
                                .base_instant = base_instant(slice)};
    for (size_t i = 0; i < slice->n_logs; i++)
        HD_TRY_OUT(scan_file(op, query, slice, (uint32_t)i, &texts, out));
    HD_TRY_OUT(hd_log_choose(op, rules, instants, out->entries, out->n_blocks, &out->chosen,
                             &out->n_chosen));
    out->has_positions = out->n_chosen > 0;
    for (size_t i = 0; i < out->n_chosen; i++) {
        const struct hd_log_scan_block *const block = &out->blocks[out->chosen[i]];

        out->is_partial = out->is_partial || block->is_partial;
        out->has_positions = out->has_positions && block->has_positions;
    }
out:
    hd_map_clear(&texts.map);
    if (status != HUDI_OK)
        hd_log_scan_clear(op, out);
    return status;
}

void hd_log_scan_clear(struct hd_op *op, struct hd_log_scan *scan)
{
    hd_arena_clear(&scan->arena);
    hd_free(op, scan->blocks);
    hd_free(op, scan->entries);
    hd_free(op, scan->chosen);
    *scan = (struct hd_log_scan){0};
}
