/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_COLUMN_PATH_H
#define HD_ARROW_COLUMN_PATH_H

#include <stddef.h>

/** Name of a column on the way down a schema, for messages: "s.tags.element". Too long ones are
 * cut. */
struct hd_column_path {
    char text[256];
    size_t n;
    int depth;
};
/** Go down to `name`; what it returns brings the path back. */
size_t hd_column_path_enter(struct hd_column_path *path, const char *name);
void hd_column_path_leave(struct hd_column_path *path, size_t mark);

#endif
