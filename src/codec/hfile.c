/* SPDX-License-Identifier: Apache-2.0 */
/* What is read when an HFile is opened: trailer, indexes, file info. */
#include "codec/hfile.h"

#include <inttypes.h>
#include <string.h>

#include "codec/hfile_internal.h"

#define TRAILER_MAGIC "TRABLK\"$"
#define ROOT_MAGIC "IDXROOT2"
#define INTERMEDIATE_MAGIC "IDXINTE2"
#define LEAF_MAGIC "IDXLEAF2"
#define INFO_MAGIC "FILEINF2"
#define META_MAGIC "METABLKc"
#define PROTOBUF_MAGIC "PBUF"

#define MAJOR_VERSION 3
#define MAX_LEVELS 8
#define MIN_ENTRY_BYTES 13 /* offset, size and the length of a key */
/* Family, timestamp and type behind a key, as HBase has it in its index too. */
#define KEY_SUFFIX_BYTES 10

/* ---- protobuf ----------------------------------------------------------------------------- */

struct field {
    uint32_t number;
    uint64_t value;        /* of a varint */
    struct hd_slice bytes; /* of bytes and messages */
};

/* HUDI_END at the end. */
static hudi_status next_field(struct hd_op *op, struct hd_cursor *in, struct field *out)
{
    uint64_t tag, n;

    *out = (struct field){0};
    if (hd_cursor_left(in) == 0)
        return HUDI_END;
    HD_TRY(hd_cursor_varint(op, in, &tag));
    out->number = tag >> 3 > UINT32_MAX ? 0 : (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0:
        return hd_cursor_varint(op, in, &out->value);
    case 1:
        return hd_cursor_skip(op, in, 8);
    case 2:
        HD_TRY(hd_cursor_varint(op, in, &n));
        return hd_cursor_take(op, in, n, &out->bytes);
    case 5:
        return hd_cursor_skip(op, in, 4);
    default:
        return hd_fail(op, HUDI_CORRUPT, "HFile: no protobuf before byte %" PRIu64,
                       hd_cursor_offset(in));
    }
}

static hudi_status take_message(struct hd_op *op, struct hd_cursor *in, struct hd_cursor *out)
{
    uint64_t n;

    HD_TRY(hd_cursor_varint(op, in, &n));
    return hd_cursor_sub(op, in, n, out);
}

/* ---- trailer ------------------------------------------------------------------------------ */

struct trailer {
    uint64_t info_offset;
    uint64_t load_offset;
    uint64_t n_data; /* entries of the root index */
    uint64_t n_meta;
    uint64_t n_cells;
    uint64_t n_levels;
    uint64_t codec;
    bool is_encrypted;
};

static hudi_status codec_of(struct hd_op *op, uint64_t number, enum hd_codec *out)
{
    static const char *const NAMES[] = {"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"};

    if (number == 1)
        *out = HD_CODEC_GZIP;
    else if (number == 2)
        *out = HD_CODEC_NONE;
    else
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "HFiles compressed with %s (%" PRIu64 ") are not supported",
                       number < HD_ARRAY_LENGTH(NAMES) ? NAMES[number] : "another codec", number);
    return HUDI_OK;
}

static hudi_status parse_trailer(struct hd_op *op, struct hd_cursor in, struct trailer *out)
{
    struct hd_cursor message;
    struct field field;
    hudi_status status;

    *out = (struct trailer){.n_levels = 1, .codec = 2};
    HD_TRY(hd_cursor_expect(op, &in, TRAILER_MAGIC, HFILE_MAGIC_BYTES));
    HD_TRY(take_message(op, &in, &message));
    while ((status = next_field(op, &message, &field)) == HUDI_OK) {
        switch (field.number) {
        case 1:
            out->info_offset = field.value;
            break;
        case 2:
            out->load_offset = field.value;
            break;
        case 5:
            out->n_data = field.value;
            break;
        case 6:
            out->n_meta = field.value;
            break;
        case 7:
            out->n_cells = field.value;
            break;
        case 8:
            out->n_levels = field.value;
            break;
        case 12:
            out->codec = field.value;
            break;
        case 13:
            out->is_encrypted = field.bytes.size > 0;
            break;
        default:
            break;
        }
    }
    return status == HUDI_END ? HUDI_OK : status;
}

