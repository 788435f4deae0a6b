/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes against a table kept as a list of rows (support/table_model.h). After each one the
 * table is read whole, as of an earlier commit, and for what changed since one.
 *
 *   HUDI_TEST_SEED     the first table's seed; each table's own is printed when it fails
 *   HUDI_TEST_SECONDS  go on with new tables for that long
 *
 * Labels: threads
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hudi/hudi.h"
#include "store/memory.h"
#include "support/arrow_rows.h"
#include "support/table_model.h"

#define N_TABLES 8 /* of a run without HUDI_TEST_SECONDS */
#define STEPS_PER_TABLE 14
#define MAX_COMMITS (STEPS_PER_TABLE + 2)
#define N_PARTITIONS 5
#define FAT_BYTES 3000

/* ---- chance ------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t below(int64_t n)
{
    return (int64_t)(next_random() % (uint64_t)n);
}

static bool chance(int percent)
{
    return below(100) < percent;
}

/* ---- a table and what it should hold ------------------------------------------------------ */

struct world {
    uint64_t seed;
    struct model_rules rules;
    int version;
    bool hive_style;
    bool odd_partitions; /* names that need encoding */
    bool fat;            /* long strings: records do not fit into memory */
    bool duplicates;     /* inserts may bring keys that are there */
    bool logged;         /* merge-on-read: see choose_rules() */
    bool planned;        /* a compaction is pending */
    bool planned_logs;   /* a log compaction is pending */
    bool serviced;       /* the newest instant is a service's */
    int64_t n_keys;
    int64_t next_key;            /* not used yet */
    bool known[MODEL_N_COLUMNS]; /* columns the table has */
    bool wide_n;                 /* MODEL_N was widened to long */
    char folder[64];             /* of a table on disk */
    char uri[128];
    hudi_context *context;
    char instants[MAX_COMMITS][32];        /* of commit 1, 2, ... */
    struct model_rows states[MAX_COMMITS]; /* after them; 0: empty */
    bool known_then[MAX_COMMITS][MODEL_N_COLUMNS];
    int n_commits;
    char did[4096]; /* operations so far */
};

static const struct {
    const char *name;
    char type;
} COLUMNS[MODEL_N_COLUMNS] = {
    [MODEL_ID] = {"id", 's'}, [MODEL_SUB] = {"sub", 'i'},
    [MODEL_P] = {"p", 's'},   [MODEL_TS] = {"at", 'l'},
    [MODEL_A] = {"a", 's'},   [MODEL_N] = {"n", 'i'},
    [MODEL_D] = {"d", 'd'},   [MODEL_DELETED] = {"_hoodie_is_deleted", 'b'},
    [MODEL_E0] = {"e0", 's'}, [MODEL_E1] = {"e1", 'l'},
    [MODEL_E2] = {"e2", 'd'},
};

static const char *const PLAIN_PARTITIONS[N_PARTITIONS] = {"p0", "p1", "p2", "2024-01-31", "x_y"};
static const char *const ODD_PARTITIONS[N_PARTITIONS] = {"p0", "a/b", "with space",
                                                         "pct%41=", "2007-09-26 13:14:35.981"};
/* As Hive encodes them. */
static const char *const ODD_FOLDERS[N_PARTITIONS] = {"p0", "a%2Fb", "with space", "pct%2541%3D",
                                                      "2007-09-26 13%3A14%3A35.981"};

static void log_step(struct world *world, const char *format, ...)
{
    const size_t n = strlen(world->did);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(world->did + n, sizeof world->did - n, format, arguments);
    va_end(arguments);
}

#define FAIL(world, ...)                                                                           \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\nHUDI_TEST_SEED=%" PRIu64 ", table at %s, after\n%s\n", (world)->seed,       \
                    (world)->uri, (world)->did);                                                   \
        fail();                                                                                    \
    } while (0)

static void must(const struct world *world, hudi_status status, hudi_error *error)
{
    if (status != HUDI_OK)
        FAIL(world, "%s: %s", hudi_status_name(status),
             error == NULL ? "no error" : hudi_error_message(error));
}

/* A call that takes `&error`. */
#define MUST(world, call)                                                                          \
    do {                                                                                           \
        const hudi_status status_ = (call);                                                        \
        must(world, status_, error);                                                               \
    } while (0)

static void set(const struct world *world, hudi_options *options, const char *key,
                const char *format, ...)
{
    char value[256];
    hudi_error *error = NULL;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    MUST(world, hudi_options_set(options, key, value, &error));
}

static hudi_options *new_options(const struct world *world)
{
    hudi_options *options = NULL;
    hudi_error *error = NULL;

    MUST(world, hudi_options_new(&options, &error));
    return options;
}

/* ---- cells as text ------------------------------------------------------------------------ */

/* A text that lives until the next release_texts(). */
static char **texts;
static size_t n_texts, text_capacity;

static char *keep_text(size_t n_bytes)
{
    if (n_texts == text_capacity) {
        text_capacity = text_capacity * 2 + 64;
        texts = realloc(texts, text_capacity * sizeof *texts);
        assert_non_null(texts);
    }
    texts[n_texts] = calloc(1, n_bytes);
    assert_non_null(texts[n_texts]);
    return texts[n_texts++];
}

static void release_texts(void)
{
    while (n_texts > 0)
        free(texts[--n_texts]);
}

