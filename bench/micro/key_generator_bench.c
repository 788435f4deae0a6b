/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record keys and partitions of batches of 65536 rows, by generator. Prints nanoseconds of CPU time
 * a row.
 *
 *     key_generator_bench [ROWS]    default 4000000
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "engine/record/key_generator.h"

#define BATCH_ROWS 65536

static struct hd_op op;

static struct ArrowSchema fields[] = {
    {.format = "u", .name = "id", .flags = ARROW_FLAG_NULLABLE},
    {.format = "l", .name = "number", .flags = ARROW_FLAG_NULLABLE},
    {.format = "g", .name = "amount", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "sorted", .flags = ARROW_FLAG_NULLABLE},
    {.format = "u", .name = "mixed", .flags = ARROW_FLAG_NULLABLE},
    {.format = "l", .name = "ts", .flags = ARROW_FLAG_NULLABLE}};
static struct ArrowSchema *columns[] = {&fields[0], &fields[1], &fields[2],
                                        &fields[3], &fields[4], &fields[5]};
static struct ArrowSchema schema = {
    .format = "+s", .name = "", .n_children = 6, .children = columns};

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

static void append_text(hd_builder *builder, const char *prefix, int64_t n)
{
    char text[40];

    const int size = snprintf(text, sizeof text, "%s%08lld", prefix, (long long)n);
    must(hd_builder_append_bytes(&op, builder, hd_slice_of(text, (size_t)size)));
}

static void make_batch(struct ArrowArray *out)
{
    hd_builder *root;

    must(hd_builder_new(&op, &schema, &root));
    for (int64_t i = 0; i < BATCH_ROWS; i++) {
        append_text(hd_builder_child(root, 0), "record-", i * 7919 % 1000003);
        must(hd_builder_append_integer(&op, hd_builder_child(root, 1), i * 1000003));
        must(hd_builder_append_double(&op, hd_builder_child(root, 2), (double)i * 0.37));
        append_text(hd_builder_child(root, 3), "part-", i / 1000);
        append_text(hd_builder_child(root, 4), "part-", i * 31 % 200);
        must(hd_builder_append_integer(&op, hd_builder_child(root, 5),
                                       1704067200000 + i * 31 % 200 * 86400000));
        must(hd_builder_append_valid(&op, root));
    }
    must(hd_builder_finish(&op, root, out));
    hd_builder_free(root);
}

struct run {
    const char *name;
    enum hd_key_generator_type type;
    const char *keys[2];
    size_t n_keys;
    const char *partitions[2];
    size_t n_partitions;
};

static const struct run runs[] = {
    {"text key, no partition", HD_KEYGEN_NON_PARTITION, {"id"}, 1, {0}, 0},
    {"text key, sorted partition", HD_KEYGEN_SIMPLE, {"id"}, 1, {"sorted"}, 1},
    {"text key, mixed partition", HD_KEYGEN_SIMPLE, {"id"}, 1, {"mixed"}, 1},
    {"text key, two mixed partitions", HD_KEYGEN_COMPLEX, {"id"}, 1, {"mixed", "ts"}, 2},
    {"text key, time as partition", HD_KEYGEN_TIMESTAMP, {"id"}, 1, {"ts"}, 1},
    {"long key, no partition", HD_KEYGEN_NON_PARTITION, {"number"}, 1, {0}, 0},
    {"double key, no partition", HD_KEYGEN_NON_PARTITION, {"amount"}, 1, {0}, 0},
    {"text and long key, no partition", HD_KEYGEN_COMPLEX, {"id", "number"}, 2, {0}, 0},
};

static double run_one(const struct run *run, const struct ArrowArray *batch, int64_t n_rows)
{
    struct hd_table_version version = {.number = 6};
    struct hd_table_config config = {
        .version = &version,
        .key_generator = run->type,
        .record_key_fields = (const char **)(uintptr_t)run->keys,
        .n_record_key_fields = run->n_keys,
        .partition_fields = (const char **)(uintptr_t)run->partitions,
        .n_partition_fields = run->n_partitions,
        .default_partition = "__HIVE_DEFAULT_PARTITION__",
    };
    hd_key_generator *generator;
    struct hd_partition_set partitions = {0};
    struct hd_arena arena = {0};

    must(hd_properties_set(&op, &config.properties, "hoodie.keygen.timebased.timestamp.type",
                           "EPOCHMILLISECONDS"));
    must(hd_properties_set(&op, &config.properties, "hoodie.keygen.timebased.output.dateformat",
                           "yyyy/MM/dd"));
    must(hd_key_generator_new(&op, &config, NULL, &schema, HD_COMPLEX_WITH_FIELD, &generator));
    const double start = now();

    for (int64_t done = 0; done < n_rows; done += batch->length) {
        struct hd_keys keys;

        must(hd_key_generator_apply(&op, generator, batch, &arena, &partitions, &keys));
        hd_keys_clear(&op, &keys);
        hd_arena_reset(&arena);
    }
    const double seconds = now() - start;

    hd_key_generator_free(generator);
    hd_map_clear(&partitions.paths);
    hd_arena_clear(&arena);
    hd_properties_clear(&config.properties);
    return seconds;
}

int main(int argc, char **argv)
{
    const int64_t n_rows = argc > 1 ? atoll(argv[1]) : 4000000;
    const int64_t rounded = (n_rows + BATCH_ROWS - 1) / BATCH_ROWS * BATCH_ROWS;
    struct ArrowArray batch;

    hd_op_init(&op);
    make_batch(&batch);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(runs); i++)
        printf("%-34s %6.1f ns/row\n", runs[i].name,
               run_one(&runs[i], &batch, rounded) * 1e9 / (double)rounded);
    hd_array_clear(&batch);
    hd_op_clear(&op);
    return 0;
}