static hudi_status read_trailer(struct hd_op *op, struct hd_hfile *hfile, struct trailer *out)
{
    const uint64_t size = hfile->source.size;
    uint8_t bytes[HFILE_TRAILER_BYTES];
    uint32_t version;

    if (size < HFILE_TRAILER_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "an HFile of %" PRIu64 " bytes has no trailer", size);
    const uint64_t offset = size - HFILE_TRAILER_BYTES;
    HD_TRY(hfile_read_at(op, hfile, offset, bytes, sizeof bytes));
    struct hd_cursor in = hd_cursor_over(bytes + sizeof bytes - 4, 4, size - 4);
    HD_TRY(hd_cursor_u32be(op, &in, &version));
    HD_TRY(parse_trailer(op, hd_cursor_over(bytes, sizeof bytes - 4, offset), out));
    if ((version & 0xffffff) != MAJOR_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "HFiles of version %" PRIu32 " are not supported",
                       version & 0xffffff);
    if (out->is_encrypted)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "encrypted HFiles are not supported");
    if (out->n_levels > MAX_LEVELS)
        return hd_fail(op, HUDI_CORRUPT, "an HFile has an index of %" PRIu64 " levels",
                       out->n_levels);
    if (out->load_offset > offset || out->info_offset < out->load_offset ||
        out->info_offset > offset)
        return hd_fail(op, HUDI_CORRUPT,
                       "an HFile of %" PRIu64 " bytes has its indexes at byte %" PRIu64
                       " and its file info at byte %" PRIu64,
                       size, out->load_offset, out->info_offset);
    hfile->n_cells = out->n_cells;
    return codec_of(op, out->codec, &hfile->codec);
}

/* ---- indexes ------------------------------------------------------------------------------ */

static hudi_status add_entry(struct hd_op *op, struct hd_hfile *hfile, struct hfile_index *index,
                             struct hd_slice key, uint64_t offset, uint32_t size)
{
    char *copy;

    if (index != &hfile->meta && index->n > 0 &&
        hd_slice_compare(index->entries[index->n - 1].key, key) > 0)
        return hd_fail(op, HUDI_CORRUPT, "an HFile's index is not in order at entry %zu", index->n);
    HD_TRY(hd_grow(op, &index->entries, &index->capacity, index->n + 1, sizeof *index->entries));
    HD_TRY(hd_arena_strndup(op, &hfile->arena, key.data, key.size, &copy));
    index->entries[index->n++] =
        (struct hfile_entry){.key = hd_slice_of(copy, key.size), .offset = offset, .size = size};
    return HUDI_OK;
}

/* Is `key` u16 n, n bytes, and nothing or a suffix? `*out` is the n bytes. */
static bool parse_key(struct hd_slice key, struct hd_slice *out)
{
    if (key.size < 2)
        return false;
    const size_t n = (size_t)key.data[0] << 8 | key.data[1];
    *out = hd_slice_of(key.data + 2, n);
    return key.size == n + 2 || key.size == n + 2 + KEY_SUFFIX_BYTES;
}

/* The length is a Hadoop number, but 1.1's own writer has a protobuf varint there, which is another
 * one for keys from 126 bytes: it is what makes the key a key. */
static hudi_status take_root_key(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out)
{
    const struct hd_cursor start = *in;
    struct hd_slice bytes;
    int64_t length;
    uint64_t n;

    if (hfile_vint(op, in, &length) == HUDI_OK && length >= 0 &&
        (uint64_t)length <= hd_cursor_left(in)) {
        HD_TRY(hd_cursor_take(op, in, (uint64_t)length, &bytes));
        if (parse_key(bytes, out))
            return HUDI_OK;
    }
    hd_op_clear_error(op);
    *in = start;
    HD_TRY(hd_cursor_varint(op, in, &n));
    HD_TRY(hd_cursor_take(op, in, n, &bytes));
    if (!parse_key(bytes, out))
        return hd_fail(op, HUDI_CORRUPT, "an HFile's index has no key before byte %" PRIu64,
                       hd_cursor_offset(in));
    return HUDI_OK;
}

static hudi_status take_name(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out)
{
    int64_t length;

    HD_TRY(hfile_vint(op, in, &length));
    if (length < 0)
        return hd_fail(op, HUDI_CORRUPT, "a name of %" PRId64 " bytes in an HFile", length);
    return hd_cursor_take(op, in, (uint64_t)length, out);
}