static const char *partition_name(const struct world *world, int64_t number)
{
    return (world->odd_partitions ? ODD_PARTITIONS : PLAIN_PARTITIONS)[number];
}

static const char *cell_text(const struct world *world, const struct model_row *row, int column)
{
    const int64_t value = row->value[column];
    const bool is_long = world->fat && value % 3 == 0;

    if (row->null[column])
        return NULL;
    if (COLUMNS[column].type == 's' && value == MODEL_EMPTY_TEXT)
        return "";
    char *text = keep_text(is_long ? FAT_BYTES + 64 : 64);
    switch (column) {
    case MODEL_ID:
        snprintf(text, 64, "k%04" PRId64, value);
        break;
    case MODEL_P:
        snprintf(text, 64, "%s", partition_name(world, value));
        break;
    case MODEL_D:
    case MODEL_E2:
        snprintf(text, 64, "%.17g", (double)value / 4);
        break;
    case MODEL_DELETED:
        snprintf(text, 64, "%s", value != 0 ? "true" : "false");
        break;
    case MODEL_A:
    case MODEL_E0:
        snprintf(text, 64, "%s%" PRId64, COLUMNS[column].name, value);
        for (int i = 0; is_long && i < FAT_BYTES; i++) /* does not compress to nothing */
            text[strlen(text)] = (char)('a' + (value * 31 + i * i) % 26);
        break;
    default:
        snprintf(text, 64, "%" PRId64, value);
    }
    return text;
}

static void key_text(const struct world *world, const struct model_row *row, char out[128])
{
    const char *const id = cell_text(world, row, MODEL_ID);
    const char *const sub = cell_text(world, row, MODEL_SUB);

    if (world->rules.complex_key)
        snprintf(out, 128, "id:%s,sub:%s",
                 id == NULL    ? "__null__"
                 : *id == '\0' ? "__empty__"
                               : id,
                 sub == NULL ? "__null__" : sub);
    else
        snprintf(out, 128, "%s", id);
}

static void partition_text(const struct world *world, const struct model_row *row, char out[128])
{
    const bool is_default = row->null[MODEL_P] || row->value[MODEL_P] == MODEL_EMPTY_TEXT;
    const char *const name = is_default
                                 ? world->version >= 5 ? "__HIVE_DEFAULT_PARTITION__" : "default"
                             : world->odd_partitions ? ODD_FOLDERS[row->value[MODEL_P]]
                                                     : PLAIN_PARTITIONS[row->value[MODEL_P]];

    if (!world->rules.partitioned)
        out[0] = '\0';
    else
        snprintf(out, 128, "%s%s", world->hive_style ? "p=" : "", name);
}

/* ---- making a table ----------------------------------------------------------------------- */

static void choose_rules(struct world *world)
{
    static const int VERSIONS[] = {6, 6, 6, 6, 5, 4, 3, 2};

    world->version = VERSIONS[below(8)];
    world->rules = (struct model_rules){
        .payload = (enum model_payload)below(4),
        .ordered = chance(85),
        .complex_key = chance(35),
        .partitioned = chance(75),
        .deletes_by_column = chance(40),
        .newer_version = world->version >= 8, /* none yet: they cannot be read */
    };
    if (!world->rules.ordered)
        world->rules.payload = chance(70) ? MODEL_LATEST : MODEL_NON_DEFAULTS;
    if (world->rules.payload == MODEL_PARTIAL_UPDATE && world->version < 5)
        world->version = 5; /* older releases do not know it */
    /* The list of rows is that of copy-on-write. Merging log files comes to the same under these
     * payloads, if ordering values grow with each write: late records and partial ones meet other
     * rows there (docs/format/log-format.md 7.2). */
    world->logged = chance(45);
    if (world->logged && world->rules.payload > MODEL_EVENT_TIME)
        world->rules.payload = (enum model_payload)below(2);
    if (!world->rules.ordered && world->logged)
        world->rules.payload = MODEL_LATEST;
    world->rules.global = world->rules.partitioned && chance(30);
    world->hive_style = world->rules.partitioned && chance(40);
    world->odd_partitions = world->rules.partitioned && chance(30);
    world->fat = chance(20);
    world->duplicates = !world->rules.global && chance(15);
    world->n_keys = 20 + below(200);
    world->next_key = 1000;
    for (int i = 0; i < MODEL_E0; i++)
        world->known[i] = i != MODEL_DELETED || world->rules.deletes_by_column;
}

static void open_context(struct world *world)
{
    hudi_options *const options = new_options(world);
    hudi_error *error = NULL;

    set(world, options, "libhudi.threads", chance(50) ? "1" : "4");
    if (chance(40))
        set(world, options, "libhudi.memory.budget.bytes", "%d", 4 << 20);
    MUST(world, hudi_context_new(options, &world->context, &error));
    hudi_options_free(options);
}

