/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_MERGE_H
#define HD_ENGINE_MERGE_H

#include "arrow/view.h"
#include "base/op.h"
#include "format/table/table_config.h"
#include "hudi/arrow_c.h"

/*
 * What happens when two records of one key meet: the payload classes and merge modes of Hudi as one
 * function over rows of columns, used by pre-combine, the merge handle and merged reading alike.
 *
 * - OVERWRITE_WITH_LATEST: in combine the later write wins; in pre-combine the larger ordering
 *   value, a tie goes to the later (from table version 8 on the later in any case)
 * - EVENT_TIME (DefaultHoodieRecordPayload): both go by the ordering value, a tie to the incoming
 * - OVERWRITE_NON_DEFAULTS: incoming columns that differ from the schema's default overwrite
 * - PARTIAL_UPDATE: incoming columns that are not null overwrite, the larger ordering value's first
 * - EMPTY: the record is deleted
 *
 * Rows with _hoodie_is_deleted = true (or the delete key/marker of DefaultHoodieRecordPayload) are
 * deletes under every rule. A null ordering value ranks lowest (never an error, never chance).
 * docs/format/write-path.md 7.0 and 2.5, docs/format/observed.md
 */
enum hd_merge_rule {
    HD_MERGE_OVERWRITE_WITH_LATEST,
    HD_MERGE_EVENT_TIME,
    HD_MERGE_OVERWRITE_NON_DEFAULTS,
    HD_MERGE_PARTIAL_UPDATE,
    HD_MERGE_EMPTY,
};

enum hd_merge_choice {
    HD_MERGE_KEEP_STORED, /* nothing changes, meta columns neither */
    HD_MERGE_TAKE_INCOMING,
    HD_MERGE_DELETE,
    HD_MERGE_COLUMNS, /* a row of both: hd_merger_column_from_incoming() says which column whence */
    HD_MERGE_REWRITE_STORED, /* the stored values with new meta columns, when the stored row wins in
                                copy-on-write: under event time up to Hudi 0.10, under
                                PARTIAL_UPDATE up to 0.15 */
};

/** Columns of one side, in the order of the merger's schema (table columns without meta columns).
 */
struct hd_merge_side {
    const struct hd_view *columns;
    int64_t row;
    bool is_delete;  /* an operation or log block says so: only key and ordering count */
    bool by_arrival; /* a delete whose ordering value does not count: it takes effect whatever is
                        stored (Spark's delete operation; a delete block without ordering value). A
                        delete whose ordering fields are all null is one too */
    bool is_row;     /* a delete that is a row of the table (its _hoodie_operation says so): in
                        pre-combine its ordering value counts as that of any other row, also below
                        version 8, where what follows another delete replaces it */
};

typedef struct hd_merger hd_merger;

/**
 * From the table's payload class or merge mode and the write's options. `schema` is the table's
 * columns without meta columns. @return HUDI_NOT_IMPLEMENTED naming a payload class it does not
 * know; HUDI_INVALID when the ordering field is not in the schema or its type has no order.
 * `combine_before` off (hoodie.combine.before.*) does not change combine.
 */
hudi_status hd_merger_new(struct hd_op *op, const struct hd_table_config *config,
                          const struct hd_options *options, const struct ArrowSchema *schema,
                          hd_merger **out);
void hd_merger_free(hd_merger *merger);
enum hd_merge_rule hd_merger_rule(const hd_merger *merger);
/** The rule alone, without the table's columns. @return as hd_merger_new() */
hudi_status hd_merge_rule_find(struct hd_op *op, const struct hd_table_config *config,
                               const struct hd_options *options, enum hd_merge_rule *out);
/** Column that orders records, -1: none (arrival order). */
int32_t hd_merger_ordering_column(const hd_merger *merger);

/** The column that a row's ordering value is in (it may be one of a struct), by the same row
 * number; NULL when the value is null, or the table has no ordering field or several. */
const struct hd_view *hd_merger_ordering_value(const hd_merger *merger,
                                               const struct hd_merge_side *side);

/** An incoming row that has no stored counterpart: is it a delete (then nothing is written)? */
bool hd_merger_is_delete(const hd_merger *merger, const struct hd_merge_side *incoming);

/** Of two incoming rows of one write, `later` having arrived after `earlier`: true when `later` is
 * kept. (Under PARTIAL_UPDATE, and from table version 8 on under OVERWRITE_NON_DEFAULTS,
 * pre-combine merges columns: then `*columns` is set and the kept row is made of both,
 * hd_merger_column_from_incoming() saying how, with `later` as the incoming side.) */
bool hd_merger_precombine(const hd_merger *merger, const struct hd_merge_side *earlier,
                          const struct hd_merge_side *later, bool *columns);

/** Stored row against incoming row. */
enum hd_merge_choice hd_merger_combine(const hd_merger *merger, const struct hd_merge_side *stored,
                                       const struct hd_merge_side *incoming);

/** Does the stored row's ordering value beat that of the incoming one? */
bool hd_merger_stored_wins(const hd_merger *merger, const struct hd_merge_side *stored,
                           const struct hd_merge_side *incoming);

/** For HD_MERGE_COLUMNS and pre-combine with `*columns`, in reading and compaction: does the row
 * made of both have the incoming row's meta columns? Below version 8 always, then those of the row
 * that wins. Source: PartialUpdateAvroPayload (Hudi 0.15.0), PartialUpdateHandler (1.1.0) */
bool hd_merger_meta_from_incoming(const hd_merger *merger, const struct hd_merge_side *stored,
                                  const struct hd_merge_side *incoming);

/** For HD_MERGE_COLUMNS: does this column come from the incoming side? */
bool hd_merger_column_from_incoming(const hd_merger *merger, int32_t column,
                                    const struct hd_merge_side *stored,
                                    const struct hd_merge_side *incoming);

#endif
