/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/commit_glance.h"

#include <string.h>

#define PATH "\"path\""
#define SIZE "\"fileSizeInBytes\""
#define MAX_DIGITS 18

static size_t skip_blanks(struct hd_slice text, size_t at)
{
    while (at < text.size && memchr(" \t\r\n", text.data[at], 4) != NULL)
        at++;
    return at;
}

/* Where the value of the next member of that name begins; 0 when there is none. A quote behind a
 * backslash is part of a text, a name without a colon is one. */
static size_t find_value(struct hd_slice text, size_t at, const char *name)
{
    const size_t n = strlen(name);
    const uint8_t *found;

    while (at < text.size && (found = memmem(text.data + at, text.size - at, name, n)) != NULL) {
        const size_t begin = (size_t)(found - text.data);

        at = skip_blanks(text, begin + n);
        if (at < text.size && text.data[at] == ':' && begin > 0 && text.data[begin - 1] != '\\')
            return skip_blanks(text, at + 1);
    }
    return 0;
}

/* A text without escapes. */
static bool take_path(struct hd_slice text, size_t at, struct hd_slice *out)
{
    const uint8_t *end;

    if (at >= text.size || text.data[at] != '"')
        return false;
    at++;
    end = memchr(text.data + at, '"', text.size - at);
    if (end == NULL)
        return false;
    *out = hd_slice_of(text.data + at, (size_t)(end - text.data) - at);
    return memchr(out->data, '\\', out->size) == NULL;
}

static bool take_size(struct hd_slice text, size_t at, int64_t *out)
{
    const size_t begin = at;

    for (*out = 0; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
        if (at - begin == MAX_DIGITS)
            return false;
        *out = *out * 10 + (text.data[at] - '0');
    }
    return at > begin && at < text.size && memchr(",} \t\r\n", text.data[at], 6) != NULL;
}

bool hd_commit_glance(struct hd_slice text, hd_commit_glance_fn look, void *self)
{
    size_t path_at = find_value(text, 0, PATH), size_at = find_value(text, 0, SIZE);
    struct hd_slice path;
    int64_t n_bytes;

    while (path_at != 0 && size_at != 0) {
        const size_t next_path = find_value(text, path_at, PATH);

        if (path_at > size_at || (next_path != 0 && next_path < size_at) ||
            !take_path(text, path_at, &path) || !take_size(text, size_at, &n_bytes) ||
            !look(self, path, n_bytes))
            return false;
        path_at = next_path;
        size_at = find_value(text, size_at, SIZE);
    }
    return path_at == 0 && size_at == 0 && text.size > 0 && text.data[0] == '{';
}
