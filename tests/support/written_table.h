/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_WRITTEN_TABLE_H
#define TEST_SUPPORT_WRITTEN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "hudi/hudi.h"
#include "support/folder.h"

/*
 * Tables on local disk that the library itself wrote, and hands on their files, for tests that
 * damage them. Failures end the test. For tests linked with everything (unit/api, fault, golden).
 */

struct written_table {
    char folder[TEST_FOLDER_BYTES]; /* temporary */
    char path[80];                  /* of the table, in it */
    hudi_context *context;
};

/** An empty table with columns "k string", "v string", "p string", key k, version 6. `options`:
 * "KEY=VALUE" strings ended by NULL, for the context and the table; may be NULL. */
void written_table_open(struct written_table *table, const char *const *options);
/** The same, partitioned by p. */
void written_table_open_partitioned(struct written_table *table, const char *const *options);
/** Also deletes everything. */
void written_table_close(struct written_table *table);

/** Write rows "k{first}".."k{first+n-1}" to partition `partition` (or column p alone) with an
 * operation of Hudi's; `value` and the number are their v. */
void written_table_write(struct written_table *table, const char *operation, const char *partition,
                         int first, int n, const char *value);

/** The same but for the commit: begun, and the rows handed over. */
hudi_write *written_table_begin(struct written_table *table, const char *operation,
                                const char *partition, int first, int n, const char *value);

/** Path of a file of the table, in a static buffer of four that are used in turn. */
const char *written_table_file(const struct written_table *table, const char *name);

/** The `i`-th name (sorted) in `folder` of the table that ends with `ending`, relative to the
 * table; NULL when there are fewer. As above, a static buffer. */
const char *written_table_find(const struct written_table *table, const char *folder,
                               const char *ending, int i);

/** A whole file with a NUL behind it; free() it. */
char *written_table_read(const struct written_table *table, const char *name, size_t *n);
void written_table_put(const struct written_table *table, const char *name, const void *bytes,
                       size_t n);
void written_table_copy(const struct written_table *table, const char *from, const char *to);
void written_table_remove(const struct written_table *table, const char *name);
void written_table_make_folder(const struct written_table *table, const char *name);

/** Put `with` in the place of the first `what` behind the first `after` ("" : the start). */
void written_table_replace(const struct written_table *table, const char *name, const char *after,
                           const char *what, const char *with);

/** Change the number behind the first `"member" :` of a JSON file. */
void written_table_set_number(const struct written_table *table, const char *name,
                              const char *member, int64_t value);

#endif
