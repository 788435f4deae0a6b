/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_WRITE_CONFIG_H
#define HD_ENGINE_WRITE_CONFIG_H

#include "base/op.h"
#include "base/pool.h"
#include "engine/index/index.h"
#include "engine/record/key_generator.h"
#include "engine/record/spillable_map.h"
#include "format/layout/table_snapshot.h"
#include "format/timeline/instant.h"
#include "format/timeline/replace_plan.h"
#include "hudi/arrow_c.h"

enum hd_operation {
    HD_OPERATION_UPSERT,
    HD_OPERATION_INSERT,
    HD_OPERATION_BULK_INSERT,
    HD_OPERATION_DELETE,
    HD_OPERATION_INSERT_OVERWRITE,
    HD_OPERATION_INSERT_OVERWRITE_TABLE,
    HD_OPERATION_DELETE_PARTITION,
};

/** "UPSERT", as commit metadata spells it. */
const char *hd_operation_name(enum hd_operation operation);
/** "upsert", in any case; false when unknown. */
bool hd_operation_parse(const char *text, enum hd_operation *out);
/** Upsert and delete: records are looked up in the index. */
bool hd_operation_looks_up(enum hd_operation operation);

/**
 * What one writer task works by. The coordinator makes it at begin; it travels to tasks as bytes
 * (hd_write_config_encode) and is opened there against the table's own files.
 */
struct hd_write_config {
    struct hd_table_snapshot *table; /* borrowed; as of the begin of the write */
    hd_pool *pool;                   /* borrowed */
    struct hd_options options;
    enum hd_operation operation;
    char instant_time[HD_INSTANT_TIME_BYTES];
    char base_instant[HD_INSTANT_TIME_BYTES]; /* newest completed write at begin; "" when none */
    enum hd_complex_encoding encoding;
    uint32_t task;
    uint32_t n_tasks;
    uint64_t attempt;
    /* No other writer, nor another attempt of this task, can be about: log files that are there may
     * be written on. Only of a write in this process; it does not travel. */
    bool may_append;
    /* File groups of pending clusterings: nothing may be written to them. */
    const struct hd_pending_file_group *pending;
    size_t n_pending;
    struct hd_arena arena;
};

/** Set operation and options (copied, checked against the table) of a config that is zero but for
 * `table` and `pool`. Instants and task are still to be filled in. @return HUDI_INVALID */
hudi_status hd_write_config_init(struct hd_op *op, const struct hd_options *options,
                                 struct hd_write_config *config);

/** Set `pending` from the table's timeline. */
hudi_status hd_write_config_load_pending(struct hd_op *op, struct hd_write_config *config);
/** commit (deltacommit for merge-on-read), or replacecommit for the operations that take file
 * groups out. */
enum hd_action hd_write_action(const struct hd_write_config *config);
/** How records find their file group: hoodie.index.type, and the global form of it with
 * index.global.enabled. @return HUDI_NOT_IMPLEMENTED for a type that there is not; HUDI_INVALID
 * when the two contradict each other. Source: BucketAssignFunction (Hudi 0.15.0) */
hudi_status hd_write_index_type(struct hd_op *op, const struct hd_write_config *config,
                                enum hd_index_type *out);
/** Inserts of this operation may fill up small files. */
bool hd_write_fills_small_files(const struct hd_write_config *config);
/** Inserts are merged with rows of their key in the small file that they fill up; else they are put
 * behind them as they come (Hudi's concat handle). */
bool hd_write_merges_inserts(const struct hd_write_config *config);
/** What the records of merges may take in memory, all of them together. */
uint64_t hd_write_merge_memory(const struct hd_op *op, const struct hd_write_config *config);
/** A map for records, as the options have it; `keep_all`: of every row of a key. */
hudi_status hd_write_open_map(struct hd_op *op, const struct hd_write_config *config,
                              const struct ArrowSchema *schema, uint64_t memory_bytes,
                              bool keep_all, hd_spillable_map **out);
bool hd_write_is_pending(const struct hd_write_config *config, const char *partition_path,
                         const char *file_id);

void hd_write_config_clear(struct hd_write_config *config);

/** An option of the write, the table property of that name, or the default. */
const char *hd_write_text(const struct hd_write_config *config, const char *key);
bool hd_write_bool(const struct hd_write_config *config, const char *key);
int64_t hd_write_int(const struct hd_write_config *config, const char *key);

/** The description as compact JSON: {"version":1,"table":URI,"instant":...,"base_instant":...,
 * "operation":...,"encoding":...,"options":{...}}. */
hudi_status hd_write_config_encode(struct hd_op *op, const struct hd_write_config *config,
                                   struct hd_str *out);

/** Parse a description; `*uri` of its table is in config->arena. Of `config`, pool, task, table and
 * what comes of the table are left out; the caller clears it, also after an error. */
hudi_status hd_write_config_parse(struct hd_op *op, struct hd_slice bytes, const char **uri,
                                  struct hd_write_config *config);

/** Parse a description, load the table's snapshot into `table` (all zero; the caller clears it) and
 * fill in `config` but for pool and task. @return HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED (version) */
hudi_status hd_write_config_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_table_snapshot *table, struct hd_write_config *config);

/**
 * Columns of a write: the table's schema with what the input adds (evolution on write), and the
 * layout of the files written. One for all inputs of a task.
 */
struct hd_write_schema {
    char *avro;                /* table schema without meta columns, for the commit */
    char *file_avro;           /* with meta columns, for the footer */
    struct ArrowSchema record; /* struct: table columns, as in `avro` */
    struct ArrowSchema
        file;        /* struct: meta columns (unless virtual), then the stored table columns */
    int32_t n_meta;  /* 0 with virtual keys, else 5 */
    int32_t *stored; /* record column of each file column after the meta ones */
    int32_t n_stored;
    bool evolved; /* differs from the table's schema */
};

/** @param incoming  canonical schema of the input, or NULL when the operation brings no rows.
 * @return HUDI_SCHEMA, HUDI_INVALID (names) */
hudi_status hd_write_schema_new(struct hd_op *op, const struct hd_write_config *config,
                                const struct ArrowSchema *incoming, struct hd_write_schema *out);
void hd_write_schema_clear(struct hd_op *op, struct hd_write_schema *schema);

#endif
