/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TAGGER_H
#define HD_ENGINE_TAGGER_H

#include "engine/write/write_config.h"

/**
 * Which of a write's tasks gets each row, where an engine's own exchange places rows: rows bound
 * for one file group, and inserts of one key, go to one task. Computed from the write's description
 * and the table's files alone, so any number of taggers agree.
 */
typedef struct hd_tagger hd_tagger;

/** `config` must outlive the tagger; config->n_tasks is the number of tasks. */
hudi_status hd_tagger_new(struct hd_op *op, const struct hd_write_config *config, hd_tagger **out);
void hd_tagger_free(struct hd_op *op, hd_tagger *tagger);

/** `tasks` has room for batch->length numbers; `batch` stays the caller's. A row without a usable
 * key goes to task 0, which reports it. @return HUDI_CONFLICT when a key is stored in file groups
 * of two owners: such a table must be written by one task */
hudi_status hd_tagger_tag(struct hd_op *op, hd_tagger *tagger, const struct ArrowSchema *schema,
                          const struct ArrowArray *batch, uint32_t *tasks);

#endif