static void create_table(struct world *world)
{
    static const char *const PAYLOADS[] = {"OverwriteWithLatestAvroPayload",
                                           "DefaultHoodieRecordPayload", "PartialUpdateAvroPayload",
                                           "OverwriteNonDefaultsWithLatestAvroPayload"};
    struct test_column columns[MODEL_N_COLUMNS];
    struct ArrowSchema schema;
    hudi_options *const options = new_options(world);
    hudi_error *error = NULL;
    size_t n = 0;

    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        if (world->known[i])
            columns[n++] = (struct test_column){COLUMNS[i].name, COLUMNS[i].type, false};
    test_schema_make(columns, n, &schema);
    set(world, options, "hoodie.table.name", "model");
    set(world, options, "hoodie.write.table.version", "%d", world->version);
    if (world->logged)
        set(world, options, "hoodie.table.type", "MERGE_ON_READ");
    set(world, options, "hoodie.table.recordkey.fields",
        world->rules.complex_key ? "id,sub" : "id");
    if (world->rules.partitioned)
        set(world, options, "hoodie.table.partition.fields", "p");
    if (world->rules.ordered)
        set(world, options, "hoodie.datasource.write.precombine.field", "at");
    if (world->hive_style)
        set(world, options, "hoodie.datasource.write.hive_style_partitioning", "true");
    if (world->odd_partitions)
        set(world, options, "hoodie.datasource.write.partitionpath.urlencode", "true");
    set(world, options, "hoodie.datasource.write.payload.class", "org.apache.hudi.common.model.%s",
        PAYLOADS[world->rules.payload]);
    MUST(world, hudi_table_create(world->context, world->uri, &schema, options, &error));
    if (schema.release != NULL)
        schema.release(&schema);
    hudi_options_free(options);
    log_step(world, "%sversion %d, %s%s, %s key%s%s%s%s%s\n",
             world->logged ? "merge-on-read, " : "", world->version, PAYLOADS[world->rules.payload],
             world->rules.ordered ? " by at" : "", world->rules.complex_key ? "complex" : "simple",
             world->rules.partitioned ? ", partitioned" : "", world->rules.global ? ", global" : "",
             world->rules.deletes_by_column ? ", deletes by column" : "", world->fat ? ", fat" : "",
             world->duplicates ? ", duplicates" : "");
}

static void open_world(struct world *world, uint64_t seed)
{
    *world = (struct world){.seed = seed};
    random_state = seed;
    choose_rules(world);
    if (chance(70)) {
        snprintf(world->uri, sizeof world->uri, "memory:model/%" PRIu64, seed);
    } else {
        strcpy(world->folder, "/tmp/hudi-test-XXXXXX");
        assert_non_null(mkdtemp(world->folder));
        snprintf(world->uri, sizeof world->uri, "%s/t", world->folder);
    }
    open_context(world);
    create_table(world);
}

static void close_world(struct world *world)
{
    char command[128];

    hudi_context_free(world->context);
    for (int i = 0; i < MAX_COMMITS; i++)
        model_rows_clear(&world->states[i]);
    if (world->folder[0] != '\0') {
        snprintf(command, sizeof command, "rm -rf '%s'", world->folder);
        assert_int_equal(system(command), 0);
    } else {
        hd_memory_drop("model");
    }
}

static hudi_table *open_table(const struct world *world)
{
    hudi_table *table = NULL;
    hudi_error *error = NULL;

    MUST(world, hudi_table_open(world->context, world->uri, NULL, &table, &error));
    return table;
}

/* ---- comparing ---------------------------------------------------------------------------- */

static void append(char *line, size_t *n, const char *text)
{
    const size_t length = text == NULL ? 1 : strlen(text);

    memcpy(line + *n, text == NULL ? "\x01" : text, length);
    line[*n + length] = '|';
    *n += length + 1;
}

static char *new_line(const struct world *world)
{
    return keep_text(world->fat ? 3 * FAT_BYTES : 1024);
}

static char *expected_line(const struct world *world, const struct model_row *row)
{
    char *const line = new_line(world);
    char text[128];
    size_t n = 0;

    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        append(line, &n, cell_text(world, row, i));
    append(line, &n, world->instants[row->changed]);
    key_text(world, row, text);
    append(line, &n, text);
    partition_text(world, row, text);
    append(line, &n, text);
    return line;
}

