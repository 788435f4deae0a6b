/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/column_path.h"

#include <stdio.h>

size_t hd_column_path_enter(struct hd_column_path *path, const char *name)
{
    const size_t mark = path->n;

    if (path->n < sizeof path->text) {
        const int n = snprintf(path->text + path->n, sizeof path->text - path->n, "%s%s",
                               path->n == 0 ? "" : ".", name);

        path->n += n < 0 ? 0 : (size_t)n;
        if (path->n > sizeof path->text)
            path->n = sizeof path->text;
    }
    path->depth++;
    return mark;
}

void hd_column_path_leave(struct hd_column_path *path, size_t mark)
{
    path->n = mark;
    if (mark < sizeof path->text)
        path->text[mark] = '\0';
    path->depth--;
}
