/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/insert_target.h"

#include "arrow/gather.h"
#include "arrow/schema.h"
#include "engine/write/create_handle.h"
#include "engine/write/insert_merge.h"

struct hd_insert_target {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    const hd_merger *merger;
    char *partition_path;
    uint32_t ordinal;
    uint64_t next_seqno;
    struct hd_small_file *small;
    size_t n_small;
    size_t next_small;
    struct hd_write_status *status;
    hd_create_handle *create; /* at most one of the three is open */
    hd_merge_handle *merge;
    hd_insert_merge *keyed;
    int64_t room; /* of `merge` or `keyed` */
    int64_t n_deleted;
    bool has_files; /* opened so far */
};

hudi_status hd_insert_target_open(struct hd_op *op, const struct hd_write_config *config,
                                  const struct hd_write_schema *schema, const hd_merger *merger,
                                  const char *partition_path, uint32_t ordinal,
                                  uint64_t first_seqno, const struct hd_small_file *small,
                                  size_t n_small, struct hd_write_status *write_status,
                                  hd_insert_target **out)
{
    hudi_status status = HUDI_OK;
    hd_insert_target *target;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *target, &target));
    *target = (hd_insert_target){.config = config,
                                 .schema = schema,
                                 .merger = merger,
                                 .ordinal = ordinal,
                                 .next_seqno = first_seqno,
                                 .n_small = n_small,
                                 .status = write_status};
    HD_TRY_OUT(hd_strdup(op, partition_path, &target->partition_path));
    HD_TRY_OUT(hd_alloc_array(op, n_small, sizeof *small, &target->small));
    if (n_small > 0)
        memcpy(target->small, small, n_small * sizeof *small);
    *out = target;
    return HUDI_OK;
out:
    hd_insert_target_abort(op, target);
    return status;
}

static hudi_status close_file(struct hd_op *op, hd_insert_target *target)
{
    struct hd_write_stat stat;
    hudi_status status = HUDI_OK;
    const bool is_new = target->create != NULL;
    hd_insert_merge *keyed = target->keyed;

    if (keyed != NULL) { /* it adds its stat itself, deletes included */
        target->keyed = NULL;
        return hd_insert_merge_close(op, keyed, target->status, &target->next_seqno);
    }
    if (target->create != NULL) {
        target->next_seqno = hd_create_handle_next_seqno(target->create);
        status = hd_create_handle_close(op, target->create, &target->status->arena, &stat);
    } else if (target->merge != NULL) {
        target->next_seqno = hd_merge_handle_next_seqno(target->merge);
        status = hd_merge_handle_close(op, target->merge, &target->status->arena, &stat);
    } else {
        return HUDI_OK;
    }
    target->create = NULL;
    target->merge = NULL;
    HD_TRY(status);
    /* A new file's deletes found nothing. Readers of changes take them for lost ones. */
    if (!is_new || !target->config->table->config.cdc_enabled)
        stat.num_deletes += target->n_deleted;
    target->n_deleted = 0;
    return hd_write_status_add(op, target->status, &stat);
}

static hudi_status open_small_file(struct hd_op *op, hd_insert_target *target)
{
    const struct hd_small_file *small = &target->small[target->next_small++];
    const struct hd_merge_request request = {.config = target->config,
                                             .schema = target->schema,
                                             .merger = target->merger,
                                             .slice = small->slice,
                                             .ordinal = target->ordinal,
                                             .first_seqno = target->next_seqno};

    target->room = small->room;
    if (hd_write_merges_inserts(target->config))
        return hd_insert_merge_open(op, &request, HD_MAX_OPEN_TARGETS, &target->keyed);
    return hd_merge_handle_open(op, &request, &target->merge);
}