static char *read_line(const struct world *world, const struct test_table_rows *rows, size_t row)
{
    char *const line = new_line(world);
    size_t n = 0;

    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        append(line, &n, test_rows_cell(rows, row, COLUMNS[i].name));
    append(line, &n, test_rows_cell(rows, row, "_hoodie_commit_time"));
    append(line, &n, test_rows_cell(rows, row, "_hoodie_record_key"));
    append(line, &n, test_rows_cell(rows, row, "_hoodie_partition_path"));
    return line;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* `expected` rows changed after commit `since`. */
static void compare(const struct world *world, const char *what, const struct model_rows *expected,
                    int since, const struct test_table_rows *read)
{
    size_t n_wanted = 0;
    char **const wanted = calloc(expected->n + 1, sizeof *wanted);
    char **const got = calloc(read->n_rows + 1, sizeof *got);

    assert_non_null(wanted);
    assert_non_null(got);
    for (size_t i = 0; i < expected->n; i++)
        if (expected->rows[i].changed > since)
            wanted[n_wanted++] = expected_line(world, &expected->rows[i]);
    for (size_t i = 0; i < read->n_rows; i++)
        got[i] = read_line(world, read, i);
    qsort(wanted, n_wanted, sizeof *wanted, compare_lines);
    qsort(got, read->n_rows, sizeof *got, compare_lines);
    for (size_t i = 0; i < n_wanted || i < read->n_rows; i++)
        if (i >= n_wanted || i >= read->n_rows || strcmp(wanted[i], got[i]) != 0)
            FAIL(world, "%s: %zu rows where %zu should be; at %zu\n  %.200s\nshould be\n  %.200s",
                 what, read->n_rows, n_wanted, i, i < read->n_rows ? got[i] : "(none)",
                 i < n_wanted ? wanted[i] : "(none)");
    free(wanted);
    free(got);
    release_texts();
}

static void query(const struct world *world, const hudi_table *table, const hudi_options *options,
                  const char *what, const struct model_rows *expected, int since,
                  const bool known[MODEL_N_COLUMNS])
{
    struct ArrowArrayStream stream = {0};
    struct test_table_rows rows;
    hudi_error *error = NULL;

    MUST(world, hudi_scan_open(table, options, NULL, &stream, &error));
    test_rows_read(&stream, &rows);
    for (int i = 0; known != NULL && i < MODEL_N_COLUMNS; i++)
        if (known[i] != (test_rows_column(&rows, COLUMNS[i].name) >= 0))
            FAIL(world, "%s: column %s is %s", what, COLUMNS[i].name,
                 known[i] ? "missing" : "there");
    compare(world, what, expected, since, &rows);
    test_rows_clear(&rows);
}

static void check_reads(const struct world *world)
{
    hudi_table *const table = open_table(world);
    const int last = world->n_commits;
    char what[64];

    query(world, table, NULL, "snapshot", &world->states[last], 0, last == 0 ? NULL : world->known);
    if (last > 0) {
        const int as_of = 1 + (int)below(last);
        hudi_options *options = new_options(world);

        set(world, options, "as.of.instant", "%s", world->instants[as_of]);
        snprintf(what, sizeof what, "as of commit %d", as_of);
        query(world, table, options, what, &world->states[as_of], 0, world->known_then[as_of]);
        hudi_options_free(options);
    }
    if (last > 0 && !world->rules.newer_version) {
        const int begin = (int)below(last + 1);
        const int end = chance(60) ? last : begin + (int)below(last - begin + 1);
        hudi_options *options = new_options(world);

        set(world, options, "hoodie.datasource.query.type", "incremental");
        set(world, options, "hoodie.datasource.read.begin.instanttime", "%s",
            begin == 0 ? "0" : world->instants[begin]);
        if (end < last || chance(50))
            set(world, options, "hoodie.datasource.read.end.instanttime", "%s",
                end == 0 ? "0" : world->instants[end]);
        snprintf(what, sizeof what, "changes in (%d,%d]", begin, end);
        query(world, table, options, what, &world->states[end], begin, NULL);
        hudi_options_free(options);
    }
    hudi_table_free(table);
}

static void check_table(const struct world *world)
{
    hudi_table *const table = open_table(world);
    hudi_verification *verification = NULL;
    hudi_error *error = NULL;
    const bool duplicates = model_has_duplicates(&world->rules, &world->states[world->n_commits]);

    MUST(world, hudi_verify(table, NULL, &verification, &error));
    for (size_t i = 0; i < hudi_verification_n_findings(verification); i++) {
        const hudi_finding *const finding = hudi_verification_finding(verification, i);

        if (duplicates && strcmp(hudi_finding_kind(finding), "duplicate-key") == 0)
            continue;
        FAIL(world, "verify: %s: %s: %s", hudi_finding_kind(finding), hudi_finding_where(finding),
             hudi_finding_message(finding));
    }
    hudi_verification_free(verification);
    hudi_table_free(table);
}

/* ---- input -------------------------------------------------------------------------------- */

static int64_t home_partition(int64_t key)
{
    return (key * 7 + 3) % N_PARTITIONS;
}

static struct model_row random_row(struct world *world, int64_t key)
{
    struct model_row row = {0};

    memset(&row, 0, sizeof row);
    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        row.null[i] = chance(15);
    row.value[MODEL_ID] = key;
    row.null[MODEL_ID] = false;
    row.value[MODEL_SUB] = world->rules.complex_key ? below(2) : below(1000);
    row.value[MODEL_P] = chance(85) ? home_partition(key) : below(N_PARTITIONS);
    row.null[MODEL_P] = chance(3);
    if (row.null[MODEL_P])
        row.value[MODEL_P] = 0;
    row.value[MODEL_TS] = below(8);
    row.value[MODEL_A] = below(100000);
    row.value[MODEL_N] = below(1000) - 500;
    row.value[MODEL_D] = below(1000) - 500;
    row.value[MODEL_DELETED] = chance(15);
    row.value[MODEL_E0] = below(1000);
    row.value[MODEL_E1] = below(1000) << 33;
    row.value[MODEL_E2] = below(1000);
    if (world->logged) {
        row.value[MODEL_TS] += 10 * world->n_commits;
        row.null[MODEL_TS] = false;
    }
    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        if (row.null[i])
            row.value[i] = 0;
    return row;
}

/* Which columns an input has. */
struct layout {
    int columns[MODEL_N_COLUMNS];
    size_t n;
    bool wide_n;
};

static void choose_layout(struct world *world, const char *operation, struct layout *out)
{
    const bool is_delete = strcmp(operation, "delete") == 0;
    const bool keys_only = is_delete && chance(60);

    *out = (struct layout){.wide_n = world->wide_n && chance(70)};
    for (int i = 0; i < MODEL_N_COLUMNS; i++) {
        const bool needed = i == MODEL_ID || (i == MODEL_SUB && world->rules.complex_key) ||
                            (i == MODEL_P && world->rules.partitioned) ||
                            (i == MODEL_TS && world->logged && !is_delete);
        const bool there = world->known[i] || (i >= MODEL_E0 && !is_delete && chance(4));

        if (!needed && (!there || keys_only || chance(8)))
            continue;
        if (i == MODEL_N && !is_delete && chance(4))
            out->wide_n = true;
        out->columns[out->n++] = i;
    }
    for (size_t i = out->n; i > 1; i--) {
        const size_t j = (size_t)below((int64_t)i);
        const int column = out->columns[i - 1];

        out->columns[i - 1] = out->columns[j];
        out->columns[j] = column;
    }
}

/* Cells of columns that the input has not are null. */
static void cut_to_layout(const struct layout *layout, struct model_rows *rows)
{
    bool there[MODEL_N_COLUMNS] = {false};

    for (size_t i = 0; i < layout->n; i++)
        there[layout->columns[i]] = true;
    for (size_t r = 0; r < rows->n; r++)
        for (int i = 0; i < MODEL_N_COLUMNS; i++)
            if (!there[i]) {
                rows->rows[r].null[i] = true;
                rows->rows[r].value[i] = 0;
            }
}

static void open_input(const struct world *world, const struct layout *layout,
                       const struct model_rows *rows, size_t first, size_t n,
                       const struct test_stream_plan *plan, struct ArrowArrayStream *out)
{
    struct test_column columns[MODEL_N_COLUMNS];
    const char **const cells = calloc(n * layout->n + 1, sizeof *cells);

    assert_non_null(cells);
    for (size_t c = 0; c < layout->n; c++) {
        const int column = layout->columns[c];

        columns[c] = (struct test_column){COLUMNS[column].name, COLUMNS[column].type, false};
        if (column == MODEL_N && layout->wide_n)
            columns[c].type = 'l';
        for (size_t r = 0; r < n; r++)
            cells[r * layout->n + c] = cell_text(world, &rows->rows[first + r], column);
    }
    const struct test_rows input = {columns, layout->n, cells, n};
    test_stream_open(&input, plan, out);
    free(cells);
    release_texts();
}

/* ---- writing ------------------------------------------------------------------------------ */

enum fate { COMMITTED, ABORTED, BROKEN_INPUT, CANCELLED, ROWS_FAILED };

/* One write of `rows`, and what should come of it. */
struct step {
    const char *operation;
    struct model_rows rows;
    struct layout layout;
    hudi_options *options;
    enum fate fate;
    int64_t n_failed; /* rows without key */
    bool combined;    /* an insert keeps one row of each key */
};

static void set_write_options(const struct world *world, hudi_options *options,
                              const char *operation)
{
    static const char *const CODECS[] = {"UNCOMPRESSED", "SNAPPY", "ZSTD", "GZIP"};
    static const char *const INDEXES[] = {"BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"};

    set(world, options, "hoodie.cleaner.commits.retained", "50"); /* services commit, too */
    set(world, options, "hoodie.datasource.write.operation", operation);
    set(world, options, "hoodie.index.type", "%s",
        INDEXES[below(2) + (world->rules.global ? 2 : 0)]);
    set(world, options, "hoodie.parquet.compression.codec", "%s", CODECS[below(4)]);
    set(world, options, "hoodie.index.bloom.num_entries", "%d", (int)(10 + below(300)));
    set(world, options, "hoodie.bloom.index.filter.dynamic.max.entries", "1000");
    set(world, options, "hoodie.memory.merge.max.size", "%d", 1 << 20);
    set(world, options, "hoodie.common.spillable.diskmap.type",
        chance(50) ? "BITCASK" : "ROCKS_DB");
    if (chance(70)) {
        set(world, options, "hoodie.parquet.max.file.size", "%d", (int)(8000 + below(30000)));
        set(world, options, "hoodie.parquet.small.file.limit", "%d", (int)below(30000));
        set(world, options, "hoodie.copyonwrite.record.size.estimate", "%d",
            (int)(50 + below(2000)));
    }
    if (chance(30))
        set(world, options, "hoodie.parquet.block.size", "%d", (int)(1000 + below(20000)));
    if (chance(50))
        set(world, options, "hoodie.logfile.data.block.max.size", "%d", (int)(100 + below(20000)));
    if (chance(30))
        set(world, options, "hoodie.logfile.max.size", "%d", (int)(100 + below(5000)));
    if (chance(30))
        set(world, options, "hoodie.bulkinsert.sort.mode",
            chance(50) ? "GLOBAL_SORT" : "PARTITION_SORT");
    /* Which of known keys are merged depends on the small files that are chosen. */
    if (chance(30) && !world->duplicates)
        set(world, options, "hoodie.merge.allow.duplicate.on.inserts", "false");
}

/* All streams of a step; false when one failed as it should. */
static bool write_streams(const struct world *world, const struct step *step, hudi_write *write)
{
    const size_t n_streams = step->fate == CANCELLED ? 1 : 1 + (size_t)below(3);
    hudi_error *error = NULL;
    hudi_cancel *cancel = NULL;
    size_t first = 0;
    hudi_status status = HUDI_OK;

    MUST(world, hudi_cancel_new(&cancel, &error));
    for (size_t s = 0; s < n_streams && status == HUDI_OK; s++) {
        const size_t left = step->rows.n - first;
        const size_t n = s + 1 == n_streams ? left : (size_t)below((int64_t)left + 1);
        struct test_stream_plan plan = {
            .batch_rows = 1 + (size_t)below(80), .fail_at = -1, .cancel_at = -1, .cancel = cancel};
        struct ArrowArrayStream stream;

        if (step->fate == BROKEN_INPUT && s + 1 == n_streams)
            plan.fail_at = (int)below((int64_t)(n / plan.batch_rows) + 1);
        if (step->fate == CANCELLED && s + 1 == n_streams)
            plan.cancel_at = 0;
        open_input(world, &step->layout, &step->rows, first, n, &plan, &stream);
        status = hudi_write_stream(write, &stream, cancel, &error);
        if (stream.release != NULL)
            FAIL(world, "the stream was not taken");
        first += n;
    }
    hudi_cancel_free(cancel);
    switch (step->fate) {
    case BROKEN_INPUT:
        if (status == HUDI_OK || strstr(hudi_error_message(error), "the input broke off") == NULL)
            FAIL(world, "a broken input gave %s: %s", hudi_status_name(status),
                 error == NULL ? "" : hudi_error_message(error));
        break;
    case CANCELLED:
        if (status != HUDI_CANCELLED && step->rows.n > 0)
            FAIL(world, "a cancelled write gave %s", hudi_status_name(status));
        break;
    default:
        must(world, status, error);
    }
    hudi_error_free(error);
    return status == HUDI_OK;
}

static void note_commit(struct world *world, const struct step *step, const hudi_commit *commit)
{
    const int number = world->n_commits;

    world->serviced = false;
    snprintf(world->instants[number], sizeof world->instants[number], "%s",
             hudi_commit_instant(commit));
    memcpy(world->known_then[number], world->known, sizeof world->known);
    if (hudi_commit_failed_rows(commit) != step->n_failed)
        FAIL(world, "%" PRId64 " rows failed where %" PRId64 " should",
             hudi_commit_failed_rows(commit), step->n_failed);
    if ((step->n_failed > 0) != (hudi_commit_failure(commit, 0) != NULL))
        FAIL(world, "the failed rows are not told");
}

static void run_step(struct world *world, struct step *step)
{
    hudi_table *const table = open_table(world);
    hudi_write *write = NULL;
    hudi_commit *commit = NULL;
    hudi_error *error = NULL;

    set_write_options(world, step->options, step->operation);
    MUST(world, hudi_write_begin(table, step->options, &write, &error));
    const bool is_written =
        strcmp(step->operation, "delete_partition") == 0 || write_streams(world, step, write);
    if (step->fate == ABORTED || !is_written) {
        hudi_write_abort(write);
    } else {
        const hudi_status status = hudi_write_commit(write, &commit, &error);

        if (step->fate != ROWS_FAILED)
            must(world, status, error);
        else if (status != HUDI_ROWS_FAILED || strstr(hudi_error_message(error), "row") == NULL)
            FAIL(world, "rows without key gave %s", hudi_status_name(status));
        if (commit != NULL)
            note_commit(world, step, commit);
    }
    hudi_error_free(error);
    hudi_commit_free(commit);
    hudi_table_free(table);
}

/* The state that the step will bring, as the next one; the columns too. */
static struct model_rows *next_state(struct world *world, const struct step *step)
{
    struct model_rows *const next = &world->states[world->n_commits + 1];

    model_rows_clear(next);
    model_rows_copy(&world->states[world->n_commits], next);
    world->n_commits++;
    if (strcmp(step->operation, "delete") == 0)
        return next; /* whatever columns it comes with */
    for (size_t i = 0; i < step->layout.n; i++) {
        world->known[step->layout.columns[i]] = true;
        if (step->layout.columns[i] == MODEL_N)
            world->wide_n |= step->layout.wide_n;
    }
    return next;
}

static void choose_fate(struct world *world, struct step *step)
{
    if (step->rows.n > 2 && chance(12)) { /* rows without key */
        const size_t n = 1 + (size_t)below(4);

        for (size_t i = 0; i < n; i++) {
            struct model_row *const row = &step->rows.rows[below((int64_t)step->rows.n)];

            row->null[MODEL_ID] = row->null[MODEL_SUB] = true;
            row->value[MODEL_ID] = row->value[MODEL_SUB] = 0;
        }
        for (size_t i = 0; i < step->rows.n; i++)
            step->n_failed += model_lacks_key(&world->rules, &step->rows.rows[i]);
        if (chance(50))
            set(world, step->options, "libhudi.write.ignore.failed", "true");
        else
            step->fate = ROWS_FAILED;
    } else if (chance(14)) {
        step->fate = (enum fate)(ABORTED + below(3));
    }
}

/* The rows that can be written. */
static struct model_rows good_rows(const struct world *world, const struct step *step)
{
    struct model_rows good = {0};

    for (size_t i = 0; i < step->rows.n; i++)
        if (!model_lacks_key(&world->rules, &step->rows.rows[i]))
            model_rows_add(&good, &step->rows.rows[i]);
    return good;
}

static void apply(struct world *world, const struct step *step)
{
    struct model_rows good = good_rows(world, step);
    struct model_rows *const next = next_state(world, step);
    const int commit = world->n_commits;

    if (step->combined)
        model_combine_input(&world->rules, &good);
    if (strcmp(step->operation, "upsert") == 0)
        model_upsert(&world->rules, next, &good, commit);
    else if (strcmp(step->operation, "delete") == 0)
        model_delete(&world->rules, next, &good);
    else if (strcmp(step->operation, "insert_overwrite") == 0)
        model_overwrite(&world->rules, next, &good, false, commit);
    else if (strcmp(step->operation, "insert_overwrite_table") == 0)
        model_overwrite(&world->rules, next, &good, true, commit);
    else
        model_insert(&world->rules, next, &good, commit);
    model_rows_clear(&good);
}

static void finish_step(struct world *world, struct step *step)
{
    static const char *const FATES[] = {"", ", aborted", ", input breaks off", ", cancelled",
                                        ", rows fail"};

    log_step(world, "%s %zu rows%s%s\n", step->operation, step->rows.n, FATES[step->fate],
             step->fate == COMMITTED && step->n_failed > 0 ? ", without the failing ones" : "");
    if (step->fate == CANCELLED && step->rows.n == 0)
        step->fate = ABORTED;
    if (step->fate == COMMITTED)
        apply(world, step);
    run_step(world, step);
    model_rows_clear(&step->rows);
    hudi_options_free(step->options);
}

static void begin_step(struct world *world, const char *operation, struct step *out)
{
    *out = (struct step){.operation = operation, .options = new_options(world)};
    choose_layout(world, operation, &out->layout);
}

static void do_upsert(struct world *world)
{
    struct step step;
    const int64_t n = chance(5) ? 0 : 1 + below(world->fat ? 400 : 250);

    begin_step(world, "upsert", &step);
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = chance(85) ? below(world->n_keys) : world->next_key++;
        const struct model_row row = random_row(world, key);
        model_rows_add(&step.rows, &row);
    }
    cut_to_layout(&step.layout, &step.rows);
    choose_fate(world, &step);
    finish_step(world, &step);
}

