/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_CONFIG_KEYS_H
#define HD_FORMAT_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "format/table/properties.h"

/*
 * Every option and table property this library knows, once: type, default, range, help, aliases
 * (old and Flink names), and whether it is acted on. Help pages, docs/CONFIGURATION.md and `hudi
 * show TABLE config` come from this table.
 */
enum hd_key_type {
    HD_KEY_TEXT,
    HD_KEY_LIST, /* comma-separated */
    HD_KEY_BOOL, /* true, false in any case */
    HD_KEY_INT,  /* 64-bit, within [min, max] */
    HD_KEY_DOUBLE,
    HD_KEY_ENUM, /* one of `choices`, any case */
};

enum hd_key_scope {
    HD_KEY_TABLE = 1, /* lives in hoodie.properties */
    HD_KEY_WRITE = 2,
    HD_KEY_READ = 4,
    HD_KEY_CONTEXT = 8,   /* libhudi's own: threads, memory */
    HD_KEY_ACCEPTED = 16, /* known to Hudi, accepted, and without effect here: `help` says why */
    HD_KEY_REFUSED = 32,  /* known to Hudi and refused unless it has its default value or one of
                             its choices */
};

struct hd_config_key {
    const char *name;           /* one that ends in '*' stands for all that begin like it */
    const char *const *aliases; /* NULL-terminated, or NULL */
    enum hd_key_type type;
    unsigned scope;
    const char *default_value;  /* NULL: none */
    int64_t min, max;           /* INT */
    const char *const *choices; /* ENUM, NULL-terminated; upper case unless Hudi's are not */
    const char *help;
};

extern const struct hd_config_key hd_config_keys[];
extern const size_t hd_n_config_keys;

/** By name or alias, else the family it belongs to ("hoodie.metrics.*"); NULL when unknown. */
const struct hd_config_key *hd_config_key_find(const char *name);

/**
 * Options of one call: canonical names, values checked. Keys that start with "hoodie." or
 * "libhudi." must be known (the error suggests the nearest name); a bare alias is accepted; a value
 * must fit its type and range. Keys that begin with the value of
 * hoodie.datasource.write.commitmeta.key.prefix, set before, need not be known: they are kept.
 * @return HUDI_INVALID naming key, value and what is allowed; HUDI_NOT_IMPLEMENTED for a refused
 * key.
 */
struct hd_lock_providers;
struct hd_options {
    struct hd_properties set; /* canonical key -> value, only what the caller gave */
    /* Borrowed of the context: values of hoodie.write.lock.provider that are known beside those
     * built in (engine/commit/lock_provider.h). NULL: none. */
    const struct hd_lock_providers *lock_providers;
};
hudi_status hd_options_set(struct hd_op *op, struct hd_options *options, const char *key,
                           const char *value);
/** Copy all of `from` over `to`. */
hudi_status hd_options_merge(struct hd_op *op, struct hd_options *to,
                             const struct hd_options *from);
void hd_options_clear(struct hd_options *options);

bool hd_options_has(const struct hd_options *options, const char *key);

/** The value given, else the table property of that name when `table` is not NULL and has it, else
 * the default (may be NULL; 0 and false then). `key` must be in the table of keys, by name or alias
 * (asserted). `options` may be NULL. */
const char *hd_options_text(const struct hd_options *options, const struct hd_properties *table,
                            const char *key);
bool hd_options_bool(const struct hd_options *options, const struct hd_properties *table,
                     const char *key);
int64_t hd_options_int(const struct hd_options *options, const struct hd_properties *table,
                       const char *key);
double hd_options_double(const struct hd_options *options, const struct hd_properties *table,
                         const char *key);

#endif
