/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/partition.h"

#include <inttypes.h>
#include <string.h>

#include "format/table/properties.h"

/* ---- metafile ----------------------------------------------------------------------------- */

static size_t depth_of(const char *partition_path)
{
    size_t depth = partition_path[0] != '\0';

    for (const char *at = partition_path; *at != '\0'; at++)
        depth += *at == '/';
    return depth;
}

static hudi_status format_metafile(struct hd_op *op, const char *partition_path,
                                   const char *instant_time, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_properties properties = {0};
    char *depth = NULL;

    HD_TRY_OUT(hd_asprintf(op, &depth, "%zu", depth_of(partition_path)));
    HD_TRY_OUT(hd_properties_set(op, &properties, "commitTime", instant_time));
    HD_TRY_OUT(hd_properties_set(op, &properties, "partitionDepth", depth));
    HD_TRY_OUT(hd_properties_format(op, &properties, "partition metadata", hd_now_ms(op), out));
out:
    hd_properties_clear(&properties);
    hd_free(op, depth);
    return status;
}

/* Whether the folder has a metafile of any of the three forms. */
static hudi_status has_metafile(struct hd_op *op, hd_file_system *fs, const char *folder, bool *out)
{
    static const char *const SUFFIXES[] = {"", ".parquet", ".orc"};
    hudi_status status = HUDI_NOT_FOUND;

    for (size_t i = 0; status == HUDI_NOT_FOUND && i < HD_ARRAY_LENGTH(SUFFIXES); i++) {
        struct hd_file_info info;
        char *path;

        HD_TRY(hd_asprintf(op, &path, "%s/%s%s", folder, HD_PARTITION_METAFILE, SUFFIXES[i]));
        status = hd_fs_stat(op, fs, path, &info);
        hd_free(op, path);
    }
    *out = status == HUDI_OK;
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* Text is written whatever hoodie.partition.metafile.use.base.format says: readers look for it
 * first. */
bool hd_partition_path_is_inside(const char *partition_path)
{
    for (const char *part = partition_path; *partition_path != '\0';) {
        const size_t n = strcspn(part, "/");

        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[n] == '\0')
            break;
        part += n + 1;
    }
    return true;
}

