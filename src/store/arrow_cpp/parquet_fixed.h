/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_ARROW_CPP_PARQUET_FIXED_H
#define HD_STORE_ARROW_CPP_PARQUET_FIXED_H

/*
 * Decimals of a width of their own. Arrow writes a decimal in as many bytes as its digits need; a
 * table whose Avro schema declares a wider fixed has files of that width, so that all files of the
 * table agree. Fields say so in their metadata (HD_DECIMAL_BYTES_KEY of src/arrow/schema.h). Such a
 * column goes to Parquet's writer as bytes, and the file's schema calls them a decimal.
 */

#include <arrow/api.h>
#include <parquet/schema.h>

namespace hudi
{

bool has_declared_width(const arrow::Field &field);

/** The schema with such decimals as bytes; the same one when there are none. */
std::shared_ptr<arrow::Schema> with_fixed_decimals(const std::shared_ptr<arrow::Schema> &schema);

/** A field's Parquet node with the widths that the field says. */
parquet::schema::NodePtr with_fixed_decimals(const parquet::schema::NodePtr &node,
                                             const arrow::Field &field);

/** The values of a column for the schema above. */
arrow::Result<std::shared_ptr<arrow::Array>>
with_fixed_decimals(const std::shared_ptr<arrow::Array> &array, const arrow::Field &field);

} /* namespace hudi */

#endif
