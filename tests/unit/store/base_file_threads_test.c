/* SPDX-License-Identifier: Apache-2.0 */
/* One reader, row groups read by several threads at once. Labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "unit/store/store_testing.h"

#define N_GROUPS 16
#define GROUP_ROWS 1000

static void write_numbers(struct hd_op *op, hd_file_system *fs, const struct ArrowSchema *schema)
{
    const struct hd_base_write_options options = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec = HD_BASE_CODEC_ZSTD,
                                                  .codec_level = INT32_MIN,
                                                  .row_group_rows = GROUP_ROWS};
    struct ArrowArray rows;
    hd_builder *builder;
    hd_base_writer *writer;
    hd_output_file *file;
    uint64_t n_bytes;

    ASSERT_OK(op, hd_builder_new(op, schema, &builder));
    for (int64_t i = 0; i < N_GROUPS * GROUP_ROWS; i++) {
        ASSERT_OK(op, hd_builder_append_integer(op, hd_builder_child(builder, 0), i));
        ASSERT_OK(op, hd_builder_append_valid(op, builder));
    }
    ASSERT_OK(op, hd_builder_finish(op, builder, &rows));
    ASSERT_OK(op, hd_fs_open_output(op, fs, "/t/f", true, &file));
    ASSERT_OK(op, hd_base_writer_open(op, file, schema, &options, &writer));
    ASSERT_OK(op, hd_base_writer_write(op, writer, &rows));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_array_clear(&rows);
    hd_builder_free(builder);
}

struct work {
    hd_base_reader *reader;
    int64_t sums[N_GROUPS];
};

static hudi_status sum_group(struct hd_op *op, void *argument, size_t i)
{
    struct work *work = argument;
    const int32_t group = (int32_t)i;
    const struct hd_base_read_options options = {
        .row_groups = &group, .n_row_groups = 1, .batch_rows = 300};
    hd_base_batches *batches;
    struct ArrowArray rows;
    struct hd_column_stats stats;
    hudi_status status;

    HD_TRY(hd_base_reader_column_stats(op, work->reader, group, 0, &stats));
    hd_column_stats_clear(&stats);
    HD_TRY(hd_base_reader_read(op, work->reader, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &rows)) == HUDI_OK) {
        const int64_t *values =
            (const int64_t *)rows.children[0]->buffers[1] + rows.children[0]->offset;
        for (int64_t row = 0; row < rows.length; row++)
            work->sums[i] += values[row];
        hd_array_clear(&rows);
    }
    hd_base_batches_close(batches);
    return status == HUDI_END ? HUDI_OK : status;
}

static void threads_share_a_reader(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const struct hd_type integer = {.id = HD_TYPE_INT64};
    struct ArrowSchema schema;
    struct work work = {0};
    hd_pool *pool;

    ASSERT_OK(op, hd_schema_init_struct(op, &schema, "", false, 1));
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[0], "id", &integer, false));
    write_numbers(op, fs, &schema);
    ASSERT_OK(
        op, hd_base_reader_open(op, test_open(op, fs, "/t/f"), HD_BASE_FILE_PARQUET, &work.reader));
    assert_int_equal(hd_base_reader_n_row_groups(work.reader), N_GROUPS);
    ASSERT_OK(op, hd_pool_new(op, 4, &pool));
    ASSERT_OK(op, hd_pool_each(op, pool, N_GROUPS, sum_group, &work));
    for (int64_t i = 0; i < N_GROUPS; i++)
        assert_int_equal(work.sums[i],
                         i * GROUP_ROWS * GROUP_ROWS + GROUP_ROWS * (GROUP_ROWS - 1) / 2);
    hd_pool_free(pool);
    hd_base_reader_close(work.reader);
    hd_schema_clear(&schema);
    test_memory_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(threads_share_a_reader)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
