/* SPDX-License-Identifier: Apache-2.0 */
#include "support/write_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/memory.h"
#include "support/arrow_rows.h"

#define FAT_BYTES 3000

/* ---- world_chance -------------------------------------------------------------------------------
 */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t world_below(int64_t n)
{
    return (int64_t)(next_random() % (uint64_t)n);
}

bool world_chance(int percent)
{
    return world_below(100) < percent;
}

/* ---- a table and what it should hold ------------------------------------------------------ */

const struct world_column world_columns[MODEL_N_COLUMNS] = {
    [MODEL_ID] = {"id", 's'}, [MODEL_SUB] = {"sub", 'i'},
    [MODEL_P] = {"p", 's'},   [MODEL_TS] = {"at", 'l'},
    [MODEL_A] = {"a", 's'},   [MODEL_N] = {"n", 'i'},
    [MODEL_D] = {"d", 'd'},   [MODEL_DELETED] = {"_hoodie_is_deleted", 'b'},
    [MODEL_E0] = {"e0", 's'}, [MODEL_E1] = {"e1", 'l'},
    [MODEL_E2] = {"e2", 'd'},
};

static const char *const PLAIN_PARTITIONS[WORLD_PARTITIONS] = {"p0", "p1", "p2", "2024-01-31",
                                                               "x_y"};
static const char *const ODD_PARTITIONS[WORLD_PARTITIONS] = {"p0", "a/b", "with space",
                                                             "pct%41=", "2007-09-26 13:14:35.981"};
/* As Hive encodes them. */
static const char *const ODD_FOLDERS[WORLD_PARTITIONS] = {
    "p0", "a%2Fb", "with space", "pct%2541%3D", "2007-09-26 13%3A14%3A35.981"};

void world_log(struct world *world, const char *format, ...)
{
    const size_t n = strlen(world->did);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(world->did + n, sizeof world->did - n, format, arguments);
    va_end(arguments);
}

void world_must(const struct world *world, hudi_status status, hudi_error *error)
{
    if (status != HUDI_OK)
        WORLD_FAIL(world, "%s: %s", hudi_status_name(status),
                   error == NULL ? "no error" : hudi_error_message(error));
}

void world_set(const struct world *world, hudi_options *options, const char *key,
               const char *format, ...)
{
    char value[256];
    hudi_error *error = NULL;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    WORLD_MUST(world, hudi_options_set(options, key, value, &error));
}

hudi_options *world_options(const struct world *world)
{
    hudi_options *options = NULL;
    hudi_error *error = NULL;

    WORLD_MUST(world, hudi_options_new(&options, &error));
    return options;
}

/* ---- cells as text ------------------------------------------------------------------------ */

/* A text that lives until the next world_release_texts(). */
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

void world_release_texts(void)
{
    while (n_texts > 0)
        free(texts[--n_texts]);
}

static const char *partition_name(const struct world *world, int64_t number)
{
    return (world->odd_partitions ? ODD_PARTITIONS : PLAIN_PARTITIONS)[number];
}

const char *world_cell_text(const struct world *world, const struct model_row *row, int column)
{
    const int64_t value = row->value[column];
    const bool is_long = world->fat && value % 3 == 0;

    if (row->null[column])
        return NULL;
    if (world_columns[column].type == 's' && value == MODEL_EMPTY_TEXT)
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
        snprintf(text, 64, "%s%" PRId64, world_columns[column].name, value);
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
    const char *const id = world_cell_text(world, row, MODEL_ID);
    const char *const sub = world_cell_text(world, row, MODEL_SUB);

    if (world->rules.complex_key)
        snprintf(out, 128, "id:%s,sub:%s",
                 id == NULL    ? "__null__"
                 : *id == '\0' ? "__empty__"
                               : id,
                 sub == NULL ? "__null__" : sub);
    else
        snprintf(out, 128, "%s", id);
}

