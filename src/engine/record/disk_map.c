/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/disk_map.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/cursor.h"
#include "engine/record/bitcask.h"
#include "engine/record/rocks_map.h"
#include "engine/record/row_codec.h"

/*
 * A locator is the number of the group, then the row in it.
 *
 * Invariants
 *  1. Groups 0 .. n_groups - 1 are in the store; group n_groups is the open one, here.
 *  2. The open group has fewer than MAX_GROUP_ROWS rows and fewer than ops->group_bytes bytes.
 */
#define ROW_BITS 8
#define MAX_GROUP_ROWS (1u << ROW_BITS)
#define MAX_ROW_BYTES ((size_t)1 << 31)

struct hd_disk_map {
    const struct hd_disk_store_ops *ops;
    struct ArrowSchema schema;
    bool compress;
    char *folder;
    void *store; /* NULL until the first put */
    uint64_t n_groups;
    struct hd_str rows; /* of the open group */
    uint32_t ends[MAX_GROUP_ROWS];
    uint32_t n_rows;
};

/* ---- new, free ---------------------------------------------------------------------------- */

static hudi_status choose_folder(struct hd_op *op, const char *folder, char **out)
{
    const char *const system = getenv("TMPDIR");

    if (folder == NULL || folder[0] == '\0')
        folder = system != NULL && system[0] != '\0' ? system : "/tmp";
    return hd_strdup(op, folder, out);
}

hudi_status hd_disk_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                            hd_disk_map **out)
{
    hd_disk_map *map;
    hd_builder *probe = NULL;
    hudi_status status;

    *out = NULL;
    if (options->disk_map == HD_DISK_MAP_ROCKS_DB && !hd_rocks_map_available())
        return hd_fail(
            op, HUDI_NOT_IMPLEMENTED,
            "hoodie.common.spillable.diskmap.type=ROCKS_DB: this build is without RocksDB");
    HD_TRY(hd_alloc(op, sizeof *map, &map));
    map->ops = options->disk_map == HD_DISK_MAP_ROCKS_DB ? &hd_rocks_map_ops : &hd_bitcask_ops;
    map->compress = options->compress;
    HD_TRY_OUT(choose_folder(op, options->folder, &map->folder));
    HD_TRY_OUT(hd_schema_copy(op, options->schema, &map->schema));
    HD_TRY_OUT(hd_builder_new(op, &map->schema, &probe)); /* refuses what cannot come back */
    *out = map;
    map = NULL;
out:
    hd_builder_free(probe);
    hd_disk_map_free(op, map);
    return status;
}

void hd_disk_map_free(struct hd_op *op, hd_disk_map *map)
{
    if (map == NULL)
        return;
    if (map->store != NULL)
        map->ops->close(op, map->store);
    hd_schema_clear(&map->schema);
    hd_str_clear(&map->rows);
    hd_free(op, map->folder);
    hd_free(op, map);
}

static hudi_status make_folders(struct hd_op *op, const char *folder)
{
    char *path;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_strdup(op, folder, &path));
    for (char *at = path + 1; status == HUDI_OK; at++) {
        const char c = *at;
        if (c != '/' && c != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = hd_fail_errno(op, errno, "folder for spilled records");
        *at = c;
        if (c == '\0')
            break;
    }
    if (status != HUDI_OK)
        hd_error_set_path(op, folder);
    hd_free(op, path);
    return status;
}

/* ---- put ---------------------------------------------------------------------------------- */

static hudi_status close_group(struct hd_op *op, hd_disk_map *map)
{
    const struct hd_disk_group group = {
        .ends = map->ends, .n_rows = map->n_rows, .bytes = (const uint8_t *)map->rows.data};

    HD_TRY(map->ops->append(op, map->store, &group));
    map->n_groups++;
    map->n_rows = 0;
    map->rows.size = 0;
    return HUDI_OK;
}

hudi_status hd_disk_map_put(struct hd_op *op, hd_disk_map *map, const struct hd_view *columns,
                            int64_t row, uint64_t *locator)
{
    const size_t before = map->rows.size;

    *locator = map->n_groups << ROW_BITS | map->n_rows;
    if (map->store == NULL) {
        HD_TRY(make_folders(op, map->folder));
        HD_TRY(map->ops->open(op, map->folder, map->compress, &map->store));
    }
    HD_TRY(hd_row_encode(op, columns, map->schema.n_children, row, &map->rows));
    hudi_status status = HUDI_OK;
    if (map->rows.size - before > MAX_ROW_BYTES - map->ops->group_bytes) {
        status = hd_fail(op, HUDI_INVALID, "a record of %zu bytes is too large to be spilled",
                         map->rows.size - before);
    } else {
        map->ends[map->n_rows++] = (uint32_t)map->rows.size;
        if (map->n_rows < MAX_GROUP_ROWS && map->rows.size < map->ops->group_bytes)
            return HUDI_OK;
        status = close_group(op, map);
        if (status != HUDI_OK)
            map->n_rows--;
    }
    if (status != HUDI_OK)
        map->rows.size = before;
    return status;
}

/* ---- get ---------------------------------------------------------------------------------- */

struct want {
    uint64_t locator;
    uint64_t position; /* among the rows asked for */
};

struct kept {
    size_t offset;
    size_t size;
};

struct fetch {
    struct hd_op *op;
    const hd_disk_map *map;
    size_t n;
    struct want *wants; /* by locator */
    size_t n_taken;     /* of the wants */
    uint64_t *groups;   /* of the wants, each once */
    size_t n_groups;
    bool in_order;      /* wants are in the order asked for: rows are decoded as they come */
    struct hd_str rows; /* else they are kept */
    struct kept *kept;  /* by position */
    hd_builder *builder;
};

