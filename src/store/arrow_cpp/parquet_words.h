/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_PARQUET_WORDS_H
#define HD_STORE_PARQUET_WORDS_H

#include <arrow/array.h>
#include <arrow/result.h>
#include <memory>
#include <parquet/metadata.h>
#include <vector>

/*
 * Text columns with few words (commit times, file names): Arrow decodes them value by value into a
 * builder that grows. Read as indices and written out here, in an array of the right size, they
 * cost a third of that.
 */
namespace hudi
{

/** Are all values of a flat column of BYTE_ARRAY in these row groups indices into small
 * dictionaries, as far as the footer says? If it does not: no. */
bool has_few_words(const parquet::FileMetaData &metadata, const std::vector<int> &row_groups,
                   int leaf);

/** The values of a dictionary array as an array of `type` (utf8 or binary). Indices are checked.
 * CapacityError when several come to more than 32 MiB: to be asked for fewer of them. */
arrow::Result<std::shared_ptr<arrow::Array>>
write_out(const arrow::DictionaryArray &array, const std::shared_ptr<arrow::DataType> &type);

} /* namespace hudi */

#endif