void world_partition_text(const struct world *world, const struct model_row *row, char out[128])
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

    world->version = VERSIONS[world_below(8)];
    world->rules = (struct model_rules){
        .payload = (enum model_payload)world_below(4),
        .ordered = world_chance(85),
        .complex_key = world_chance(35),
        .partitioned = world_chance(75),
        .deletes_by_column = world_chance(40),
        .newer_version = world->version >= 8, /* none yet: they cannot be read */
        .late_renews = world->version < 4,
    };
    if (!world->rules.ordered)
        world->rules.payload = world_chance(70) ? MODEL_LATEST : MODEL_NON_DEFAULTS;
    if (world->rules.payload == MODEL_PARTIAL_UPDATE && world->version < 5)
        world->version = 5; /* older releases do not know it */
    /* The list of rows is that of copy-on-write. Merging log files comes to the same under these
     * payloads, if ordering values grow with each write: late records and partial ones meet other
     * rows there (docs/format/log-format.md 7.2). */
    world->logged = world_chance(45);
    if (world->logged && world->rules.payload > MODEL_EVENT_TIME)
        world->rules.payload = (enum model_payload)world_below(2);
    if (!world->rules.ordered && world->logged)
        world->rules.payload = MODEL_LATEST;
    world->rules.global = world->rules.partitioned && world_chance(30);
    world->hive_style = world->rules.partitioned && world_chance(40);
    world->odd_partitions = world->rules.partitioned && world_chance(30);
    world->fat = world_chance(20);
    world->duplicates = !world->rules.global && world_chance(15);
    world->n_keys = 20 + world_below(200);
    world->next_key = 1000;
    for (int i = 0; i < MODEL_E0; i++)
        world->known[i] = i != MODEL_DELETED || world->rules.deletes_by_column;
}

void world_open_context(struct world *world)
{
    hudi_options *const options = world_options(world);
    hudi_error *error = NULL;

    world_set(world, options, "libhudi.threads", world_chance(50) ? "1" : "4");
    if (world_chance(40))
        world_set(world, options, "libhudi.memory.budget.bytes", "%d", 4 << 20);
    WORLD_MUST(world, hudi_context_new(options, &world->context, &error));
    hudi_options_free(options);
}

static void create_table(struct world *world)
{
    static const char *const PAYLOADS[] = {"OverwriteWithLatestAvroPayload",
                                           "DefaultHoodieRecordPayload", "PartialUpdateAvroPayload",
                                           "OverwriteNonDefaultsWithLatestAvroPayload"};
    struct test_column columns[MODEL_N_COLUMNS];
    struct ArrowSchema schema;
    hudi_options *const options = world_options(world);
    hudi_error *error = NULL;
    size_t n = 0;

    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        if (world->known[i])
            columns[n++] =
                (struct test_column){world_columns[i].name, world_columns[i].type, false};
    test_schema_make(columns, n, &schema);
    world_set(world, options, "hoodie.table.name", "model");
    world_set(world, options, "hoodie.write.table.version", "%d", world->version);
    if (world->logged)
        world_set(world, options, "hoodie.table.type", "MERGE_ON_READ");
    world_set(world, options, "hoodie.table.recordkey.fields",
              world->rules.complex_key ? "id,sub" : "id");
    if (world->rules.partitioned)
        world_set(world, options, "hoodie.table.partition.fields", "p");
    if (world->rules.ordered)
        world_set(world, options, "hoodie.datasource.write.precombine.field", "at");
    if (world->hive_style)
        world_set(world, options, "hoodie.datasource.write.hive_style_partitioning", "true");
    if (world->odd_partitions)
        world_set(world, options, "hoodie.datasource.write.partitionpath.urlencode", "true");
    world_set(world, options, "hoodie.datasource.write.payload.class",
              "org.apache.hudi.common.model.%s", PAYLOADS[world->rules.payload]);
    WORLD_MUST(world, hudi_table_create(world->context, world->uri, &schema, options, &error));
    if (schema.release != NULL)
        schema.release(&schema);
    hudi_options_free(options);
    world_log(
        world, "%sversion %d, %s%s, %s key%s%s%s%s%s\n", world->logged ? "merge-on-read, " : "",
        world->version, PAYLOADS[world->rules.payload], world->rules.ordered ? " by at" : "",
        world->rules.complex_key ? "complex" : "simple",
        world->rules.partitioned ? ", partitioned" : "", world->rules.global ? ", global" : "",
        world->rules.deletes_by_column ? ", deletes by column" : "", world->fat ? ", fat" : "",
        world->duplicates ? ", duplicates" : "");
}

void world_open(struct world *world, uint64_t seed)
{
    *world = (struct world){.seed = seed};
    random_state = seed;
    choose_rules(world);
    if (world_chance(70)) {
        snprintf(world->uri, sizeof world->uri, "memory:model/%" PRIu64, seed);
    } else {
        test_folder_make(world->folder);
        snprintf(world->uri, sizeof world->uri, "%s/t", world->folder);
    }
    world_open_context(world);
    create_table(world);
}

bool world_deletes(const struct world *world)
{
    return !(world->logged && world->duplicates);
}

