/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parquet files as batches. How the file's types come out, before base_file.c makes them canonical:
 *
 *  - lists in the two-level forms of Avro (`repeated T array`), of Spark (`bag`/`array`) and in
 *    the three-level form are lists; maps, MAP_KEY_VALUE too, are maps
 *  - INT96 is an instant in microseconds (Spark's and Hive's use of it); a bare INT64 stays an
 *    integer (what it means is for the table's schema to say); dates and timestamps are proleptic,
 *    nothing is rebased
 *  - decimals of any physical type are 128 bits wide
 *  - ENUM and JSON are strings, UUID 16 bytes
 *  - what pyarrow notes under "ARROW:schema" is honoured
 *
 * Footer and pages are the file's word only: Arrow's limits are set from the file's size, page
 * checksums are verified where the writer put some, every batch is checked to be an array at all.
 */
#include <algorithm>
#include <arrow/c/bridge.h>
#include <cmath>
#include <limits>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>
#include <vector>

#include "common.h"
#include "parquet_words.h"

namespace
{

using hudi::Fault;

constexpr int64_t DEFAULT_BATCH_ROWS = 65536;
constexpr int64_t BATCH_BYTES = int64_t{32} << 20;      /* aimed at, by default */
constexpr int64_t WHOLE_GROUP_BYTES = int64_t{8} << 20; /* above: read columns in pieces */
constexpr int64_t READ_PIECE_BYTES = int64_t{256} << 10;
constexpr int64_t MAX_ROW_GROUP_ROWS = INT32_MAX;

struct Reader {
    hd_input_file *file;
    std::shared_ptr<arrow::io::RandomAccessFile> source;
    std::shared_ptr<parquet::FileMetaData> metadata;
    parquet::ArrowReaderProperties properties{false};
    parquet::arrow::SchemaManifest manifest;
    std::vector<std::shared_ptr<arrow::Field>> fields; /* as they come out */

    const char *path() const
    {
        return hd_cpp_input_path(file);
    }
};

struct Batches {
    Reader *reader;
    std::unique_ptr<parquet::arrow::FileReader> file;
    std::vector<int> leaves;
    std::vector<int> positions; /* of the output columns among those that Arrow gives */
    std::vector<std::shared_ptr<arrow::DataType>> types; /* of the output columns */
    std::shared_ptr<arrow::Schema> schema;
    std::vector<int> row_groups;
    size_t next_row_group = 0;
    int64_t rows_left = 0; /* of the row group that is read */
    std::unique_ptr<arrow::RecordBatchReader> current;
    std::shared_ptr<arrow::RecordBatch> rest; /* of a batch that was too large to be given whole */
};

/* ---- opening ------------------------------------------------------------------------------ */

parquet::ReaderProperties reader_properties(const hd_input_file *file)
{
    parquet::ReaderProperties properties(hudi::memory_pool());
    const uint64_t size = hd_cpp_input_size(file);
    /* An element of a Thrift container takes a byte at least. */
    const int32_t limit =
        static_cast<int32_t>(std::clamp<uint64_t>(size, 1024, std::numeric_limits<int32_t>::max()));

    properties.set_thrift_string_size_limit(limit);
    properties.set_thrift_container_size_limit(limit);
    properties.set_page_checksum_verification(true);
    properties.set_footer_read_size(std::clamp<uint64_t>(size / 64, 16384, 1 << 20));
    return properties;
}

parquet::ArrowReaderProperties arrow_properties()
{
    parquet::ArrowReaderProperties properties(/*use_threads=*/false);

    properties.set_pre_buffer(false);
    properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
    properties.set_arrow_extensions_enabled(false);
    return properties;
}

/* Binary columns that are annotated as ENUM are text, INT96 is an instant. */
std::shared_ptr<arrow::DataType> output_type(const parquet::SchemaDescriptor &schema,
                                             const parquet::arrow::SchemaField &field)
{
    const auto type = field.field->type();

    if (field.is_leaf()) {
        const auto *column = schema.Column(field.column_index);
        const auto logical = column->logical_type();
        if (column->physical_type() == parquet::Type::INT96 && type->id() == arrow::Type::TIMESTAMP)
            return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
        return logical != nullptr && logical->is_enum() && type->id() == arrow::Type::BINARY
                   ? arrow::utf8()
                   : type;
    }
    std::vector<std::shared_ptr<arrow::Field>> children;
    bool changed = false;
    for (const auto &child : field.children) {
        const auto child_type = output_type(schema, child);
        changed |= child_type != child.field->type();
        children.push_back(child.field->WithType(child_type));
    }
    if (!changed)
        return type;
    switch (type->id()) {
    case arrow::Type::STRUCT:
        return arrow::struct_(children);
    case arrow::Type::LIST:
        return arrow::list(children[0]);
    case arrow::Type::MAP: {
        const auto &entries = children[0]->type();
        return std::make_shared<arrow::MapType>(entries->field(0), entries->field(1));
    }
    default:
        return type;
    }
}

arrow::Status check_row_groups(const parquet::FileMetaData &metadata)
{
    int64_t total = 0;

    for (int i = 0; i < metadata.num_row_groups(); i++) {
        const int64_t n_rows = metadata.RowGroup(i)->num_rows();
        if (n_rows < 0 || n_rows > MAX_ROW_GROUP_ROWS)
            return arrow::Status::Invalid("row group ", i, " claims ", n_rows, " rows");
        total += n_rows;
    }
    if (total != metadata.num_rows())
        return arrow::Status::Invalid("row groups have ", total, " rows, the footer says ",
                                      metadata.num_rows());
    return arrow::Status::OK();
}

arrow::Status open_reader(hd_input_file *file, std::unique_ptr<Reader> *out, ArrowSchema *schema)
{
    auto reader = std::make_unique<Reader>();

    reader->file = file;
    reader->source = hudi::input_stream(file);
    reader->properties = arrow_properties();
    reader->metadata =
        parquet::ParquetFileReader::Open(reader->source, reader_properties(file))->metadata();
    const auto &metadata = *reader->metadata;
    ARROW_RETURN_NOT_OK(check_row_groups(metadata));
    ARROW_RETURN_NOT_OK(parquet::arrow::SchemaManifest::Make(
        metadata.schema(), metadata.key_value_metadata(), reader->properties, &reader->manifest));
    for (const auto &field : reader->manifest.schema_fields)
        reader->fields.push_back(
            field.field->WithType(output_type(*metadata.schema(), field))->RemoveMetadata());
    ARROW_RETURN_NOT_OK(arrow::ExportSchema(arrow::Schema(reader->fields), schema));
    *out = std::move(reader);
    return arrow::Status::OK();
}

hudi_status reader_open(hd_op *op, hd_input_file *file, void **self, ArrowSchema *schema)
{
    std::unique_ptr<Reader> reader;
    const hudi_status status =
        hudi::guarded(op, Fault::in_file, hd_cpp_input_path(file), hudi::allocation_limit(file),
                      [&] { return open_reader(file, &reader, schema); });

    *self = reader.release();
    return status;
}

void reader_close(void *self)
{
    delete static_cast<Reader *>(self);
}

/* ---- what the footer says ----------------------------------------------------------------- */

const Reader *reader_of(const void *self)
{
    return static_cast<const Reader *>(self);
}

int64_t reader_n_rows(const void *self)
{
    return reader_of(self)->metadata->num_rows();
}

int32_t reader_n_row_groups(const void *self)
{
    return reader_of(self)->metadata->num_row_groups();
}

int64_t reader_row_group_rows(const void *self, int32_t row_group)
{
    return reader_of(self)->metadata->RowGroup(row_group)->num_rows();
}

/* Writers before parquet-mr 1.10 leave out the sum. */
uint64_t reader_row_group_bytes(const void *self, int32_t row_group)
{
    const auto group = reader_of(self)->metadata->RowGroup(row_group);
    int64_t total = group->total_compressed_size();

    try {
        for (int i = 0; total <= 0 && i < group->num_columns(); i++)
            total += std::max<int64_t>(0, group->ColumnChunk(i)->total_compressed_size());
    } catch (const std::exception &) {
        return 0; /* a column chunk without metadata: reading it will tell */
    }
    return static_cast<uint64_t>(std::max<int64_t>(0, total));
}

bool reader_key_value(const void *self, const char *key, const uint8_t **data, size_t *size)
{
    const auto &pairs = reader_of(self)->metadata->key_value_metadata();

    if (pairs == nullptr)
        return false;
    const int at = pairs->FindKey(key);
    if (at < 0)
        return false;
    *data = reinterpret_cast<const uint8_t *>(pairs->value(at).data());
    *size = pairs->value(at).size();
    return true;
}

/* ---- statistics --------------------------------------------------------------------------- */

bool is_nan(const arrow::Scalar &scalar)
{
    if (scalar.type->id() == arrow::Type::FLOAT)
        return std::isnan(static_cast<const arrow::FloatScalar &>(scalar).value);
    if (scalar.type->id() == arrow::Type::DOUBLE)
        return std::isnan(static_cast<const arrow::DoubleScalar &>(scalar).value);
    return false;
}

/* Bounds of bytes written before column orders were, were compared as signed bytes: no bounds. */
bool order_is_known(const parquet::ColumnDescriptor &column)
{
    if (column.physical_type() != parquet::Type::BYTE_ARRAY &&
        column.physical_type() != parquet::Type::FIXED_LEN_BYTE_ARRAY)
        return true;
    return column.column_order().get_order() == parquet::ColumnOrder::TYPE_DEFINED_ORDER;
}

arrow::Status export_bound(const arrow::Scalar &scalar,
                           const std::shared_ptr<arrow::DataType> &type, ArrowArray *out)
{
    ARROW_ASSIGN_OR_RAISE(auto array, arrow::MakeArrayFromScalar(scalar, 1, hudi::memory_pool()));
    if (!array->type()->Equals(type)) {
        ARROW_ASSIGN_OR_RAISE(array, array->View(type));
    }
    return arrow::ExportArray(*array, out);
}

arrow::Status read_stats(const Reader &reader, int32_t row_group, int32_t column, hd_cpp_stats *out)
{
    const auto &field = reader.manifest.schema_fields[static_cast<size_t>(column)];

    if (!field.is_leaf())
        return arrow::Status::OK();
    const auto &descriptor = *reader.metadata->schema()->Column(field.column_index);
    const auto chunk = reader.metadata->RowGroup(row_group)->ColumnChunk(field.column_index);
    const auto stats = descriptor.max_repetition_level() == 0 && chunk->is_stats_set()
                           ? chunk->statistics()
                           : nullptr;
    if (stats == nullptr)
        return arrow::Status::OK();
    out->has_null_count = stats->HasNullCount() && stats->null_count() >= 0;
    out->null_count = out->has_null_count ? stats->null_count() : 0;
    if (!stats->HasMinMax() || !order_is_known(descriptor))
        return arrow::Status::OK();

    std::shared_ptr<arrow::Scalar> min, max;
    if (!parquet::arrow::StatisticsAsScalars(*stats, &min, &max).ok() || min == nullptr ||
        max == nullptr || !min->type->Equals(field.field->type()) ||
        !max->type->Equals(field.field->type()) || is_nan(*min) || is_nan(*max))
        return arrow::Status::OK(); /* not of a type that we know how to bound */
    const auto &type = reader.fields[static_cast<size_t>(column)]->type();
    ARROW_RETURN_NOT_OK(export_bound(*min, type, &out->min));
    const arrow::Status status = export_bound(*max, type, &out->max);
    if (!status.ok())
        out->min.release(&out->min);
    out->has_bounds = status.ok();
    return status;
}

hudi_status reader_stats(hd_op *op, void *self, int32_t row_group, int32_t column,
                         hd_cpp_stats *out)
{
    const Reader &reader = *reader_of(self);

    *out = {};
    return hudi::guarded(op, Fault::in_file, reader.path(), hudi::allocation_limit(reader.file),
                         [&] { return read_stats(reader, row_group, column, out); });
}

/* ---- batches ------------------------------------------------------------------------------ */

void add_leaves(const parquet::arrow::SchemaField &field, std::vector<int> *leaves)
{
    if (field.is_leaf())
        leaves->push_back(field.column_index);
    for (const auto &child : field.children)
        add_leaves(child, leaves);
}

/* Arrow gives columns in the file's order: read them so and remember where each goes. */
void choose_columns(const Reader &reader, const int32_t *columns, int32_t n_columns,
                    Batches *batches)
{
    std::vector<int32_t> sorted(columns, columns + n_columns);
    std::vector<std::shared_ptr<arrow::Field>> fields;

    std::sort(sorted.begin(), sorted.end());
    for (const int32_t column : sorted)
        add_leaves(reader.manifest.schema_fields[static_cast<size_t>(column)], &batches->leaves);
    for (int32_t i = 0; i < n_columns; i++) {
        const auto at = std::lower_bound(sorted.begin(), sorted.end(), columns[i]);
        batches->positions.push_back(static_cast<int>(at - sorted.begin()));
        fields.push_back(reader.fields[static_cast<size_t>(columns[i])]);
        batches->types.push_back(fields.back()->type());
    }
    batches->schema = arrow::schema(fields);
}

struct Sizes {
    int64_t largest_group = 0; /* bytes of the columns in a row group */
    int64_t row_bytes = 1;     /* of the widest row group, decoded as far as the footer knows */
};

Sizes measure(const Reader &reader, const Batches &batches)
{
    Sizes sizes;

    for (const int i : batches.row_groups) {
        const auto group = reader.metadata->RowGroup(i);
        int64_t stored = 0, decoded = 0;
        for (const int leaf : batches.leaves) {
            const auto chunk = group->ColumnChunk(leaf);
            stored += std::clamp<int64_t>(chunk->total_compressed_size(), 0, int64_t{1} << 40);
            decoded += std::clamp<int64_t>(chunk->total_uncompressed_size(), 0, int64_t{1} << 40);
        }
        sizes.largest_group = std::max(sizes.largest_group, stored);
        if (group->num_rows() > 0)
            sizes.row_bytes = std::max(sizes.row_bytes, decoded / group->num_rows());
    }
    return sizes;
}

/* Text columns that are read as indices and written out when a batch is given. */
void choose_words(const Reader &reader, const int32_t *columns, const Batches &batches,
                  parquet::ArrowReaderProperties *properties)
{
    for (size_t i = 0; i < batches.types.size(); i++) {
        const auto &field = reader.manifest.schema_fields[static_cast<size_t>(columns[i])];
        const auto type = field.field->type()->id();
        if (field.is_leaf() && (type == arrow::Type::STRING || type == arrow::Type::BINARY) &&
            hudi::has_few_words(*reader.metadata, batches.row_groups, field.column_index))
            properties->set_read_dictionary(field.column_index, true);
    }
}

arrow::Status open_batches(Reader *reader, const int32_t *columns, int32_t n_columns,
                           const int32_t *row_groups, int32_t n_row_groups, int64_t batch_rows,
                           std::unique_ptr<Batches> *out)
{
    auto batches = std::make_unique<Batches>();
    auto properties = reader_properties(reader->file);
    auto arrow_properties = reader->properties;

    batches->reader = reader;
    choose_columns(*reader, columns, n_columns, batches.get());
    for (int32_t i = 0; i < n_row_groups; i++)
        batches->row_groups.push_back(row_groups[i]);
    const Sizes sizes = measure(*reader, *batches);
    if (sizes.largest_group > WHOLE_GROUP_BYTES) {
        properties.enable_buffered_stream();
        properties.set_buffer_size(READ_PIECE_BYTES);
    }
    if (batch_rows <= 0)
        batch_rows = std::clamp<int64_t>(BATCH_BYTES / sizes.row_bytes, 256, DEFAULT_BATCH_ROWS);
    arrow_properties.set_batch_size(batch_rows);
    choose_words(*reader, columns, *batches, &arrow_properties);
    ARROW_ASSIGN_OR_RAISE(batches->file, parquet::arrow::FileReader::Make(
                                             hudi::memory_pool(),
                                             parquet::ParquetFileReader::Open(
                                                 reader->source, properties, reader->metadata),
                                             arrow_properties));
    *out = std::move(batches);
    return arrow::Status::OK();
}

hudi_status reader_read(hd_op *op, void *self, const int32_t *columns, int32_t n_columns,
                        const int32_t *row_groups, int32_t n_row_groups, int64_t batch_rows,
                        void **out)
{
    Reader *reader = static_cast<Reader *>(self);
    std::unique_ptr<Batches> batches;
    const hudi_status status = hudi::guarded(
        op, Fault::in_file, reader->path(), hudi::allocation_limit(reader->file), [&] {
            return open_batches(reader, columns, n_columns, row_groups, n_row_groups, batch_rows,
                                &batches);
        });

    *out = batches.release();
    return status;
}

/* Null at the end. */
arrow::Status next_batch(Batches *batches, std::shared_ptr<arrow::RecordBatch> *out)
{
    for (;;) {
        if (batches->current != nullptr) {
            ARROW_RETURN_NOT_OK(batches->current->ReadNext(out));
            if (*out != nullptr && (*out)->num_rows() > 0) {
                batches->rows_left -= (*out)->num_rows();
                return arrow::Status::OK();
            }
            if (*out != nullptr)
                continue;
            /* Arrow ends in peace where one column does. */
            if (batches->rows_left != 0)
                return arrow::Status::Invalid("row group ",
                                              batches->row_groups[batches->next_row_group - 1],
                                              " ends ", batches->rows_left, " rows early");
            batches->current = nullptr;
        }
        if (batches->next_row_group == batches->row_groups.size()) {
            *out = nullptr;
            return arrow::Status::OK();
        }
        const std::vector<int> group{batches->row_groups[batches->next_row_group++]};
        batches->rows_left = batches->reader->metadata->RowGroup(group[0])->num_rows();
        ARROW_ASSIGN_OR_RAISE(batches->current,
                              batches->file->GetRecordBatchReader(group, batches->leaves));
    }
}

arrow::Status export_batch(const Batches &batches, const arrow::RecordBatch &batch, ArrowArray *out)
{
    std::vector<std::shared_ptr<arrow::Array>> columns;

    for (size_t i = 0; i < batches.positions.size(); i++) {
        auto column = batch.column(batches.positions[i]);
        ARROW_RETURN_NOT_OK(column->Validate());
        if (column->type_id() == arrow::Type::DICTIONARY &&
            batches.types[i]->id() != arrow::Type::DICTIONARY) {
            ARROW_ASSIGN_OR_RAISE(
                column, hudi::write_out(static_cast<const arrow::DictionaryArray &>(*column),
                                        batches.types[i]));
        }
        if (!column->type()->Equals(*batches.types[i])) {
            ARROW_ASSIGN_OR_RAISE(column, column->View(batches.types[i]));
        }
        columns.push_back(std::move(column));
    }
    const auto ordered =
        arrow::RecordBatch::Make(batches.schema, batch.num_rows(), std::move(columns));
    return arrow::ExportRecordBatch(*ordered, out);
}

/* The next rows, fewer where their texts are long. False at the end. */
arrow::Result<bool> give_batch(Batches *batches, ArrowArray *out)
{
    std::shared_ptr<arrow::RecordBatch> batch = std::move(batches->rest);

    batches->rest = nullptr;
    if (batch == nullptr)
        ARROW_RETURN_NOT_OK(next_batch(batches, &batch));
    if (batch == nullptr)
        return false;
    int64_t n = batch->num_rows();
    for (;; n /= 2) {
        const arrow::Status status = export_batch(*batches, *batch->Slice(0, n), out);
        if (status.ok())
            break;
        if (!status.IsCapacityError() || n < 2)
            return status;
    }
    if (n < batch->num_rows())
        batches->rest = batch->Slice(n);
    return true;
}

hudi_status batches_next(hd_op *op, void *self, ArrowArray *out)
{
    Batches *batches = static_cast<Batches *>(self);
    bool end = false;
    const hudi_status status =
        hudi::guarded(op, Fault::in_file, batches->reader->path(),
                      hudi::allocation_limit(batches->reader->file), [&] {
                          ARROW_ASSIGN_OR_RAISE(const bool any, give_batch(batches, out));
                          end = !any;
                          return arrow::Status::OK();
                      });

    return status == HUDI_OK && end ? HUDI_END : status;
}

void batches_close(void *self)
{
    delete static_cast<Batches *>(self);
}

} // namespace

extern "C" const hd_cpp_reader_ops hd_parquet_reader_ops = {
    reader_open,           reader_close,           reader_n_rows,    reader_n_row_groups,
    reader_row_group_rows, reader_row_group_bytes, reader_key_value, reader_stats,
    reader_read,           batches_next,           batches_close,
};