/* By locator, by bytes from the lowest; the sort is stable and passes over bytes all the same. */
static hudi_status sort_wants(struct fetch *f, uint64_t all_bits)
{
    struct want *from = f->wants, *to, *spare;
    size_t starts[256];

    HD_TRY(hd_alloc_raw(f->op, f->n, sizeof *spare, &spare));
    to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((all_bits >> shift & 0xff) == 0)
            continue;
        memset(starts, 0, sizeof starts);
        for (size_t i = 0; i < f->n; i++)
            starts[from[i].locator >> shift & 0xff]++;
        size_t start = 0;
        for (unsigned digit = 0; digit < 256; digit++) {
            const size_t count = starts[digit];
            starts[digit] = start;
            start += count;
        }
        for (size_t i = 0; i < f->n; i++)
            to[starts[from[i].locator >> shift & 0xff]++] = from[i];
        struct want *const swap = from;
        from = to;
        to = swap;
    }
    f->wants = from;
    hd_free(f->op, to);
    return HUDI_OK;
}

static hudi_status prepare(struct fetch *f, const uint64_t *locators)
{
    uint64_t different = 0;

    f->in_order = true;
    HD_TRY(hd_alloc_raw(f->op, f->n, sizeof *f->wants, &f->wants));
    HD_TRY(hd_alloc_raw(f->op, f->n, sizeof *f->groups, &f->groups));
    for (size_t i = 0; i < f->n; i++) {
        f->wants[i] = (struct want){locators[i], i};
        different |= locators[i] ^ locators[0];
        f->in_order = f->in_order && (i == 0 || locators[i - 1] <= locators[i]);
    }
    if (!f->in_order) {
        HD_TRY(hd_alloc_raw(f->op, f->n, sizeof *f->kept, &f->kept));
        HD_TRY(sort_wants(f, different));
    }
    for (size_t i = 0; i < f->n; i++) {
        const uint64_t group = f->wants[i].locator >> ROW_BITS;
        if (group < f->map->n_groups && (f->n_groups == 0 || f->groups[f->n_groups - 1] != group))
            f->groups[f->n_groups++] = group;
    }
    return HUDI_OK;
}

static hudi_status decode(struct fetch *f, struct hd_slice bytes)
{
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);

    HD_TRY(hd_row_decode(f->op, &f->map->schema, &in, f->builder));
    if (hd_cursor_left(&in) != 0)
        return hd_fail(f->op, HUDI_CORRUPT, "a spilled record has %zu bytes behind its end",
                       hd_cursor_left(&in));
    return HUDI_OK;
}

/* All wants of one group, which is the next one. */
static hudi_status take_group(struct hd_op *op, void *self, size_t i,
                              const struct hd_disk_group *group)
{
    struct fetch *const f = self;
    const uint64_t number = f->wants[f->n_taken].locator >> ROW_BITS;

    assert(i == f->n_groups || f->groups[i] == number);
    (void)i;
    for (; f->n_taken < f->n && f->wants[f->n_taken].locator >> ROW_BITS == number; f->n_taken++) {
        const struct want *const want = &f->wants[f->n_taken];
        const uint32_t row = want->locator & (MAX_GROUP_ROWS - 1);

        if (row >= group->n_rows)
            return hd_fail(op, HUDI_CORRUPT,
                           "row %u of group %" PRIu64 " of spilled records, which has %u", row,
                           number, group->n_rows);
        const uint32_t start = row == 0 ? 0 : group->ends[row - 1];
        const struct hd_slice bytes = hd_slice_of(group->bytes + start, group->ends[row] - start);
        if (f->in_order) {
            HD_TRY(decode(f, bytes));
            continue;
        }
        f->kept[want->position] = (struct kept){f->rows.size, bytes.size};
        HD_TRY(hd_str_append(op, &f->rows, bytes.data, bytes.size));
    }
    return HUDI_OK;
}

static hudi_status run(struct fetch *f, const uint64_t *locators)
{
    const hd_disk_map *const map = f->map;

    HD_TRY(hd_builder_new(f->op, &map->schema, &f->builder));
    HD_TRY(prepare(f, locators));
    if (f->n_groups > 0)
        HD_TRY(map->ops->read(f->op, map->store, f->groups, f->n_groups, take_group, f));
    if (f->n_taken < f->n) {
        const struct hd_disk_group open = {map->ends, map->n_rows, (const uint8_t *)map->rows.data};
        HD_TRY(take_group(f->op, f, f->n_groups, &open));
    }
    assert(f->n_taken == f->n);
    for (size_t i = 0; i < f->n && !f->in_order; i++)
        HD_TRY(decode(f, hd_slice_of(f->rows.data + f->kept[i].offset, f->kept[i].size)));
    return HUDI_OK;
}

hudi_status hd_disk_map_get(struct hd_op *op, const hd_disk_map *map, const uint64_t *locators,
                            size_t n, struct ArrowArray *out)
{
    struct fetch f = {.op = op, .map = map, .n = n};
    hudi_status status;

    *out = (struct ArrowArray){0};
    HD_TRY_OUT(run(&f, locators));
    HD_TRY_OUT(hd_builder_finish(op, f.builder, out));
out:
    hd_builder_free(f.builder);
    hd_str_clear(&f.rows);
    hd_free(op, f.wants);
    hd_free(op, f.groups);
    hd_free(op, f.kept);
    return status;
}

uint64_t hd_disk_map_disk_bytes(const hd_disk_map *map)
{
    return map->store == NULL ? 0 : map->ops->disk_bytes(map->store);
}

uint64_t hd_disk_map_memory_bytes(const hd_disk_map *map)
{
    return map->rows.capacity + (map->store == NULL ? 0 : map->ops->memory_bytes(map->store));
}
