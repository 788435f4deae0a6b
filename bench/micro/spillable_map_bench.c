/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spillable map with more records than its memory holds: records of about 224 bytes with keys,
 * of which 13% fit in memory. Prints puts, and gets of random records in batches and one by one,
 * for each store, beside what Hudi's own map does on a JVM (measured on the same kind of machine).
 *
 *     spillable_map_bench [ENTRIES [FOLDER [STORE]]]    default 1000000, the system's folder, all
 *
 * Rates are per second of CPU time of the process, its background threads included.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/view.h"
#include "base/arena.h"
#include "engine/record/spillable_map.h"

#define BATCH_ROWS 10000
#define GET_ROWS 4096
#define N_BATCH_GETS 400000
#define N_SINGLE_GETS 200000
#define RECORD_BYTES 224.0
#define SPILLED 0.87

static struct hd_op op;

/* Like a Hudi record: five meta columns and a few of the table. */
static struct ArrowSchema fields[] = {
    {.format = "u", .name = "_hoodie_commit_time", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "_hoodie_commit_seqno", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "_hoodie_record_key", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "_hoodie_partition_path", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "_hoodie_file_name", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE},
    {.format = "i", .name = "age", .flags = ARROW_FLAG_NULLABLE},
    {.format = "tsu:UTC", .name = "ts", .flags = ARROW_FLAG_NULLABLE},
    {.format = "g", .name = "amount", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "note", .flags = ARROW_FLAG_NULLABLE}};
static struct ArrowSchema *columns[] = {&fields[0], &fields[1], &fields[2], &fields[3], &fields[4],
                                        &fields[5], &fields[6], &fields[7], &fields[8], &fields[9]};
static struct ArrowSchema schema = {
    .format = "+s", .name = "", .n_children = 10, .children = columns};
#define KEY_COLUMN 2

static void must(hudi_status status)
{
    if (status == HUDI_OK)
        return;
    fprintf(stderr, "%s\n", op.error == NULL ? "?" : hudi_error_message(op.error));
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void text(hd_builder *b, int64_t column, const char *bytes, int n)
{
    must(hd_builder_append_bytes(&op, hd_builder_child(b, column), hd_slice_of(bytes, (size_t)n)));
}

static void append_record(hd_builder *b, uint64_t i)
{
    static const char HEX[] = "0123456789abcdef";
    char bytes[128];
    uint64_t random = hd_random_u64(&op);
    int n;

    text(b, 0, "20240301120000000", 17);
    n = snprintf(bytes, sizeof bytes, "20240301120000000_3_%" PRIu64, i);
    text(b, 1, bytes, n);
    n = snprintf(bytes, sizeof bytes, "id-%016" PRIx64, i * 0x9E3779B97F4A7C15u);
    text(b, 2, bytes, n);
    n = snprintf(bytes, sizeof bytes, "dt=2024-03-%02u", (unsigned)(i / 100000 % 28 + 1));
    text(b, 3, bytes, n);
    n = snprintf(bytes, sizeof bytes, "f4c3a1de-1c0f-4b7a-9d9f-%012" PRIx64 "-0_3-1-0", i / 100000);
    text(b, 4, bytes, n);
    n = snprintf(bytes, sizeof bytes, "customer %" PRIu64, random % 100000);
    text(b, 5, bytes, n);
    must(hd_builder_append_integer(&op, hd_builder_child(b, 6), (int64_t)(random % 90)));
    must(hd_builder_append_integer(&op, hd_builder_child(b, 7),
                                   (int64_t)(1709290000000000u + random % 1000000000)));
    must(hd_builder_append_double(&op, hd_builder_child(b, 8), (double)(random % 1000000) / 100));
    for (n = 0; n < 32; n++) {
        bytes[n] = HEX[random & 15];
        random = random >> 4 | (uint64_t)n << 60;
    }
    text(b, 9, bytes, n);
    must(hd_builder_append_valid(&op, b));
}

/* All batches, made before anything is measured. */
static struct hd_shared_array **make_batches(uint64_t n_entries, uint64_t *n_bytes)
{
    const uint64_t n = (n_entries + BATCH_ROWS - 1) / BATCH_ROWS;
    struct hd_shared_array **batches;
    hd_builder *b;

    must(hd_alloc_array(&op, n, sizeof *batches, &batches));
    must(hd_builder_new(&op, &schema, &b));
    *n_bytes = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct ArrowArray array;
        for (uint64_t k = i * BATCH_ROWS; k < n_entries && k < (i + 1) * BATCH_ROWS; k++)
            append_record(b, k);
        must(hd_builder_finish(&op, b, &array));
        *n_bytes += hd_array_bytes(&schema, &array);
        must(hd_shared_array_new(&op, &array, &batches[i]));
    }
    hd_builder_free(b);
    return batches;
}