void world_close(struct world *world)
{
    hudi_context_free(world->context);
    for (int i = 0; i < WORLD_MAX_COMMITS; i++)
        model_rows_clear(&world->states[i]);
    if (world->folder[0] != '\0') {
        test_folder_remove(world->folder);
    } else {
        hd_memory_drop("model");
    }
}

hudi_table *world_open_table(const struct world *world)
{
    hudi_table *table = NULL;
    hudi_error *error = NULL;

    WORLD_MUST(world, hudi_table_open(world->context, world->uri, NULL, &table, &error));
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
        append(line, &n, world_cell_text(world, row, i));
    append(line, &n, world->instants[row->changed]);
    key_text(world, row, text);
    append(line, &n, text);
    world_partition_text(world, row, text);
    append(line, &n, text);
    return line;
}

static char *read_line(const struct world *world, const struct test_table_rows *rows, size_t row)
{
    char *const line = new_line(world);
    size_t n = 0;

    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        append(line, &n, test_rows_cell(rows, row, world_columns[i].name));
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
            WORLD_FAIL(world,
                       "%s: %zu rows where %zu should be; at %zu\n  %.200s\nshould be\n  %.200s",
                       what, read->n_rows, n_wanted, i, i < read->n_rows ? got[i] : "(none)",
                       i < n_wanted ? wanted[i] : "(none)");
    free(wanted);
    free(got);
    world_release_texts();
}

static void query(const struct world *world, const hudi_table *table, const hudi_options *options,
                  const char *what, const struct model_rows *expected, int since,
                  const bool known[MODEL_N_COLUMNS])
{
    struct ArrowArrayStream stream = {0};
    struct test_table_rows rows;
    hudi_error *error = NULL;

    WORLD_MUST(world, hudi_scan_open(table, options, NULL, &stream, &error));
    test_rows_read(&stream, &rows);
    for (int i = 0; known != NULL && i < MODEL_N_COLUMNS; i++)
        if (known[i] != (test_rows_column(&rows, world_columns[i].name) >= 0))
            WORLD_FAIL(world, "%s: column %s is %s", what, world_columns[i].name,
                       known[i] ? "missing" : "there");
    compare(world, what, expected, since, &rows);
    test_rows_clear(&rows);
}

void world_check_reads(const struct world *world)
{
    hudi_table *const table = world_open_table(world);
    const int last = world->n_commits;
    char what[64];

    query(world, table, NULL, "snapshot", &world->states[last], 0, last == 0 ? NULL : world->known);
    if (last > 0) {
        const int as_of = 1 + (int)world_below(last);
        hudi_options *options = world_options(world);

        world_set(world, options, "as.of.instant", "%s", world->instants[as_of]);
        snprintf(what, sizeof what, "as of commit %d", as_of);
        query(world, table, options, what, &world->states[as_of], 0, world->known_then[as_of]);
        hudi_options_free(options);
    }
    if (last > 0 && !world->rules.newer_version) {
        const int begin = (int)world_below(last + 1);
        const int end = world_chance(60) ? last : begin + (int)world_below(last - begin + 1);
        hudi_options *options = world_options(world);

        world_set(world, options, "hoodie.datasource.query.type", "incremental");
        world_set(world, options, "hoodie.datasource.read.begin.instanttime", "%s",
                  begin == 0 ? "0" : world->instants[begin]);
        if (end < last || world_chance(50))
            world_set(world, options, "hoodie.datasource.read.end.instanttime", "%s",
                      end == 0 ? "0" : world->instants[end]);
        snprintf(what, sizeof what, "changes in (%d,%d]", begin, end);
        query(world, table, options, what, &world->states[end], begin, NULL);
        hudi_options_free(options);
    }
    hudi_table_free(table);
}

void world_check_table(const struct world *world)
{
    hudi_table *const table = world_open_table(world);
    hudi_verification *verification = NULL;
    hudi_error *error = NULL;
    const bool duplicates = model_has_duplicates(&world->rules, &world->states[world->n_commits]);

    WORLD_MUST(world, hudi_verify(table, NULL, &verification, &error));
    for (size_t i = 0; i < hudi_verification_n_findings(verification); i++) {
        const hudi_finding *const finding = hudi_verification_finding(verification, i);

        if (duplicates && strcmp(hudi_finding_kind(finding), "duplicate-key") == 0)
            continue;
        WORLD_FAIL(world, "verify: %s: %s: %s", hudi_finding_kind(finding),
                   hudi_finding_where(finding), hudi_finding_message(finding));
    }
    hudi_verification_free(verification);
    hudi_table_free(table);
}

void world_free_texts(void)
{
    free(texts);
    texts = NULL;
    n_texts = text_capacity = 0;
}