static hudi_status parse_root(struct hd_op *op, struct hd_hfile *hfile, struct hd_cursor in,
                              uint64_t n_entries, bool is_meta, struct hfile_index *index)
{
    if (n_entries > hd_cursor_left(&in) / MIN_ENTRY_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "an HFile's index of %zu bytes has %" PRIu64 " entries",
                       hd_cursor_left(&in), n_entries);
    for (uint64_t i = 0; i < n_entries; i++) {
        struct hd_slice key;
        uint64_t offset;
        uint32_t size;

        HD_TRY(hd_cursor_u64be(op, &in, &offset));
        HD_TRY(hd_cursor_u32be(op, &in, &size));
        HD_TRY(is_meta ? take_name(op, &in, &key) : take_root_key(op, &in, &key));
        HD_TRY(add_entry(op, hfile, index, key, offset, size));
    }
    return HUDI_OK;
}

/* u32 n | n + 1 u32 offsets of the entries from the first | entries: u64 offset, u32 size, key */
static hudi_status parse_inner(struct hd_op *op, struct hd_hfile *hfile, struct hd_cursor in,
                               struct hfile_index *index)
{
    struct hd_cursor offsets;
    uint32_t n, start, end;

    HD_TRY(hd_cursor_u32be(op, &in, &n));
    HD_TRY(hd_cursor_sub(op, &in, 4 * ((uint64_t)n + 1), &offsets));
    HD_TRY(hd_cursor_u32be(op, &offsets, &start));
    for (uint32_t i = 0; i < n; i++, start = end) {
        struct hd_slice bytes, key;
        uint64_t offset;
        uint32_t size;

        HD_TRY(hd_cursor_u32be(op, &offsets, &end));
        if (end < start || end - start < 12)
            return hd_fail(op, HUDI_CORRUPT,
                           "an HFile's index entry runs from %" PRIu32 " to %" PRIu32, start, end);
        HD_TRY(hd_cursor_u64be(op, &in, &offset));
        HD_TRY(hd_cursor_u32be(op, &in, &size));
        HD_TRY(hd_cursor_take(op, &in, end - start - 12, &bytes));
        if (!parse_key(bytes, &key))
            return hd_fail(op, HUDI_CORRUPT, "an HFile's index has no key before byte %" PRIu64,
                           hd_cursor_offset(&in));
        HD_TRY(add_entry(op, hfile, index, key, offset, size));
    }
    return HUDI_OK;
}

/* Replace the entries by those of the blocks that they mean, one level down. Each block is met
 * once, or a file could stand for more entries than it has bytes. */
static hudi_status expand(struct hd_op *op, struct hd_hfile *hfile, const char *magic)
{
    struct hfile_index below = {0};
    struct hd_str payload = {0};
    hudi_status status = HUDI_OK;
    uint64_t end = 0;

    for (size_t i = 0; i < hfile->data.n; i++) {
        const struct hfile_entry *const entry = &hfile->data.entries[i];

        if (entry->offset < end || entry->offset > hfile->source.size) {
            status = hd_fail(op, HUDI_CORRUPT,
                             "an HFile's index block at byte %" PRIu64 " is out of order",
                             entry->offset);
            goto out;
        }
        end = entry->offset + entry->size;
        payload.size = 0;
        HD_TRY_OUT(hfile_block_read(op, hfile, entry, magic, &payload));
        HD_TRY_OUT(parse_inner(op, hfile, hd_cursor_over(payload.data, payload.size, entry->offset),
                               &below));
    }
    hd_free(op, hfile->data.entries);
    hfile->data = below;
    below = (struct hfile_index){0};
out:
    hd_free(op, below.entries);
    hd_str_clear(&payload);
    return status;
}

static hudi_status read_indexes(struct hd_op *op, struct hd_hfile *hfile,
                                const struct trailer *trailer, struct hd_cursor *in)
{
    struct hd_str payload = {0};
    hudi_status status = HUDI_OK;
    const uint64_t offset = hd_cursor_offset(in);

    HD_TRY_OUT(hfile_block_take(op, hfile, in, ROOT_MAGIC, &payload));
    HD_TRY_OUT(parse_root(op, hfile, hd_cursor_over(payload.data, payload.size, offset),
                          trailer->n_data, false, &hfile->data));
    payload.size = 0;
    HD_TRY_OUT(hfile_block_take(op, hfile, in, ROOT_MAGIC, &payload));
    HD_TRY_OUT(parse_root(op, hfile, hd_cursor_over(payload.data, payload.size, offset),
                          trailer->n_meta, true, &hfile->meta));
    for (uint64_t level = trailer->n_levels; level > 1; level--)
        HD_TRY_OUT(expand(op, hfile, level > 2 ? INTERMEDIATE_MAGIC : LEAF_MAGIC));
out:
    hd_str_clear(&payload);
    return status;
}