/* A key that had rows perhaps, but has none now and is none of the last ones' either; else a new
 * one.
 */
static int64_t gone_key(struct world *world, const struct model_rows *taken)
{
    const struct model_rows *const now = &world->states[world->n_commits];
    const int64_t key = below(world->n_keys);
    bool there = false;

    for (size_t i = 0; i < now->n; i++)
        there |= now->rows[i].value[MODEL_ID] == key;
    for (size_t i = 0; i < taken->n; i++)
        there |= taken->rows[i].value[MODEL_ID] == key;
    return there ? world->next_key++ : key;
}

static void do_insert(struct world *world, const char *operation)
{
    struct step step;
    const int64_t n = 1 + below(250);

    begin_step(world, operation, &step);
    step.combined = chance(30);
    set(world, step.options, "hoodie.combine.before.insert", step.combined ? "true" : "false");
    world->next_key += 5;
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = step.combined && chance(30)       ? world->next_key - 1 - below(5)
                            : world->duplicates && chance(20) ? below(world->n_keys)
                            : chance(25)                      ? gone_key(world, &step.rows)
                                                              : world->next_key++;
        struct model_row row = random_row(world, key);

        /* What becomes of a partition that gets deletes alone is not tried here. */
        if (strncmp(operation, "insert_overwrite", 16) == 0)
            row.value[MODEL_DELETED] = 0;
        model_rows_add(&step.rows, &row);
    }
    cut_to_layout(&step.layout, &step.rows);
    choose_fate(world, &step);
    finish_step(world, &step);
}

