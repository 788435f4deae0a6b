/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines of 10,000 instants and file system views of 1,000,000 files in 10,000 partitions, in
 * memory. The baseline of the same run is the listing alone: names made and sorted by nobody.
 *
 *     gcc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Iinclude bench/micro/file_system_view_bench.c libhudi.a
 * \
 *         ... -o file_system_view_bench && ./file_system_view_bench
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "format/layout/file_system_view.h"
#include "store/memory.h"

#define N_INSTANTS 10000
#define N_PARTITIONS 10000
#define N_GROUPS 25
#define N_SLICES 4

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

static void make_timeline(struct hd_op *op, hd_file_system *fs)
{
    static const char *const SUFFIXES[] = {"commit.requested", "inflight", "commit"};

    must(op, hd_fs_make_dirs(op, fs, "/t/.hoodie"));
    for (unsigned i = 0; i < N_INSTANTS; i++) {
        for (size_t j = 0; j < HD_ARRAY_LENGTH(SUFFIXES); j++) {
            char time[HD_INSTANT_TIME_BYTES], path[96];
            hd_output_file *file;

            instant_of(i, time);
            snprintf(path, sizeof path, "/t/.hoodie/%s.%s", time, SUFFIXES[j]);
            must(op, hd_fs_open_output(op, fs, path, true, &file));
            must(op, hd_output_file_close(op, file, false));
        }
    }
}

/* The files of a partition: base files of the last instants, sorted by name as a listing is. */
static hudi_status list(struct hd_op *op, void *self, const char *partition_path,
                        struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    size_t at = 0;

    (void)self;
    HD_TRY(hd_arena_array(op, arena, N_GROUPS * N_SLICES, sizeof **out, out));
    for (unsigned g = 0; g < N_GROUPS; g++) {
        for (unsigned s = 0; s < N_SLICES; s++) {
            char time[HD_INSTANT_TIME_BYTES];
            char *name;

            instant_of(N_INSTANTS - N_SLICES + s, time);
            HD_TRY(hd_arena_printf(op, arena, &name, "%08x-d602-4c87-aec0-%.8s%04u-0_0-1-%u_%s.%s",
                                   g * 2654435761u, partition_path, g, s, time, "parquet"));
            (*out)[at++] = (struct hd_file_info){.name = name, .size_bytes = 1};
        }
    }
    *n = at;
    return HUDI_OK;
}

int main(void)
{
    struct hd_op op;
    hd_file_system *fs;
    struct hd_table_config config = {0};
    struct hd_timeline timeline;
    struct hd_file_system_view view;
    const struct hd_partition_lister lister = {list, NULL};
    const char **partitions;
    struct rusage usage;

    hd_op_init(&op);
    must(&op, hd_memory_file_system_open(&op, "bench", &fs));
    must(&op, hd_table_version_of(&op, 6, &config.version));
    make_timeline(&op, fs);
    double start = seconds();
    must(&op, hd_timeline_load(&op, fs, "/t", &config, &timeline));
    printf("timeline of %zu instants: %.3f CPU s\n", timeline.n_instants, seconds() - start);

    must(&op, hd_alloc_array(&op, N_PARTITIONS, sizeof *partitions, &partitions));
    for (unsigned i = 0; i < N_PARTITIONS; i++) {
        char *name;

        must(&op, hd_asprintf(&op, &name, "%05u=day", i));
        partitions[i] = name;
    }
    start = seconds();
    for (unsigned i = 0; i < N_PARTITIONS; i++) {
        struct hd_arena arena = {0};
        struct hd_file_info *infos;
        size_t n;

        must(&op, list(&op, NULL, partitions[i], &arena, &infos, &n));
        hd_arena_clear(&arena);
    }
    const double baseline = seconds() - start;
    getrusage(RUSAGE_SELF, &usage);
    const long before_kib = usage.ru_maxrss;
    start = seconds();
    must(&op, hd_file_system_view_of_lister(&op, NULL, &lister, &timeline, partitions, N_PARTITIONS,
                                            &view));
    const double taken = seconds() - start;
    getrusage(RUSAGE_SELF, &usage);
    printf("view of %zu groups, %d files: %.3f CPU s, listing alone %.3f: %.1f times, %ld MiB\n",
           view.n_groups, N_PARTITIONS * N_GROUPS * N_SLICES, taken, baseline, taken / baseline,
           (usage.ru_maxrss - before_kib) / 1024);
    start = seconds();
    for (size_t i = 0; i < view.n_groups; i++) {
        if (hd_file_system_view_find(&view, view.groups[i].partition_path,
                                     view.groups[i].file_id) != &view.groups[i])
            return 1;
    }
    printf("each group found: %.3f CPU s\n", seconds() - start);

    hd_file_system_view_clear(&view);
    hd_timeline_clear(&timeline);
    for (unsigned i = 0; i < N_PARTITIONS; i++)
        hd_free(&op, (void *)(uintptr_t)partitions[i]);
    hd_free(&op, partitions);
    hd_fs_free(fs);
    hd_memory_drop("bench");
    hd_op_clear(&op);
    return 0;
}