/* An open file with room for at least one row; `*n` is how many of that many it takes. */
static hudi_status make_room(struct hd_op *op, hd_insert_target *target, int64_t *n)
{
    const bool full = (target->merge != NULL && target->room == 0) ||
                      (target->keyed != NULL &&
                       (target->room == 0 || !hd_insert_merge_can_write(target->keyed))) ||
                      (target->create != NULL && !hd_create_handle_can_write(target->create));

    if (full)
        HD_TRY(close_file(op, target));
    target->has_files = true;
    if (target->merge == NULL && target->keyed == NULL && target->create == NULL) {
        if (target->next_small < target->n_small)
            HD_TRY(open_small_file(op, target));
        else
            HD_TRY(hd_create_handle_open(op, target->config, target->schema, target->partition_path,
                                         target->ordinal, target->next_seqno, &target->create));
    }
    const int64_t most =
        target->create == NULL ? target->room : hd_create_handle_rows_to_look(target->create);
    if (*n > most)
        *n = most;
    return HUDI_OK;
}

/* Rows [start, start + n) of what is given. */
static hudi_status cut_rows(struct hd_op *op, struct hd_shared_array *records,
                            const struct ArrowArray *keys, int64_t start, int64_t n,
                            struct hd_shared_array **part, struct ArrowArray *key_part)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray whole = {0}, slice = {0};
    const struct hd_run run = {.source = 0, .start = (uint32_t)start, .length = (uint32_t)n};
    struct ArrowSchema field = {0};
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY_OUT(hd_array_share(op, records, -1, &whole));
    HD_TRY_OUT(hd_array_slice(op, &whole, start, n, &slice));
    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_gather(op, &field, &keys, 1, &run, 1, key_part));
    HD_TRY_OUT(hd_shared_array_new(op, &slice, part));
out:
    hd_schema_clear(&field);
    hd_array_clear(&whole);
    hd_array_clear(&slice);
    return status;
}

static hudi_status write_rows(struct hd_op *op, hd_insert_target *target,
                              struct hd_shared_array *records, struct ArrowArray *keys)
{
    if (target->keyed != NULL)
        return hd_insert_merge_append(op, target->keyed, records, keys);
    return target->merge != NULL ? hd_merge_handle_append(op, target->merge, records, keys)
                                 : hd_create_handle_append(op, target->create, records, keys);
}

/* The next rows go into a file that may hold their keys: there a delete is one. */
static bool merges_next(const hd_insert_target *target)
{
    if (target->n_small == 0 || !hd_write_merges_inserts(target->config))
        return false;
    return target->next_small < target->n_small ||
           (target->keyed != NULL && target->room > 0 && hd_insert_merge_can_write(target->keyed));
}

/* Rows from `*done` on, as long as they go where deletes are (not) merged. */
static hudi_status append_rows(struct hd_op *op, hd_insert_target *target,
                               struct hd_shared_array *records, struct ArrowArray *keys,
                               bool merging, int64_t *done)
{
    const int64_t n_rows = hd_shared_array_get(records)->length;

    while (*done < n_rows && merges_next(target) == merging) {
        struct hd_shared_array *part = NULL;
        struct ArrowArray key_part = {0};
        int64_t n = n_rows - *done;

        HD_TRY(make_room(op, target, &n));
        if (target->create == NULL)
            target->room -= n;
        if (n == n_rows) {
            *done = n;
            return write_rows(op, target, records, keys);
        }
        hudi_status status = cut_rows(op, records, keys, *done, n, &part, &key_part);
        if (status == HUDI_OK)
            status = write_rows(op, target, part, &key_part);
        hd_shared_array_free(part);
        hd_array_clear(&key_part);
        HD_TRY(status);
        *done += n;
    }
    return HUDI_OK;
}

static hudi_status keep_rows(struct hd_op *op, const struct hd_write_schema *schema,
                             const struct hd_run_list *kept, struct hd_shared_array **records,
                             struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const struct ArrowArray *sources[1] = {hd_shared_array_get(*records)};
    const struct ArrowArray *key_source[1] = {keys};
    struct ArrowArray live = {0}, live_keys = {0};
    struct hd_shared_array *shared = NULL;
    struct ArrowSchema field = {0};
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY_OUT(hd_gather(op, &schema->record, sources, 1, kept->runs, kept->n_runs, &live));
    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_gather(op, &field, key_source, 1, kept->runs, kept->n_runs, &live_keys));
    HD_TRY_OUT(hd_shared_array_new(op, &live, &shared));
    hd_shared_array_free(*records);
    *records = shared;
    hd_array_clear(keys);
    hd_array_move(&live_keys, keys);
