/* SPDX-License-Identifier: Apache-2.0 */
/* One file can be out of space by RLIMIT_FSIZE, which is this process's own. */
#include "engine/record/bitcask.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/arrow/arrow_testing.h"

#define N_GROUPS 200u
#define HEADER_BYTES 24u

static char folder[64];

/* Group `number` has 1 to 5 rows of up to 3000 bytes; every third can be compressed. */
struct group {
    uint8_t bytes[15000];
    uint32_t ends[5];
    struct hd_disk_group view;
};

static const struct hd_disk_group *group_of(uint32_t number, struct group *g)
{
    uint32_t random = number * 2654435761u + 1, end = 0;

    g->view = (struct hd_disk_group){.ends = g->ends, .n_rows = number % 5 + 1, .bytes = g->bytes};
    for (uint32_t i = 0; i < g->view.n_rows; i++) {
        random = random * 1664525 + 1013904223;
        end += random >> 8 & 2047;
        g->ends[i] = end;
    }
    for (uint32_t i = 0; i < end; i++) {
        random = random * 1664525 + 1013904223;
        g->bytes[i] = number % 3 == 0 ? 'x' : (uint8_t)(random >> 24);
    }
    return &g->view;
}

static void *open_store(struct hd_op *op, bool compress)
{
    void *store;

    OK(hd_bitcask_ops.open(op, folder, compress, &store));
    return store;
}

static void append_groups(struct hd_op *op, void *store, uint32_t first, uint32_t n)
{
    struct group g;

    for (uint32_t i = first; i < first + n; i++)
        OK(hd_bitcask_ops.append(op, store, group_of(i, &g)));
}

struct visits {
    const uint64_t *groups;
    size_t n;
};

static hudi_status check_group(struct hd_op *op, void *self, size_t i,
                               const struct hd_disk_group *group)
{
    struct visits *const visits = self;
    struct group g;

    (void)op;
    assert_int_equal(i, visits->n++);
    const struct hd_disk_group *const wanted = group_of((uint32_t)visits->groups[i], &g);
    assert_int_equal(group->n_rows, wanted->n_rows);
    assert_memory_equal(group->ends, wanted->ends, wanted->n_rows * sizeof *wanted->ends);
    if (wanted->ends[wanted->n_rows - 1] > 0)
        assert_memory_equal(group->bytes, wanted->bytes, wanted->ends[wanted->n_rows - 1]);
    return HUDI_OK;
}

static hudi_status read_groups(struct hd_op *op, const void *store, const uint64_t *groups,
                               size_t n)
{
    struct visits visits = {.groups = groups};
    const hudi_status status = hd_bitcask_ops.read(op, store, groups, n, check_group, &visits);

    if (status == HUDI_OK)
        assert_int_equal(visits.n, n);
    return status;
}

static void check_all(struct hd_op *op, const void *store, size_t n)
{
    uint64_t groups[N_GROUPS];

    for (size_t i = 0; i < n; i++)
        groups[i] = i;
    OK(read_groups(op, store, groups, n));
}

/* ---- what it gives back --------------------------------------------------------------------- */

static void check_store(struct hd_op *op, bool compress)
{
    void *const store = open_store(op, compress);
    uint64_t groups[N_GROUPS];

    for (uint32_t n = 0; n < N_GROUPS; n += 10) {
        append_groups(op, store, n, 10);
        check_all(op, store, n + 10); /* some in the file, some not yet */
    }
    assert_true(hd_bitcask_ops.disk_bytes(store) > 0);
    for (int round = 0; round < 50; round++) {
        size_t n = 0;
        for (uint64_t i = 0; i < N_GROUPS; i++) {
            if (hd_random_u64(op) % (uint64_t)(round + 1) == 0)
                groups[n++] = i;
        }
        OK(read_groups(op, store, groups, n));
    }
    hd_bitcask_ops.close(op, store);
}

static void plain_groups_come_back(void **state)
{
    check_store(*state, false);
}