static void do_delete(struct world *world)
{
    struct step step;
    const struct model_rows *const now = &world->states[world->n_commits];
    const int64_t n = 1 + below(60);

    begin_step(world, "delete", &step);
    for (int64_t i = 0; i < n; i++) {
        struct model_row row = random_row(world, below(world->n_keys));

        if (now->n > 0 && chance(80)) {
            const struct model_row *const stored = &now->rows[below((int64_t)now->n)];
            for (int c = MODEL_ID; c <= MODEL_P; c++) {
                row.value[c] = stored->value[c];
                row.null[c] = stored->null[c];
            }
        }
        model_rows_add(&step.rows, &row);
    }
    cut_to_layout(&step.layout, &step.rows);
    if (chance(15))
        step.fate = ABORTED;
    finish_step(world, &step);
}

static void do_delete_partition(struct world *world)
{
    const struct model_rows *const now = &world->states[world->n_commits];
    struct step step;
    char path[128];

    if (now->n == 0 || !world->rules.partitioned)
        return;
    const struct model_row like = now->rows[below((int64_t)now->n)];
    step = (struct step){.operation = "delete_partition", .options = new_options(world)};
    partition_text(world, &like, path);
    set(world, step.options, "hoodie.datasource.write.partitions.to.delete", "%s", path);
    log_step(world, "delete_partition %s\n", path);
    model_delete_partition(&world->rules, next_state(world, &step), &like);
    run_step(world, &step);
    hudi_options_free(step.options);
}

