/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_words.h"

#include <arrow/util/bitmap_ops.h>
#include <cstring>

#include "common.h"

namespace hudi
{

namespace
{

constexpr int64_t SMALL_DICTIONARY = 32768;       /* bytes of its page, compressed */
constexpr int64_t BLOCK_BYTES = 32;               /* words are copied in such, past their end */
constexpr int64_t MOST_BYTES = int64_t{32} << 20; /* of several values: long words repeat */

bool is_indices(parquet::Encoding::type encoding)
{
    return encoding == parquet::Encoding::PLAIN_DICTIONARY ||
           encoding == parquet::Encoding::RLE_DICTIONARY;
}

bool chunk_has_few_words(const parquet::ColumnChunkMetaData &chunk)
{
    bool any = false;

    const int64_t first = chunk.has_dictionary_page() ? chunk.dictionary_page_offset() : -1;
    if (first < 0 || chunk.data_page_offset() < first ||
        chunk.data_page_offset() - first > SMALL_DICTIONARY)
        return false;
    for (const auto &pages : chunk.encoding_stats()) {
        if (pages.page_type != parquet::PageType::DATA_PAGE &&
            pages.page_type != parquet::PageType::DATA_PAGE_V2)
            continue;
        if (!is_indices(pages.encoding))
            return false;
        any = true;
    }
    return any;
}

/* Where each value ends, from the first on. */
arrow::Status fill_offsets(const arrow::Int32Array &indices, const arrow::BinaryArray &words,
                           int32_t *offsets)
{
    const uint32_t n_words = static_cast<uint32_t>(words.length());
    int64_t at = 0;

    *offsets++ = 0;
    for (int64_t i = 0; i < indices.length(); i++) {
        if (indices.IsValid(i)) {
            const uint32_t word = static_cast<uint32_t>(indices.Value(i));
            if (word >= n_words)
                return arrow::Status::Invalid("index ", word, " into a dictionary of ", n_words);
            at += words.value_length(word);
        }
        if (at > (indices.length() > 1 ? MOST_BYTES : INT32_MAX - BLOCK_BYTES))
            return arrow::Status::CapacityError(at, " bytes of text in an array");
        offsets[i] = static_cast<int32_t>(at);
    }
    return arrow::Status::OK();
}

/* `to` has room for a block past the last value. */
void copy_words(const arrow::Int32Array &indices, const arrow::BinaryArray &words,
                const int32_t *offsets, uint8_t *to)
{
    const int32_t first = words.value_offset(0);
    const int64_t n_bytes = words.value_offset(words.length()) - first;
    std::vector<uint8_t> padded(static_cast<size_t>(n_bytes + BLOCK_BYTES));

    if (n_bytes > 0)
        std::memcpy(padded.data(), words.raw_data() + first, static_cast<size_t>(n_bytes));
    for (int64_t i = 0; i < indices.length(); i++) {
        const int64_t size = offsets[i + 1] - offsets[i];
        if (size == 0) /* of a null, too */
            continue;
        const uint8_t *from = padded.data() + (words.value_offset(indices.Value(i)) - first);
        for (int64_t k = 0; k < size; k += BLOCK_BYTES)
            std::memcpy(to + offsets[i] + k, from + k, BLOCK_BYTES);
    }
}

} // namespace

/* Arrow keeps a word that a dictionary has twice once, and the indices behind it are off by one
 * then: only writers that are known to write each word once. */
bool writes_words_once(const parquet::FileMetaData &metadata)
{
    const std::string &writer = metadata.writer_version().application_;

    return writer == "parquet-mr" || writer == "parquet-cpp-arrow" || writer == "parquet-rs";
}

bool has_few_words(const parquet::FileMetaData &metadata, const std::vector<int> &row_groups,
                   int leaf)
{
    if (!writes_words_once(metadata))
        return false;
    for (const int i : row_groups)
        if (!chunk_has_few_words(*metadata.RowGroup(i)->ColumnChunk(leaf)))
            return false;
    return true;
}

arrow::Result<std::shared_ptr<arrow::Array>> write_out(const arrow::DictionaryArray &array,
                                                       const std::shared_ptr<arrow::DataType> &type)
{
    if (array.indices()->type_id() != arrow::Type::INT32 ||
        !arrow::is_base_binary_like(array.dictionary()->type_id()) ||
        arrow::is_large_binary_like(array.dictionary()->type_id()))
        return arrow::Status::Invalid("a dictionary of type ", array.type()->ToString());
    const auto &indices = static_cast<const arrow::Int32Array &>(*array.indices());
    const auto &words = static_cast<const arrow::BinaryArray &>(*array.dictionary());
    const int64_t n = indices.length();

    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> ends,
        arrow::AllocateBuffer((n + 1) * static_cast<int64_t>(sizeof(int32_t)), memory_pool()));
    auto *offsets = reinterpret_cast<int32_t *>(ends->mutable_data());
    ARROW_RETURN_NOT_OK(fill_offsets(indices, words, offsets));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> data,
                          arrow::AllocateBuffer(offsets[n] + BLOCK_BYTES, memory_pool()));
    copy_words(indices, words, offsets, data->mutable_data());
    std::shared_ptr<arrow::Buffer> valid;
    if (indices.null_count() > 0) {
        ARROW_ASSIGN_OR_RAISE(valid,
                              arrow::internal::CopyBitmap(memory_pool(), indices.null_bitmap_data(),
                                                          indices.offset(), n));
    }
    return arrow::MakeArray(
        arrow::ArrayData::Make(type, n, {valid, ends, data}, indices.null_count(), 0));
}

} // namespace hudi