out:
    hd_schema_clear(&field);
    hd_array_clear(&live);
    hd_array_clear(&live_keys);
    return status;
}

hudi_status hd_drop_deletes(struct hd_op *op, const struct hd_write_schema *schema,
                            const hd_merger *merger, struct hd_shared_array **records,
                            struct ArrowArray *keys, int64_t *n_deleted)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_run_list kept = {0};
    struct hd_view view;
    const struct ArrowArray *batch = hd_shared_array_get(*records);

    HD_TRY_OUT(hd_view_open(op, &arena, &schema->record, batch, &view));
    for (int64_t row = 0; row < batch->length; row++) {
        const struct hd_merge_side side = {.columns = view.children, .row = row};
        if (!hd_merger_is_delete(merger, &side))
            HD_TRY_OUT(hd_run_list_add(op, &kept, 0, (uint32_t)row, 1));
    }
    if ((int64_t)kept.n_rows == batch->length)
        goto out;
    *n_deleted += batch->length - (int64_t)kept.n_rows;
    status = keep_rows(op, schema, &kept, records, keys);
out:
    hd_free(op, kept.runs);
    hd_arena_clear(&arena);
    return status;
}

/* Rows from `start` on, none of which is a delete. */
static hudi_status append_live(struct hd_op *op, hd_insert_target *target,
                               struct hd_shared_array *records, struct ArrowArray *keys,
                               int64_t start)
{
    hudi_status status = HUDI_OK;
    struct hd_shared_array *live = NULL;
    struct ArrowArray live_keys = {0}, handle = {0};
    const int64_t n = hd_shared_array_get(records)->length - start;
    int64_t done = 0;

    if (start > 0) {
        HD_TRY_OUT(cut_rows(op, records, keys, start, n, &live, &live_keys));
    } else {
        HD_TRY_OUT(hd_array_share(op, records, -1, &handle));
        HD_TRY_OUT(hd_shared_array_new(op, &handle, &live));
        hd_array_move(keys, &live_keys);
    }
    HD_TRY_OUT(
        hd_drop_deletes(op, target->schema, target->merger, &live, &live_keys, &target->n_deleted));
    HD_TRY_OUT(append_rows(op, target, live, &live_keys, false, &done));
out:
    hd_array_clear(&handle);
    hd_array_clear(&live_keys);
    hd_shared_array_free(live);
    return status;
}

hudi_status hd_insert_target_append(struct hd_op *op, hd_insert_target *target,
                                    struct hd_shared_array *records, struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const int64_t n_rows = hd_shared_array_get(records)->length;
    int64_t done = 0;

    HD_TRY_OUT(append_rows(op, target, records, keys, true, &done));
    if (done < n_rows)
        HD_TRY_OUT(append_live(op, target, records, keys, done));
out:
    hd_array_clear(keys);
    return status;
}

/* Deletes alone overwrite a partition too: with an empty base file, as Hudi's create handle leaves
 * it. The commit knows by it which partitions to replace. */
static hudi_status overwrite_with_nothing(struct hd_op *op, hd_insert_target *target)
{
    if (target->config->operation != HD_OPERATION_INSERT_OVERWRITE || target->has_files ||
        target->n_deleted == 0)
        return HUDI_OK;
    return hd_create_handle_open(op, target->config, target->schema, target->partition_path,
                                 target->ordinal, target->next_seqno, &target->create);
}

hudi_status hd_insert_target_close(struct hd_op *op, hd_insert_target *target, uint64_t *next_seqno)
{
    hudi_status status = overwrite_with_nothing(op, target);
    if (status == HUDI_OK)
        status = close_file(op, target);

    if (next_seqno != NULL)
        *next_seqno = target->next_seqno;
    hd_insert_target_abort(op, target);
    return status;
}

void hd_insert_target_abort(struct hd_op *op, hd_insert_target *target)
{
    if (target == NULL)
        return;
    hd_create_handle_abort(op, target->create);
    hd_merge_handle_abort(op, target->merge);
    hd_insert_merge_abort(op, target->keyed);
    hd_free(op, target->partition_path);
    hd_free(op, target->small);
    hd_free(op, target);
}