static void put_all(hd_spillable_map *map, struct hd_shared_array *const *batches,
                    uint64_t n_entries)
{
    for (uint64_t i = 0; i * BATCH_ROWS < n_entries; i++) {
        struct hd_arena arena = {0};
        struct hd_view root;

        must(hd_view_open(&op, &arena, &schema, hd_shared_array_get(batches[i]), &root));
        must(hd_spillable_map_put(&op, map, &root.children[KEY_COLUMN], NULL, batches[i], NULL,
                                  root.length, NULL, NULL));
        hd_arena_clear(&arena);
    }
}

static double get_random(const hd_spillable_map *map, int64_t n_gets, int64_t n_at_once)
{
    const uint64_t n_entries = (uint64_t)hd_spillable_map_length(map);
    int64_t *entries;

    must(hd_alloc_array(&op, (size_t)(n_gets + n_at_once), sizeof *entries, &entries));
    for (int64_t i = 0; i < n_gets + n_at_once; i++)
        entries[i] = (int64_t)(hd_random_u64(&op) % n_entries);
    const double start = now();
    for (int64_t done = 0; done < n_gets; done += n_at_once) {
        struct ArrowArray array;
        must(hd_spillable_map_get(&op, map, entries + done, n_at_once, &array));
        hd_array_clear(&array);
    }
    const double seconds = now() - start;
    hd_free(&op, entries);
    return (double)n_gets / seconds;
}

static double get_all(const hd_spillable_map *map)
{
    static int64_t entries[GET_ROWS];
    const int64_t n_entries = hd_spillable_map_length(map);
    const double start = now();

    for (int64_t at = 0; at < n_entries; at += GET_ROWS) {
        struct ArrowArray array;
        int64_t n = 0;
        for (; n < GET_ROWS && at + n < n_entries; n++)
            entries[n] = at + n;
        must(hd_spillable_map_get(&op, map, entries, n, &array));
        hd_array_clear(&array);
    }
    return (double)n_entries / (now() - start);
}

struct contender {
    const char *name;
    enum hd_disk_map_type type;
    bool compress;
    double java_puts; /* a second */
    double java_gets;
};

static void measure(const struct contender *c, struct hd_shared_array *const *batches,
                    uint64_t n_entries, uint64_t n_bytes, const char *folder)
{
    const struct hd_spillable_map_options options = {
        .schema = &schema,
        .memory_bytes = (uint64_t)((double)n_bytes * (1 - SPILLED)),
        .disk_map = c->type,
        .compress = c->compress,
        .folder = folder};
    hd_spillable_map *map;

    must(hd_spillable_map_new(&op, &options, &map));
    const double start = now();
    put_all(map, batches, n_entries);
    const double puts = (double)n_entries / (now() - start);
    const double gets = get_random(map, N_BATCH_GETS, GET_ROWS);
    const double single = get_random(map, N_SINGLE_GETS, 1);
    const double in_order = get_all(map);
    printf("%-20s spilled %2.0f%%, %4.0f MB on disk | puts/s %9.0f (%5.1f x Java) | random gets/s "
           "%9.0f (%5.1f x Java), one by one %9.0f (%5.1f x Java), in order %9.0f\n",
           c->name, 100.0 * (double)hd_spillable_map_spilled_rows(map) / (double)n_entries,
           (double)hd_spillable_map_disk_bytes(map) / 1e6, puts, puts / c->java_puts, gets,
           gets / c->java_gets, single, single / c->java_gets, in_order);
    fflush(stdout);
    hd_spillable_map_free(&op, map);
}

int main(int argc, char **argv)
{
    const uint64_t n_entries = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    const char *const folder = argc > 2 ? argv[2] : NULL;
    static const struct contender CONTENDERS[] = {
        {"BitCask, compressed", HD_DISK_MAP_BITCASK, true, 52000, 27000},
        {"BitCask, plain", HD_DISK_MAP_BITCASK, false, 170000, 40000},
#ifdef HD_HAVE_ROCKSDB
        {"RocksDB, compressed", HD_DISK_MAP_ROCKS_DB, true, 146000, 82000},
        {"RocksDB, plain", HD_DISK_MAP_ROCKS_DB, false, 146000, 82000},
#endif
    };
    uint64_t n_bytes;

    hd_op_init(&op);
    op.random_state[0] = 1;
    op.random_state[1] = 2;
    struct hd_shared_array **const batches = make_batches(n_entries, &n_bytes);
    printf("%" PRIu64 " entries of %.0f bytes, %.0f%% of them for the disk\n", n_entries,
           (double)n_bytes / (double)n_entries, 100 * SPILLED);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CONTENDERS); i++) {
        if (argc <= 3 || strncmp(CONTENDERS[i].name, argv[3], strlen(argv[3])) == 0)
            measure(&CONTENDERS[i], batches, n_entries, n_bytes, folder);
    }
    for (uint64_t i = 0; i * BATCH_ROWS < n_entries; i++)
        hd_shared_array_free(batches[i]);
    hd_free(&op, batches);
    hd_op_clear(&op);
    return 0;
}
