/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_TABLE_MODEL_H
#define TEST_SUPPORT_TABLE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A copy-on-write table as a list of rows, changed by the rules of docs/format/write-path.md (2.5,
 * 7.0, 8) and src/engine/record/merge.h: what tests of the write path expect. Written from the
 * rules alone; it shares no code with the library.
 *
 * A cell is a number or null; a string column shows it as a text that depends on it. Columns:
 */
enum model_column {
    MODEL_ID,      /* string, record key */
    MODEL_SUB,     /* int, second field of complex keys */
    MODEL_P,       /* string, partition */
    MODEL_TS,      /* long, ordering field */
    MODEL_A,       /* string */
    MODEL_N,       /* int, or long once it was widened */
    MODEL_D,       /* double */
    MODEL_DELETED, /* boolean _hoodie_is_deleted */
    MODEL_E0,      /* string, added later; as the rest */
    MODEL_E1,      /* long */
    MODEL_E2,      /* double */
    MODEL_N_COLUMNS
};

#define MODEL_EMPTY_TEXT (-1) /* the number of the empty string in MODEL_ID and MODEL_P */

enum model_payload { MODEL_LATEST, MODEL_EVENT_TIME, MODEL_PARTIAL_UPDATE, MODEL_NON_DEFAULTS };

struct model_rules {
    enum model_payload payload;
    bool ordered;           /* MODEL_TS orders records; else they go by arrival */
    bool complex_key;       /* MODEL_ID and MODEL_SUB */
    bool partitioned;       /* by MODEL_P */
    bool global;            /* keys are looked up in all partitions */
    bool deletes_by_column; /* the table has MODEL_DELETED */
    bool newer_version;     /* table version 8 or later */
    bool late_renews; /* MODEL_EVENT_TIME: a record that loses counts as a change of the stored
                         row (below table version 4) */
};

struct model_row {
    int64_t value[MODEL_N_COLUMNS];
    bool null[MODEL_N_COLUMNS];
    int changed; /* number of the commit that wrote the row last */
};

struct model_rows {
    struct model_row *rows;
    size_t n;
    size_t capacity;
};

void model_rows_add(struct model_rows *rows, const struct model_row *row);
void model_rows_copy(const struct model_rows *from, struct model_rows *to);
void model_rows_clear(struct model_rows *rows);

bool model_same_key(const struct model_rules *rules, const struct model_row *a,
                    const struct model_row *b);
bool model_same_partition(const struct model_rules *rules, const struct model_row *a,
                          const struct model_row *b);
/** A row without a record key: it cannot be written. */
bool model_lacks_key(const struct model_rules *rules, const struct model_row *row);
bool model_has_duplicates(const struct model_rules *rules, const struct model_rows *state);

/** Make `rows` one row for each key, as pre-combine does. Upserts do so by themselves. */
void model_combine_input(const struct model_rules *rules, struct model_rows *rows);

/* Operations: `rows` in the order of their arrival, those without key left out already; `commit` is
 * the number of the write. */
void model_upsert(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows, int commit);
void model_delete(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows);
void model_insert(const struct model_rules *rules, struct model_rows *state,
                  const struct model_rows *rows, int commit);
/** Of the partitions that get rows, or of all. */
void model_overwrite(const struct model_rules *rules, struct model_rows *state,
                     const struct model_rows *rows, bool whole_table, int commit);
void model_delete_partition(const struct model_rules *rules, struct model_rows *state,
                            const struct model_row *like);

#endif
