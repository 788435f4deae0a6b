/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast hd_gather() merges: runs of an average length, alternating between two sources, over a
 * batch of 12 columns. The baseline of the same run is memcpy() of as many bytes into fresh memory.
 *
 *     gcc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Iinclude bench/micro/gather_bench.c src/arrow/[*].c \
 *         src/base/[*].c -lm -lpthread -o gather_bench && ./gather_bench     ([*]: a plain star)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/gather.h"
#include "arrow/schema.h"

#define N_COLUMNS 12
#define SOURCE_ROWS 200000
#define SECONDS 1.0

static const char *const FORMATS[N_COLUMNS] = {"u", "u", "u",      "l",       "l", "i",
                                               "g", "b", "d:10,2", "tsu:UTC", "i", "u"};

/* CPU time: other load counts for neither. */
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

static hudi_status append(struct hd_op *op, hd_builder *b, uint64_t value)
{
    char text[32];

    switch (hd_builder_type(b)->id) {
    case HD_TYPE_STRING: {
        const int n = snprintf(text, sizeof text, "value-%u", (unsigned)(value % 1000000));
        return hd_builder_append_bytes(op, b, hd_slice_of(text, (size_t)n));
    }
    case HD_TYPE_DOUBLE:
        return hd_builder_append_double(op, b, (double)value);
    case HD_TYPE_DECIMAL:
        return hd_builder_append_decimal(op, b, (hd_int128)(value % 10000000000));
    case HD_TYPE_BOOL:
        return hd_builder_append_integer(op, b, (int64_t)(value & 1));
    default:
        return hd_builder_append_integer(op, b, (int64_t)(value & INT32_MAX));
    }
}

/* The last two columns have nulls. */
static struct ArrowArray make_source(struct hd_op *op, const struct ArrowSchema *root)
{
    hd_builder *b;
    struct ArrowArray out;

    must(op, hd_builder_new(op, root, &b));
    for (int64_t row = 0; row < SOURCE_ROWS; row++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            const uint64_t value = hd_random_u64(op);
            hd_builder *column = hd_builder_child(b, c);
            const bool null = c >= N_COLUMNS - 2 && value % 10 == 0;
            must(op, null ? hd_builder_append_null(op, column) : append(op, column, value));
        }
        must(op, hd_builder_append_valid(op, b));
    }
    must(op, hd_builder_finish(op, b, &out));
    hd_builder_free(b);
    return out;
}

/* As a merge: each source goes forward, the runs have lengths 1 to 2 * average - 1. */
static void make_runs(struct hd_op *op, uint32_t average, uint32_t n_rows, struct hd_run_list *runs)
{
    uint32_t at[2] = {0, 0};

    for (uint32_t rows = 0, source = 0; rows < n_rows; source ^= 1) {
        const uint32_t length = (uint32_t)(hd_random_u64(op) % (2 * average - 1)) + 1;
        must(op, hd_run_list_add(op, runs, source, at[source], length));
        at[source] += length + (average == 1); /* no neighbours, even for single rows */
        rows += length;
    }
}

static void run(struct hd_op *op, const struct ArrowSchema *root,
                const struct ArrowArray *const *sources, uint32_t average, uint32_t n_rows)
{
    struct hd_run_list runs = {0};
    struct ArrowArray out;
    int n = 0;

    make_runs(op, average, n_rows, &runs);
    must(op, hd_gather(op, root, sources, 2, runs.runs, runs.n_runs, &out));
    const uint64_t n_bytes = hd_array_bytes(root, &out);
    const double start = seconds();
    for (; seconds() - start < SECONDS; n++) {
        hd_array_clear(&out);
        must(op, hd_gather(op, root, sources, 2, runs.runs, runs.n_runs, &out));
    }
    const double gather = (seconds() - start) / n;
    hd_array_clear(&out);

    uint8_t *from = malloc(n_bytes), *to = NULL;
    memset(from, 1, n_bytes);
    const double copy_start = seconds();
    for (n = 0; seconds() - copy_start < SECONDS; n++) {
        to = malloc(n_bytes);
        memcpy(to, from, n_bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
        free(to);
    }
    const double copy = (seconds() - copy_start) / n;
    free(from);
    printf("run length %5u: %7.1f M rows/s %7.2f GB/s, %4.2f of memcpy at %5.2f GB/s (%u rows, "
           "%.1f MB)\n",
           average, (double)runs.n_rows / gather * 1e-6, (double)n_bytes / gather * 1e-9,
           copy / gather, (double)n_bytes / copy * 1e-9, (unsigned)runs.n_rows,
           (double)n_bytes * 1e-6);
    hd_free(op, runs.runs);
}

int main(int argc, char **argv)
{
    static const uint32_t AVERAGES[] = {1, 3, 9, 100, 10000};
    struct ArrowSchema root, field;
    struct ArrowArray sources[2];
    const struct ArrowArray *pointers[] = {&sources[0], &sources[1]};
    struct hd_op op;

    hd_op_init(&op);
    must(&op, hd_schema_init_struct(&op, &root, "", false, N_COLUMNS));
    for (int c = 0; c < N_COLUMNS; c++) {
        field =
            (struct ArrowSchema){.format = FORMATS[c], .name = "c", .flags = ARROW_FLAG_NULLABLE};
        must(&op, hd_schema_copy(&op, &field, root.children[c]));
    }
    for (int i = 0; i < 2; i++)
        sources[i] = make_source(&op, &root);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(AVERAGES) && argc == 1; i++) {
        run(&op, &root, pointers, AVERAGES[i], 32768);
        run(&op, &root, pointers, AVERAGES[i], 150000);
    }
    if (argc > 1) /* one run length alone, for a profiler */
        run(&op, &root, pointers, (uint32_t)atoi(argv[1]), 32768);
    hd_array_clear(&sources[0]);
    hd_array_clear(&sources[1]);
    hd_schema_clear(&root);
    hd_op_clear(&op);
    return 0;
}
