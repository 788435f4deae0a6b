/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_WRITE_WORLD_H
#define TEST_SUPPORT_WRITE_WORLD_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "hudi/hudi.h"
#include "support/folder.h"
#include "support/table_model.h"

/*
 * A table of a random shape, the list of rows that it should hold (table_model.h) after each of its
 * commits, and its comparison with what is read. Everything random comes from the table's seed.
 */
#define WORLD_STEPS 14
#define WORLD_MAX_COMMITS (WORLD_STEPS + 2)
#define WORLD_PARTITIONS 5

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
    int64_t next_key;               /* not used yet */
    bool known[MODEL_N_COLUMNS];    /* columns the table has */
    bool wide_n;                    /* MODEL_N was widened to long */
    char folder[TEST_FOLDER_BYTES]; /* of a table on disk */
    char uri[TEST_FOLDER_BYTES + 4];
    hudi_context *context;
    char instants[WORLD_MAX_COMMITS][32];        /* of commit 1, 2, ... */
    struct model_rows states[WORLD_MAX_COMMITS]; /* after them; 0: empty */
    bool known_then[WORLD_MAX_COMMITS][MODEL_N_COLUMNS];
    bool serviced_before[WORLD_MAX_COMMITS];
    int n_commits;
    char did[4096]; /* operations so far */
};

/** May the table's rows be deleted by key? Where a base file has a key several times and log files
 * delete it and bring it back, each of those rows becomes the new one, for log files keep one state
 * a key: so do Hudi's compactions, while its reader shows what was deleted. The list knows better.
 */
bool world_deletes(const struct world *world);

extern const struct world_column {
    const char *name;
    char type; /* s, i, l, d, b */
} world_columns[MODEL_N_COLUMNS];

int64_t world_below(int64_t n);
bool world_chance(int percent); /* in a hundred */

/** A new table of a random shape, created; its context anew, as another process would have it. */
void world_open(struct world *world, uint64_t seed);
void world_open_context(struct world *world);
void world_close(struct world *world);

/** To what is told when the test fails. */
void world_log(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_must(const struct world *world, hudi_status status, hudi_error *error);
#define WORLD_FAIL(world, ...)                                                                     \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\nHUDI_TEST_SEED=%" PRIu64 ", table at %s, after\n%s\n", (world)->seed,       \
                    (world)->uri, (world)->did);                                                   \
        fail();                                                                                    \
    } while (0)

/* A call that takes `&error`. */
#define WORLD_MUST(world, call)                                                                    \
    do {                                                                                           \
        const hudi_status status_ = (call);                                                        \
        world_must(world, status_, error);                                                         \
    } while (0)

/* To be freed by the caller. */
hudi_table *world_open_table(const struct world *world);
hudi_options *world_options(const struct world *world);
void world_set(const struct world *world, hudi_options *options, const char *key,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/** A cell of a string column or any other, as text that lives until the next release; all of them
 * are freed at the end. */
const char *world_cell_text(const struct world *world, const struct model_row *row, int column);
void world_partition_text(const struct world *world, const struct model_row *row, char out[128]);
void world_release_texts(void);
void world_free_texts(void);

/** End the test unless the table reads as the model says: whole, of the past, and what changed. */
void world_check_reads(const struct world *world);
/** And unless nothing is found wrong with it. */
void world_check_table(const struct world *world);

#endif