hudi_status hd_partition_ensure(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                const struct hd_table_config *config, const char *partition_path,
                                const char *instant_time)
{
    hudi_status status = HUDI_OK;
    struct hd_str text = {0};
    char *folder = NULL, *path = NULL;
    bool there;

    (void)config;
    HD_TRY_OUT(hd_path_join(op, table_path, partition_path, &folder));
    HD_TRY_OUT(has_metafile(op, fs, folder, &there));
    if (there)
        goto out;
    HD_TRY_OUT(hd_fs_make_dirs(op, fs, folder));
    HD_TRY_OUT(format_metafile(op, partition_path, instant_time, &text));
    HD_TRY_OUT(hd_path_join(op, folder, HD_PARTITION_METAFILE, &path));
    status = hd_fs_publish(op, fs, path, hd_str_text(&text), text.size);
    if (status == HUDI_EXISTS) /* another task was faster */
        status = HUDI_OK;
out:
    hd_str_clear(&text);
    hd_free(op, folder);
    hd_free(op, path);
    return status;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool needs_escape(uint8_t c)
{
    return c < 0x20 || c == 0x7f || (c != 0 && strchr("\"#%'*/:=?\\{[]^", c) != NULL);
}

hudi_status hd_partition_value_encode(struct hd_op *op, struct hd_slice value, struct hd_str *out)
{
    static const char HEX[] = "0123456789ABCDEF";

    HD_TRY(hd_str_reserve(op, out, value.size));
    for (size_t i = 0; i < value.size; i++) {
        const uint8_t c = value.data[i];
        const char escaped[3] = {'%', HEX[c >> 4], HEX[c & 15]};

        HD_TRY(needs_escape(c) ? hd_str_append(op, out, escaped, sizeof escaped)
                               : hd_str_append_char(op, out, (char)c));
    }
    return HUDI_OK;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* %XX is one UTF-16 unit, so those from 80 on become two bytes here. */
static hudi_status append_unit(struct hd_op *op, struct hd_str *out, unsigned unit)
{
    if (unit < 0x80)
        return hd_str_append_char(op, out, (char)unit);
    HD_TRY(hd_str_append_char(op, out, (char)(0xc0 | unit >> 6)));
    return hd_str_append_char(op, out, (char)(0x80 | (unit & 0x3f)));
}

hudi_status hd_partition_value_decode(struct hd_op *op, struct hd_slice value, struct hd_str *out)
{
    HD_TRY(hd_str_reserve(op, out, value.size));
    for (size_t i = 0; i < value.size; i++) {
        const uint8_t *const at = value.data + i;
        const int high = *at == '%' && i + 2 < value.size ? hex_digit(at[1]) : -1;
        const int low = high >= 0 ? hex_digit(at[2]) : -1;

        if (low < 0) {
            HD_TRY(hd_str_append_char(op, out, (char)*at));
        } else {
            HD_TRY(append_unit(op, out, (unsigned)(high * 16 + low)));
            i += 2;
        }
    }
    return HUDI_OK;
}

/* The text of one field from its part of the path. */
static hudi_status value_of_part(struct hd_op *op, const struct hd_table_config *config,
                                 const char *field, struct hd_slice part, struct hd_arena *arena,
                                 struct hd_slice *out)
{
    const size_t name_bytes = strlen(field);
    struct hd_str text = {0};
    char *copy;

    if (config->hive_style_partitioning && part.size > name_bytes && part.data[name_bytes] == '=' &&
        memcmp(part.data, field, name_bytes) == 0)
        part = hd_slice_of(part.data + name_bytes + 1, part.size - name_bytes - 1);
    *out = (struct hd_slice){0};
    if (hd_slice_equal(part, hd_slice_text(config->default_partition)))
        return HUDI_OK; /* null */
    hudi_status status = config->url_encode_partitioning
                             ? hd_partition_value_decode(op, part, &text)
                             : hd_str_append(op, &text, part.data, part.size);
    if (status == HUDI_OK)
        status = hd_arena_strndup(op, arena, hd_str_text(&text), text.size, &copy);
    if (status == HUDI_OK)
        *out = hd_slice_of(copy, text.size);
    hd_str_clear(&text);
    return status;
}

/* The one field whose value may span several levels, or `n` when there is none: the timestamp
 * generator's output format may hold slashes. */
static size_t find_spanning_field(const struct hd_table_config *config)
{
    const size_t n = config->n_partition_fields;
    size_t found = n;

    if (n == 1)
        return 0;
    for (size_t i = 0; config->partition_kinds != NULL && i < n; i++) {
        if (config->partition_kinds[i] == NULL ||
            strcmp(config->partition_kinds[i], "timestamp") != 0)
            continue;
        if (found < n)
            return n; /* two of them: no telling where one ends */
        found = i;
    }
    return found;
}

/* The next `n_levels` levels of a path, slashes between them included. */
static struct hd_slice take_levels(struct hd_slice *path, size_t n_levels)
{
    size_t n = 0;

    for (; n < path->size; n++) {
        if (path->data[n] == '/' && --n_levels == 0)
            break;
    }
    const struct hd_slice taken = hd_slice_of(path->data, n);
    const size_t used = n < path->size ? n + 1 : n;
    *path = hd_slice_of(path->data + used, path->size - used);
    return taken;
}

hudi_status hd_partition_path_values(struct hd_op *op, const struct hd_table_config *config,
                                     const char *partition_path, struct hd_arena *arena,
                                     struct hd_slice *values)
{
    const size_t n_fields = config->n_partition_fields, n_levels = depth_of(partition_path);
    const size_t spanning = find_spanning_field(config);
    struct hd_slice rest = hd_slice_text(partition_path);

    if (n_fields == 0)
        return HUDI_OK;
    if (n_fields > 1 && (n_levels < n_fields || (n_levels > n_fields && spanning == n_fields)))
        return hd_fail(op, HUDI_CORRUPT, "partition path \"%s\" has %zu levels for %zu fields",
                       partition_path, n_levels, n_fields);
    for (size_t i = 0; i < n_fields; i++) {
        const struct hd_slice part =
            n_fields == 1 ? rest : take_levels(&rest, i == spanning ? n_levels - n_fields + 1 : 1);

        HD_TRY(value_of_part(op, config, config->partition_fields[i], part, arena, &values[i]));
    }
    return HUDI_OK;
}
