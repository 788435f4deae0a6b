/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of cleans of 1,000,000 files in 10,000 partitions, in memory: of all partitions, and after
 * one more write of 100 of them. The baseline of the same run is the listing alone.
 *
 *     gcc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Iinclude bench/micro/clean_plan_bench.c libhudi.a ...
 *         -o clean_plan_bench && ./clean_plan_bench
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "format/layout/partition.h"
#include "service/clean_planner.h"
#include "store/memory.h"

#define N_INSTANTS 100
#define N_PARTITIONS 10000
#define N_GROUPS 25
#define N_SLICES 4
#define N_CHANGED 100

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(struct hd_op *op, hudi_status status)
{
    if (status == HUDI_OK)
        return;
    fprintf(stderr, "%s\n", op->error == NULL ? "failed" : hudi_error_message(op->error));
    exit(1);
}

static void instant_of(unsigned number, char out[HD_INSTANT_TIME_BYTES])
{
    snprintf(out, HD_INSTANT_TIME_BYTES, "2024010203%07u", number);
}

static void put(struct hd_op *op, hd_file_system *fs, const char *path, const void *bytes, size_t n)
{
    hd_output_file *file;

    must(op, hd_fs_open_output(op, fs, path, true, &file));
    must(op, hd_output_file_write(op, file, bytes, n));
    must(op, hd_output_file_close(op, file, false));
}

/* Only the first commit after the last clean is read: it changed some partitions. */
static void make_timeline(struct hd_op *op, hd_file_system *fs)
{
    struct hd_commit_metadata metadata = {.operation_type = "UPSERT"};
    struct hd_str text = {0};
    char time[HD_INSTANT_TIME_BYTES], path[96];

    for (unsigned i = 0; i < N_CHANGED; i++) {
        char partition[16];
        const struct hd_write_stat stat = {.file_id = "f",
                                           .path = "p/f",
                                           .partition_path = partition,
                                           .prev_commit = "20240102030000001"};

        snprintf(partition, sizeof partition, "%05u=day", i * 97);
        must(op, hd_commit_metadata_add_stat(op, &metadata, &stat));
    }
    must(op, hd_commit_metadata_format(op, &metadata, &text));
    must(op, hd_fs_make_dirs(op, fs, "/t/.hoodie"));
    for (unsigned i = 0; i < N_INSTANTS; i++) {
        instant_of(i, time);
        snprintf(path, sizeof path, "/t/.hoodie/%s.commit", time);
        put(op, fs, path, text.data, text.size);
    }
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
}

static void make_partition(struct hd_op *op, hd_file_system *fs, unsigned number)
{
    char folder[32], path[160];

    snprintf(folder, sizeof folder, "/t/%05u=day", number);
    must(op, hd_fs_make_dirs(op, fs, folder));
    snprintf(path, sizeof path, "%s/%s", folder, HD_PARTITION_METAFILE);
    put(op, fs, path, "#", 1);
    for (unsigned g = 0; g < N_GROUPS; g++) {
        for (unsigned s = 0; s < N_SLICES; s++) {
            char time[HD_INSTANT_TIME_BYTES];

            instant_of(s * 2, time);
            snprintf(path, sizeof path, "%s/%08x-d602-4c87-aec0-%05u%07u-0_0-1-%u_%s.parquet",
                     folder, g * 2654435761u, number, g, s, time);
            put(op, fs, path, "x", 1);
        }
    }
}

static void clean_to(struct hd_op *op, hd_file_system *fs, const struct hd_table_version *version,
                     unsigned earliest)
{
    char earliest_time[HD_INSTANT_TIME_BYTES], time[HD_INSTANT_TIME_BYTES], path[96];
    const struct hd_clean_metadata metadata = {.start_time = time,
                                               .earliest_time = earliest_time,
                                               .last_completed = "",
                                               .policy = "KEEP_LATEST_COMMITS"};
    struct hd_str bytes = {0};

    instant_of(earliest, earliest_time);
    instant_of(N_INSTANTS, time);
    must(op, hd_clean_metadata_encode(op, &metadata, version, &bytes));
    snprintf(path, sizeof path, "/t/.hoodie/%s.clean", time);
    put(op, fs, path, bytes.data, bytes.size);
    hd_str_clear(&bytes);
}

static size_t n_files(const struct hd_clean_plan *plan)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->n_partitions; i++)
        n += plan->partitions[i].n_files;
    return n;
}

static void plan(struct hd_op *op, struct hd_table_snapshot *table,
                 const struct hd_options *options, const char *what, double baseline)
{
    struct hd_clean_plan made;
    struct hd_str bytes = {0};
    struct rusage before, after;
    uint64_t n_bytes;

    must(op, hd_timeline_load(op, table->fs, table->path, &table->config, &table->timeline));
    getrusage(RUSAGE_SELF, &before);
    const double start = seconds();
    must(op, hd_clean_plan_make(op, NULL, table, options, true, &made, &n_bytes));
    must(op, hd_clean_plan_encode(op, &made, table->config.version, "file:/t", &bytes));
    const double taken = seconds() - start;
    getrusage(RUSAGE_SELF, &after);
    printf(
        "%s: %zu files planned, %zu bytes: %.3f CPU s, listing alone %.3f: %.1f times, %ld MiB\n",
        what, n_files(&made), bytes.size, taken, baseline, taken / baseline,
        (after.ru_maxrss - before.ru_maxrss) / 1024);
    hd_clean_plan_clear(&made);
    hd_str_clear(&bytes);
    hd_timeline_clear(&table->timeline);
}

int main(void)
{
    struct hd_op op;
    struct hd_table_snapshot table = {.path = "/t"};
    const char *const fields[] = {"p"};
    struct hd_options options = {0};

    hd_op_init(&op);
    must(&op, hd_memory_file_system_open(&op, "bench", &table.fs));
    must(&op, hd_table_version_of(&op, 6, &table.config.version));
    table.config.partition_fields = (const char **)(uintptr_t)fields;
    table.config.n_partition_fields = 1;
    make_timeline(&op, table.fs);
    for (unsigned i = 0; i < N_PARTITIONS; i++)
        make_partition(&op, table.fs, i);
    must(&op, hd_options_set(&op, &options, "hoodie.cleaner.commits.retained", "10"));

    const double start = seconds();
    for (unsigned i = 0; i < N_PARTITIONS; i++) {
        struct hd_arena arena = {0};
        struct hd_file_info *infos;
        char folder[32];
        size_t n;

        snprintf(folder, sizeof folder, "/t/%05u=day", i);
        must(&op, hd_fs_list(&op, table.fs, folder, &arena, &infos, &n));
        hd_arena_clear(&arena);
    }
    const double baseline = seconds() - start;
    must(&op, hd_options_set(&op, &options, "hoodie.cleaner.incremental.mode", "false"));
    plan(&op, &table, &options, "all partitions", baseline);
    must(&op, hd_options_set(&op, &options, "hoodie.cleaner.incremental.mode", "true"));
    clean_to(&op, table.fs, table.config.version, N_INSTANTS - 11);
    plan(&op, &table, &options, "after one write of 100 partitions", baseline);

    hd_options_clear(&options);
    hd_fs_free(table.fs);
    hd_memory_drop("bench");
    hd_op_clear(&op);
    return 0;
}