static void do_rollback(struct world *world)
{
    hudi_error *error = NULL;

    if (world->n_commits == 0 || world->planned || world->planned_logs || world->serviced)
        return; /* only the newest instant can be rolled back */
    hudi_table *const table = open_table(world);
    log_step(world, "roll back\n");
    MUST(world, hudi_rollback(table, world->instants[world->n_commits], &error));
    hudi_table_free(table);
    model_rows_clear(&world->states[world->n_commits--]);
    if (world->n_commits > 0)
        memcpy(world->known, world->known_then[world->n_commits], sizeof world->known);
    else
        for (int i = MODEL_E0; i < MODEL_N_COLUMNS; i++)
            world->known[i] = false;
}

/* Rows stay as they are; a compaction may be left pending, for the next writes to meet. */
static void do_compact(struct world *world)
{
    static const hudi_compact_step STEPS[] = {HUDI_COMPACT_SCHEDULE, HUDI_COMPACT_RUN,
                                              HUDI_COMPACT_PLAN_AND_RUN};
    const hudi_compact_step step = STEPS[below(3)];
    hudi_table *const table = open_table(world);
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;

    log_step(world, "compact, step %d\n", (int)step);
    MUST(world, hudi_compact(table, step, NULL, NULL, &done, &error));
    const bool any = hudi_compaction_length(done) > 0;
    world->planned = step == HUDI_COMPACT_SCHEDULE && (world->planned || any);
    world->serviced |= step != HUDI_COMPACT_SCHEDULE && any;
    hudi_compaction_free(done);
    hudi_table_free(table);
}