static void compressed_groups_come_back(void **state)
{
    check_store(*state, true);
}

static void compression_saves_space_and_never_costs_any(void **state)
{
    struct hd_op *op = *state;
    uint64_t n_bytes[2];

    for (int compress = 0; compress < 2; compress++) {
        void *const store = open_store(op, compress);
        append_groups(op, store, 0, N_GROUPS);
        n_bytes[compress] = hd_bitcask_ops.disk_bytes(store);
        hd_bitcask_ops.close(op, store);
    }
    assert_true(n_bytes[1] < n_bytes[0] * 8 / 10);
}

static void the_file_has_no_name(void **state)
{
    struct hd_op *op = *state;
    void *const store = open_store(op, false);
    DIR *const dir = opendir(folder);

    append_groups(op, store, 0, N_GROUPS);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        assert_int_equal(e->d_name[0], '.');
    closedir(dir);
    hd_bitcask_ops.close(op, store);
}

/* CRC-32 bit by bit, to have another than the one tested. */
static uint32_t slow_crc(const uint8_t *bytes, size_t n)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static uint64_t load_be(const uint8_t *at, int n)
{
    uint64_t value = 0;

    for (int i = 0; i < n; i++)
        value = value << 8 | at[i];
    return value;
}

static void records_have_the_fields_of_hudis(void **state)
{
    struct hd_op *op = *state;
    void *const store = open_store(op, false);
    static uint8_t file[1 << 20];
    struct group g;
    size_t at = 0;

    test_clock_set(op, 1700000000123);
    append_groups(op, store, 0, N_GROUPS);
    const ssize_t n = pread(hd_bitcask_file(store), file, sizeof file, 0);
    assert_int_equal(n, hd_bitcask_ops.disk_bytes(store));
    for (uint32_t i = 0; at < (size_t)n; i++) {
        const struct hd_disk_group *const group = group_of(i, &g);
        const uint32_t value_bytes = group->ends[group->n_rows - 1];
        const size_t record_bytes = HEADER_BYTES + (size_t)group->n_rows * 4 + value_bytes;
        assert_int_equal(load_be(file + at, 8), slow_crc(file + at + 8, record_bytes - 8));
        assert_int_equal(load_be(file + at + 8, 8), 1700000000123);
        assert_int_equal(load_be(file + at + 16, 4), group->n_rows * 4);
        assert_int_equal(load_be(file + at + 20, 4), value_bytes);
        at += record_bytes;
    }
    assert_int_equal(at, n);
    hd_bitcask_ops.close(op, store);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void every_changed_byte_is_corrupt(void **state)
{
    struct hd_op *op = *state;

    for (int compress = 0; compress < 2; compress++) {
        void *const store = open_store(op, compress);
        const int file = hd_bitcask_file(store);
        append_groups(op, store, 0, N_GROUPS);
        for (off_t at = 0; at < 6000; at += at < 100 ? 1 : 37) {
            uint8_t byte;
            const uint64_t groups[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
            assert_int_equal(pread(file, &byte, 1, at), 1);
            byte ^= 0x10;
            assert_int_equal(pwrite(file, &byte, 1, at), 1);
            assert_int_equal(read_groups(op, store, groups, 10), HUDI_CORRUPT);
            assert_string_equal(hudi_error_path(op->error), folder);
            hd_op_clear_error(op);
            byte ^= 0x10;
            assert_int_equal(pwrite(file, &byte, 1, at), 1);
        }
        check_all(op, store, N_GROUPS);
        hd_bitcask_ops.close(op, store);
    }
}

static void a_file_cut_short_is_corrupt(void **state)
{
    struct hd_op *op = *state;
    void *const store = open_store(op, false);
    const uint64_t first = 0, last = N_GROUPS - 1;

    append_groups(op, store, 0, N_GROUPS);
    assert_int_equal(ftruncate(hd_bitcask_file(store), 10), 0);
    assert_int_equal(read_groups(op, store, &first, 1), HUDI_CORRUPT);
    assert_non_null(strstr(hudi_error_message(op->error), "cut short"));
    hd_op_clear_error(op);
    OK(read_groups(op, store, &last, 1)); /* that one is not in the file yet */
    hd_bitcask_ops.close(op, store);
}

static void a_full_disk_is_told_and_loses_nothing(void **state)
{
    struct hd_op *op = *state;
    void *const store = open_store(op, false);
    struct rlimit before, limit;
    struct group g;
    uint32_t n = 0;
    hudi_status status;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 200000; /* in the middle of the second write */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    while ((status = hd_bitcask_ops.append(op, store, group_of(n, &g))) == HUDI_OK)
        n++;
    assert_int_equal(status, HUDI_IO);
    assert_non_null(strstr(hudi_error_message(op->error), "bytes of spilled records"));
    assert_string_equal(hudi_error_path(op->error), folder);
    hd_op_clear_error(op);
    check_all(op, store, n);
    assert_int_equal(hd_bitcask_ops.append(op, store, group_of(n, &g)), HUDI_IO);
    hd_op_clear_error(op);
    check_all(op, store, n);
    /* With room again it goes on. */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    append_groups(op, store, n, N_GROUPS - n);
    check_all(op, store, N_GROUPS);
    hd_bitcask_ops.close(op, store);
}

static void a_folder_that_is_none_is_told(void **state)
{
    struct hd_op *op = *state;
    void *store;

    assert_int_equal(hd_bitcask_ops.open(op, "/dev/null/folder", false, &store), HUDI_IO);
    assert_null(store);
    assert_string_equal(hudi_error_path(op->error), "/dev/null/folder");
}

/* Open, append until something is in the file, read: whatever fails, no more than that is lost. */
static hudi_status work(struct hd_op *op, void **store, uint32_t *n)
{
    static const uint64_t GROUPS[] = {0, 2, 40, 41, 99};
    struct group g;

    if (*store == NULL)
        HD_TRY(hd_bitcask_ops.open(op, folder, true, store));
    for (; *n < 100; ++*n)
        HD_TRY(hd_bitcask_ops.append(op, *store, group_of(*n, &g)));
    return read_groups(op, *store, GROUPS, 5);
}

static void every_fault_can_be_tried_again(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        void *store = NULL;
        uint32_t n = 0;
        test_fault_arm(op, nth);
        status = work(op, &store, &n);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_op_clear_error(op);
        OK(work(op, &store, &n));
        check_all(op, store, 100);
        hd_bitcask_ops.close(op, store);
    }
}

static void offsets_count_against_the_budget(void **state)
{
    struct hd_op *op = *state;
    void *const store = open_store(op, false);
    const uint32_t end = 10;
    const uint8_t bytes[10] = {0};
    const struct hd_disk_group group = {&end, 1, bytes};
    hudi_status status;
    uint64_t n = 0;

    test_budget_limit(op, 4096);
    while ((status = hd_bitcask_ops.append(op, store, &group)) == HUDI_OK)
        n++;
    assert_int_equal(status, HUDI_NO_MEMORY);
    assert_non_null(strstr(hudi_error_message(op->error), "memory budget"));
    assert_in_range(n, 200, 512);
    hd_bitcask_ops.close(op, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plain_groups_come_back),
        TEST(compressed_groups_come_back),
        TEST(compression_saves_space_and_never_costs_any),
        TEST(the_file_has_no_name),
        TEST(records_have_the_fields_of_hudis),
        TEST(every_changed_byte_is_corrupt),
        TEST(a_file_cut_short_is_corrupt),
        TEST(a_full_disk_is_told_and_loses_nothing),
        TEST(a_folder_that_is_none_is_told),
        TEST(every_fault_can_be_tried_again),
        TEST(offsets_count_against_the_budget),
    };

    snprintf(folder, sizeof folder, "/tmp/hudi-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (rmdir(folder) != 0);
}