/* ---- file info ---------------------------------------------------------------------------- */

static hudi_status read_info(struct hd_op *op, struct hd_hfile *hfile, struct hd_cursor in)
{
    struct hd_slice version;

    HD_TRY(hfile_block_take(op, hfile, &in, INFO_MAGIC, &hfile->info));
    struct hd_cursor payload = hd_cursor_over(hfile->info.data, hfile->info.size, 0);
    HD_TRY(hd_cursor_expect(op, &payload, PROTOBUF_MAGIC, 4));
    HD_TRY(take_message(op, &payload, &hfile->info_fields));
    const hudi_status status = hd_hfile_info(op, hfile, "KEY_VALUE_VERSION", &version);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    hfile->has_mvcc = version.size == 4 && version.data[3] == 1;
    return HUDI_OK;
}

hudi_status hd_hfile_info(struct hd_op *op, const hd_hfile *hfile, const char *key,
                          struct hd_slice *out)
{
    struct hd_cursor in = hfile->info_fields;
    struct field field;
    hudi_status status;

    *out = (struct hd_slice){0};
    while ((status = next_field(op, &in, &field)) == HUDI_OK) {
        struct hd_cursor pair = hd_cursor_over(field.bytes.data, field.bytes.size,
                                               hd_cursor_offset(&in) - field.bytes.size);
        struct field first = {0}, second = {0};

        if (field.number != 1)
            continue;
        status = next_field(op, &pair, &first);
        if (status == HUDI_OK)
            status = next_field(op, &pair, &second);
        if (status != HUDI_OK && status != HUDI_END)
            return status;
        if (first.number == 1 && hd_slice_equal(first.bytes, hd_slice_text(key))) {
            *out = second.bytes;
            return HUDI_OK;
        }
    }
    return status == HUDI_END ? HUDI_NOT_FOUND : status;
}

/* ---- opening ------------------------------------------------------------------------------ */

static hudi_status load(struct hd_op *op, struct hd_hfile *hfile)
{
    struct trailer trailer;
    hudi_status status = HUDI_OK;
    uint8_t *bytes;

    HD_TRY(read_trailer(op, hfile, &trailer));
    const uint64_t n = hfile->source.size - HFILE_TRAILER_BYTES - trailer.load_offset;
    HD_TRY(hd_alloc_raw(op, (size_t)n, 1, &bytes));
    HD_TRY_OUT(hfile_read_at(op, hfile, trailer.load_offset, bytes, n));
    struct hd_cursor in = hd_cursor_over(bytes, (size_t)n, trailer.load_offset);
    HD_TRY_OUT(read_indexes(op, hfile, &trailer, &in));
    in = hd_cursor_over(bytes, (size_t)n, trailer.load_offset);
    HD_TRY_OUT(hd_cursor_skip(op, &in, trailer.info_offset - trailer.load_offset));
    HD_TRY_OUT(read_info(op, hfile, in));
out:
    hd_free(op, bytes);
    return status;
}

hudi_status hd_hfile_open(struct hd_op *op, const struct hd_hfile_source *source, hd_hfile **out)
{
    hd_hfile *hfile;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *hfile, &hfile));
    hfile->source = *source;
    if (source->read_at == NULL)
        hfile->source.size = source->bytes.size;
    const hudi_status status = load(op, hfile);
    if (status != HUDI_OK) {
        hd_hfile_close(op, hfile);
        return status;
    }
    *out = hfile;
    return HUDI_OK;
}

void hd_hfile_close(struct hd_op *op, hd_hfile *hfile)
{
    if (hfile == NULL)
        return;
    hd_free(op, hfile->data.entries);
    hd_free(op, hfile->meta.entries);
    hd_arena_clear(&hfile->arena);
    hd_str_clear(&hfile->info);
    hd_free(op, hfile);
}

uint64_t hd_hfile_n_cells(const hd_hfile *hfile)
{
    return hfile->n_cells;
}

hudi_status hd_hfile_meta_block(struct hd_op *op, const hd_hfile *hfile, const char *name,
                                struct hd_str *out)
{
    for (size_t i = 0; i < hfile->meta.n; i++)
        if (hd_slice_equal(hfile->meta.entries[i].key, hd_slice_text(name)))
            return hfile_block_read(op, hfile, &hfile->meta.entries[i], META_MAGIC, out);
    return HUDI_NOT_FOUND;
}