/* Likewise of log files. */
static void do_compact_logs(struct world *world)
{
    static const hudi_compact_step STEPS[] = {HUDI_COMPACT_SCHEDULE, HUDI_COMPACT_RUN,
                                              HUDI_COMPACT_PLAN_AND_RUN};
    const hudi_compact_step step = STEPS[below(3)];
    hudi_options *const options = new_options(world);
    hudi_table *table = NULL;
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;

    set(world, options, "hoodie.log.compaction.blocks.threshold", "%d", (int)(1 + below(3)));
    log_step(world, "compact log files, step %d\n", (int)step);
    MUST(world, hudi_table_open(world->context, world->uri, options, &table, &error));
    MUST(world, hudi_compact_logs(table, step, NULL, NULL, &done, &error));
    const bool any = hudi_compaction_length(done) > 0;
    world->planned_logs = step == HUDI_COMPACT_SCHEDULE && (world->planned_logs || any);
    world->serviced |= step != HUDI_COMPACT_SCHEDULE && any;
    hudi_compaction_free(done);
    hudi_table_free(table);
    hudi_options_free(options);
}

/* Likewise; a pending one would refuse updates. */
static void do_cluster(struct world *world)
{
    static const char *const LAYOUTS[] = {"linear", "z-order", "hilbert"};
    hudi_options *const options = new_options(world);
    hudi_table *table = NULL;
    hudi_clustering *done = NULL;
    hudi_error *error = NULL;

    if (chance(60)) {
        set(world, options, "hoodie.clustering.plan.strategy.sort.columns",
            chance(50) ? "a" : "a,id");
        set(world, options, "hoodie.layout.optimize.strategy", "%s", LAYOUTS[below(3)]);
    }
    if (chance(50))
        set(world, options, "hoodie.clustering.plan.strategy.target.file.max.bytes", "20000");
    log_step(world, "cluster\n");
    MUST(world, hudi_table_open(world->context, world->uri, options, &table, &error));
    MUST(world, hudi_cluster(table, HUDI_CLUSTER_PLAN_AND_RUN, NULL, NULL, &done, &error));
    world->serviced |= hudi_clustering_length(done) > 0;
    hudi_clustering_free(done);
    hudi_table_free(table);
    hudi_options_free(options);
}

static void random_step(struct world *world)
{
    const int64_t draw = below(100);

    if (draw < 45)
        do_upsert(world);
    else if (draw < 57)
        do_insert(world, "insert");
    else if (draw < 65)
        do_insert(world, "bulk_insert");
    else if (draw < 77)
        do_delete(world);
    else if (draw < 83)
        do_insert(world, "insert_overwrite");
    else if (draw < 87)
        do_insert(world, "insert_overwrite_table");
    else if (draw < 92)
        do_delete_partition(world);
    else
        do_rollback(world);
    if (chance(10)) {
        hudi_context_free(world->context);
        open_context(world);
    }
}

static void run_table(uint64_t seed)
{
    struct world *const world = calloc(1, sizeof *world);

    assert_non_null(world);
    open_world(world, seed);
    for (int i = 0; i < STEPS_PER_TABLE; i++) {
        random_step(world);
        check_reads(world);
        if (world->n_commits > 0 && chance(25)) {
            if (world->logged && world->version == 6 && chance(40))
                do_compact_logs(world);
            else if (world->logged && chance(75))
                do_compact(world);
            else if (!world->duplicates) /* they are told apart by their file groups */
                do_cluster(world);
            check_reads(world);
        }
        if (i % 5 == 4)
            check_table(world);
    }
    close_world(world);
    free(world);
}

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *const text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

static void any_sequence_of_writes_reads_as_the_list_of_rows_does(void **state)
{
    const uint64_t seed = (uint64_t)setting("HUDI_TEST_SEED", 1);
    const int64_t seconds = setting("HUDI_TEST_SECONDS", 0);
    const time_t end = time(NULL) + seconds;
    uint64_t n = 0;

    (void)state;
    print_message("HUDI_TEST_SEED=%" PRIu64 "\n", seed);
    do {
        run_table(seed + n++);
    } while (seconds > 0 ? time(NULL) < end : n < (uint64_t)setting("HUDI_TEST_TABLES", N_TABLES));
    print_message("%" PRIu64 " tables, %" PRIu64 " steps\n", n, n * STEPS_PER_TABLE);
    free(texts);
    texts = NULL;
    n_texts = text_capacity = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_of_writes_reads_as_the_list_of_rows_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
