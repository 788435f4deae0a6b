/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches into a Parquet file, a buffered row group at a time: pages are encoded and compressed as
 * they fill, so that what waits for the end of a row group is about its size in the file.
 */
#include <algorithm>
#include <arrow/c/bridge.h>
#include <arrow/util/compression.h>
#include <climits>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common.h"
#include "parquet_fixed.h"

namespace
{

using hudi::Fault;

constexpr int64_t DEFAULT_ROW_GROUP_ROWS = 100000;
constexpr int64_t MAGIC_BYTES = 4;
constexpr int64_t DEFAULT_PAGE_BYTES = int64_t{1} << 20;
constexpr int GZIP_LEVEL = 4; /* Arrow's own 9 takes four times the time for 1 % of the size */
constexpr int64_t SAMPLE_ROWS = 2048;
constexpr int64_t MIN_SAMPLE_ROWS = 64;
constexpr double UNIQUE_SHARE = 0.95; /* of distinct values in a sample: no dictionary pays */
constexpr double UNKNOWN_RATIO = 0.5; /* of compressed to encoded bytes, until one is known */

/*
 * Parquet's writer with a look at the row group being written: Arrow's own layer above it keeps
 * that to itself, and how large a file has become is what decides when to start the next.
 */
class WatchedContents : public parquet::ParquetFileWriter::Contents
{
  public:
    WatchedContents(std::unique_ptr<parquet::ParquetFileWriter> inner,
                    std::shared_ptr<parquet::schema::GroupNode> schema)
        : Contents(std::move(schema), nullptr), inner_(std::move(inner))
    {
    }

    void Close() override
    {
        row_group_ = nullptr;
        inner_->Close();
        file_metadata_ = inner_->metadata();
    }

    parquet::RowGroupWriter *AppendRowGroup() override
    {
        return row_group_ = inner_->AppendRowGroup();
    }

    parquet::RowGroupWriter *AppendBufferedRowGroup() override
    {
        return row_group_ = inner_->AppendBufferedRowGroup();
    }

    int64_t num_rows() const override
    {
        return inner_->num_rows();
    }
    int num_columns() const override
    {
        return inner_->num_columns();
    }
    int num_row_groups() const override
    {
        return inner_->num_row_groups();
    }

    const std::shared_ptr<parquet::WriterProperties> &properties() const override
    {
        return inner_->properties();
    }

    void
    AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata> &key_values) override
    {
        inner_->AddKeyValueMetadata(key_values);
    }

    /** The row group in progress, null before the first. */
    const parquet::RowGroupWriter *row_group() const
    {
        return row_group_;
    }

    /** Write what is buffered of the row group in progress; only Close() may follow. */
    void flush()
    {
        if (row_group_ != nullptr)
            row_group_->Close();
    }

  private:
    std::unique_ptr<parquet::ParquetFileWriter> inner_;
    parquet::RowGroupWriter *row_group_ = nullptr;
};

struct Writer {
    hd_output_file *file;
    std::shared_ptr<hudi::OutputStream> sink;
    std::shared_ptr<arrow::Schema> schema;
    std::string root_name;
    parquet::WriterProperties::Builder properties;
    arrow::KeyValueMetadata key_values;
    bool dictionary = false;
    uint64_t row_group_bytes = 0;
    WatchedContents *contents = nullptr;                 /* of `parquet` */
    std::unique_ptr<parquet::arrow::FileWriter> parquet; /* null before the first batch */
    /* The dictionary last seen per column, in memory of our own: Arrow compares each batch's with
     * that of the batch before, whose memory was the caller's. */
    std::vector<std::shared_ptr<arrow::Array>> dictionaries;
    std::string bytes; /* that a call gave out */

    const char *path() const
    {
        return hd_cpp_output_path(file);
    }
    ~Writer()
    {
        sink->silence();
    }
};

/* ---- opening ------------------------------------------------------------------------------ */

arrow::Compression::type compression(int32_t codec)
{
    static constexpr arrow::Compression::type CODECS[] = {
        arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY, arrow::Compression::GZIP,
        arrow::Compression::ZSTD,         arrow::Compression::LZ4, /* written as LZ4_RAW */
    };

    return CODECS[codec];
}

void set_properties(const hd_cpp_write_options &options, parquet::WriterProperties::Builder *to)
{
    const int64_t page_bytes =
        options.page_bytes == 0 ? DEFAULT_PAGE_BYTES : static_cast<int64_t>(options.page_bytes);

    to->memory_pool(hudi::memory_pool());
    to->version(parquet::ParquetVersion::PARQUET_2_6);
    to->compression(compression(options.codec));
    if (options.codec_level != INT32_MIN)
        to->compression_level(options.codec_level);
    else if (compression(options.codec) == arrow::Compression::GZIP)
        to->compression_level(GZIP_LEVEL);
    to->data_pagesize(page_bytes);
    to->max_row_group_length(options.row_group_rows == 0 ? DEFAULT_ROW_GROUP_ROWS
                                                         : options.row_group_rows);
    to->enable_statistics();
    to->enable_write_page_index();
    to->set_size_statistics_level(parquet::SizeStatisticsLevel::None);
    if (!options.dictionary)
        to->disable_dictionary();
    for (int32_t i = 0; i < options.n_no_dictionary; i++)
        to->disable_dictionary(std::make_shared<parquet::schema::ColumnPath>(
            std::vector<std::string>{options.no_dictionary[i]}));
}

/* A file of these columns into `sink`. */
arrow::Status make_file(const Writer &writer, std::shared_ptr<hudi::OutputStream> sink,
                        const std::shared_ptr<arrow::Schema> &schema,
                        parquet::WriterProperties::Builder builder, WatchedContents **watched,
                        std::unique_ptr<parquet::arrow::FileWriter> *out)
{
    const auto properties = builder.build();
    parquet::ArrowWriterProperties::Builder arrow_builder;
    const auto arrow_properties = arrow_builder.build();
    std::shared_ptr<parquet::SchemaDescriptor> descriptor;

    ARROW_RETURN_NOT_OK(
        parquet::arrow::ToParquetSchema(schema.get(), *properties, *arrow_properties, &descriptor));
    const auto *made = descriptor->group_node();
    parquet::schema::NodeVector fields;
    for (int i = 0; i < made->field_count(); i++)
        fields.push_back(hudi::with_fixed_decimals(made->field(i), *schema->field(i)));
    const auto root = std::static_pointer_cast<parquet::schema::GroupNode>(
        parquet::schema::GroupNode::Make(writer.root_name, parquet::Repetition::REQUIRED, fields));
    auto contents = std::make_unique<WatchedContents>(
        parquet::ParquetFileWriter::Open(std::move(sink), root, properties), root);
    auto file = std::make_unique<parquet::ParquetFileWriter>();
    *watched = contents.get();
    file->Open(std::move(contents));
    return parquet::arrow::FileWriter::Make(hudi::memory_pool(), std::move(file),
                                            hudi::with_fixed_decimals(schema), arrow_properties,
                                            out);
}

/* The file, or its next section, whose magic is that of the file already. */
arrow::Status open_parquet(Writer *writer, parquet::WriterProperties::Builder properties)
{
    writer->sink = std::make_shared<hudi::OutputStream>(writer->file);
    if (hd_cpp_output_position(writer->file) > 0)
        writer->sink->drop(MAGIC_BYTES);
    return make_file(*writer, writer->sink, writer->schema, std::move(properties),
                     &writer->contents, &writer->parquet);
}

arrow::Status open_writer(hd_output_file *file, const ArrowSchema *schema,
                          const hd_cpp_write_options &options, std::unique_ptr<Writer> *out)
{
    auto writer = std::make_unique<Writer>();
    ArrowSchema loan = hudi::on_loan(*schema);
    std::vector<std::shared_ptr<arrow::Field>> fields;

    writer->file = file;
    writer->sink = std::make_shared<hudi::OutputStream>(file);
    ARROW_ASSIGN_OR_RAISE(const auto imported, arrow::ImportSchema(&loan));
    for (const auto &field : imported->fields())
        fields.push_back(hudi::has_declared_width(*field) ? field : field->RemoveMetadata());
    writer->schema = arrow::schema(fields);
    writer->dictionaries.resize(fields.size());
    writer->row_group_bytes = options.row_group_bytes;
    writer->root_name = options.root_name == nullptr ? "schema" : options.root_name;
    writer->dictionary = options.dictionary;
    set_properties(options, &writer->properties);
    std::shared_ptr<parquet::SchemaDescriptor> descriptor; /* a type that cannot be written? */
    ARROW_RETURN_NOT_OK(
        parquet::arrow::ToParquetSchema(writer->schema.get(), *parquet::default_writer_properties(),
                                        *parquet::default_arrow_writer_properties(), &descriptor));
    *out = std::move(writer);
    return arrow::Status::OK();
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The bytes of a value, empty for a type that dictionaries are not looked at for. */
std::string_view value_bytes(const arrow::Array &array, int64_t row)
{
    switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
        return static_cast<const arrow::BinaryArray &>(array).GetView(row);
    default: {
        const auto &type = static_cast<const arrow::FixedWidthType &>(*array.type());
        const int64_t width = type.bit_width() / 8;
        return {reinterpret_cast<const char *>(array.data()->buffers[1]->data()) +
                    (array.offset() + row) * width,
                static_cast<size_t>(width)};
    }
    }
}

/* Nearly every value of a sample is another: a dictionary would hold the column once more. */
bool looks_unique(const arrow::Array &array)
{
    const int64_t step = std::max<int64_t>(1, array.length() / SAMPLE_ROWS);
    std::unordered_set<std::string_view> seen;
    int64_t n = 0;

    for (int64_t row = 0; row < array.length(); row += step) {
        if (array.IsNull(row))
            continue;
        seen.insert(value_bytes(array, row));
        n++;
    }
    return n >= MIN_SAMPLE_ROWS &&
           static_cast<double>(seen.size()) >= UNIQUE_SHARE * static_cast<double>(n);
}

void disable_useless_dictionaries(const arrow::Array &array, std::vector<std::string> *path,
                                  parquet::WriterProperties::Builder *properties)
{
    const auto &type = *array.type();

    if (type.id() == arrow::Type::STRUCT) {
        const auto &parent = static_cast<const arrow::StructArray &>(array);
        for (int i = 0; i < type.num_fields(); i++) {
            path->push_back(type.field(i)->name());
            disable_useless_dictionaries(*parent.field(i), path, properties);
            path->pop_back();
        }
    } else if ((arrow::is_base_binary_like(type.id()) && !arrow::is_large_binary_like(type.id())) ||
               (arrow::is_fixed_width(type.id()) && type.id() != arrow::Type::BOOL &&
                type.id() != arrow::Type::DICTIONARY)) {
        if (looks_unique(array))
            properties->disable_dictionary(std::make_shared<parquet::schema::ColumnPath>(*path));
    }
}

/* Which columns get a dictionary is fixed when the file is opened; the first batch tells. */
arrow::Status open_for(Writer *writer, const arrow::RecordBatch &batch)
{
    parquet::WriterProperties::Builder properties = writer->properties;

    for (int i = 0; writer->dictionary && i < batch.num_columns(); i++) {
        std::vector<std::string> path{writer->schema->field(i)->name()};
        disable_useless_dictionaries(*batch.column(i), &path, &properties);
    }
    return open_parquet(writer, std::move(properties));
}

/* Dictionaries must outlive the batch: exchange them for copies, kept as long as they are the same.
 */
arrow::Status own_dictionaries(Writer *writer, std::shared_ptr<arrow::RecordBatch> *batch)
{
    for (int i = 0; i < (*batch)->num_columns(); i++) {
        if ((*batch)->column(i)->type_id() != arrow::Type::DICTIONARY)
            continue;
        const auto &column = static_cast<const arrow::DictionaryArray &>(*(*batch)->column(i));
        auto &kept = writer->dictionaries[static_cast<size_t>(i)];
        if (kept == nullptr || !kept->Equals(column.dictionary())) {
            ARROW_ASSIGN_OR_RAISE(kept,
                                  arrow::Concatenate({column.dictionary()}, hudi::memory_pool()));
        }
        ARROW_ASSIGN_OR_RAISE(const auto replaced, arrow::DictionaryArray::FromArrays(
                                                       column.type(), column.indices(), kept));
        ARROW_ASSIGN_OR_RAISE(*batch, (*batch)->SetColumn(i, writer->schema->field(i), replaced));
    }
    return arrow::Status::OK();
}

/* What pages are still made of. */
uint64_t waiting_bytes(const parquet::RowGroupWriter &group, double ratio)
{
    const auto waiting = group.estimated_buffered_stats();

    return static_cast<uint64_t>(group.total_compressed_bytes()) +
           static_cast<uint64_t>(
               ratio * static_cast<double>(waiting.def_level_bytes + waiting.rep_level_bytes +
                                           waiting.value_bytes + waiting.dict_bytes));
}

/* In memory as a whole: its pages come to the file when it ends. */
uint64_t group_bytes(const Writer &writer)
{
    const auto *group = writer.contents == nullptr ? nullptr : writer.contents->row_group();

    return group == nullptr ? 0
                            : static_cast<uint64_t>(group->total_compressed_bytes_written()) +
                                  waiting_bytes(*group, UNKNOWN_RATIO);
}

bool group_is_full(const Writer &writer)
{
    const auto *group = writer.contents->row_group();

    return writer.row_group_bytes > 0 && group != nullptr &&
           static_cast<uint64_t>(group->total_bytes_written()) + waiting_bytes(*group, 1.0) >
               writer.row_group_bytes;
}

/* Rows as the file has them. */
arrow::Status write_stored(parquet::arrow::FileWriter *file, const arrow::RecordBatch &batch)
{
    const auto schema = hudi::with_fixed_decimals(batch.schema());
    std::vector<std::shared_ptr<arrow::Array>> columns;

    if (schema == batch.schema())
        return file->WriteRecordBatch(batch);
    for (int i = 0; i < batch.num_columns(); i++) {
        ARROW_ASSIGN_OR_RAISE(
            auto column, hudi::with_fixed_decimals(batch.column(i), *batch.schema()->field(i)));
        columns.push_back(std::move(column));
    }
    return file->WriteRecordBatch(*arrow::RecordBatch::Make(schema, batch.num_rows(), columns));
}

arrow::Status write_batch(Writer *writer, const ArrowArray *theirs)
{
    ArrowArray loan = hudi::on_loan(*theirs);

    ARROW_ASSIGN_OR_RAISE(auto batch, arrow::ImportRecordBatch(&loan, writer->schema));
    ARROW_RETURN_NOT_OK(own_dictionaries(writer, &batch));
    if (writer->parquet == nullptr)
        ARROW_RETURN_NOT_OK(open_for(writer, *batch));
    if (group_is_full(*writer))
        ARROW_RETURN_NOT_OK(writer->parquet->NewBufferedRowGroup());
    return write_stored(writer->parquet.get(), *batch);
}

arrow::Status finish(Writer *writer)
{
    if (writer->parquet == nullptr)
        ARROW_RETURN_NOT_OK(open_parquet(writer, writer->properties));
    if (writer->key_values.size() > 0)
        ARROW_RETURN_NOT_OK(writer->parquet->AddKeyValueMetadata(writer->key_values.Copy()));
    return writer->parquet->Close();
}

arrow::Status end_section(Writer *writer)
{
    writer->contents->flush();
    writer->sink->hold();
    ARROW_RETURN_NOT_OK(writer->parquet->Close());
    writer->bytes = std::move(writer->sink->held());
    writer->contents = nullptr;
    writer->parquet.reset();
    return arrow::Status::OK();
}

arrow::Status empty_file(Writer *writer)
{
    auto sink = std::make_shared<hudi::OutputStream>(nullptr);
    WatchedContents *contents;
    std::unique_ptr<parquet::arrow::FileWriter> file;

    ARROW_RETURN_NOT_OK(
        make_file(*writer, sink, writer->schema, writer->properties, &contents, &file));
    if (writer->key_values.size() > 0)
        ARROW_RETURN_NOT_OK(file->AddKeyValueMetadata(writer->key_values.Copy()));
    ARROW_RETURN_NOT_OK(file->Close());
    writer->bytes = std::move(sink->held());
    return arrow::Status::OK();
}

arrow::Status column_file(Writer *writer, int32_t column, const ArrowArray *theirs)
{
    ArrowArray loan = hudi::on_loan(*theirs);
    const auto schema = arrow::schema({writer->schema->field(column)});
    auto sink = std::make_shared<hudi::OutputStream>(nullptr);
    auto properties = writer->properties;
    WatchedContents *contents;
    std::unique_ptr<parquet::arrow::FileWriter> file;

    ARROW_ASSIGN_OR_RAISE(const auto values, arrow::ImportArray(&loan, schema->field(0)->type()));
    properties.max_row_group_length(std::max<int64_t>(1, values->length()));
    ARROW_RETURN_NOT_OK(make_file(*writer, sink, schema, std::move(properties), &contents, &file));
    ARROW_RETURN_NOT_OK(
        write_stored(file.get(), *arrow::RecordBatch::Make(schema, values->length(), {values})));
    ARROW_RETURN_NOT_OK(file->Close());
    writer->bytes = std::move(sink->held());
    return arrow::Status::OK();
}

hudi_status give_bytes(const Writer &writer, hudi_status status, const void **bytes, size_t *n)
{
    *bytes = status == HUDI_OK ? writer.bytes.data() : nullptr;
    *n = status == HUDI_OK ? writer.bytes.size() : 0;
    return status;
}

Writer *writer_of(void *self)
{
    return static_cast<Writer *>(self);
}

} // namespace

extern "C" {

hudi_status hd_parquet_writer_open(hd_op *op, hd_output_file *file, const ArrowSchema *schema,
                                   const hd_cpp_write_options *options, void **out)
{
    std::unique_ptr<Writer> writer;
    const hudi_status status = hudi::guarded(op, Fault::in_input, hd_cpp_output_path(file), 0, [&] {
        return open_writer(file, schema, *options, &writer);
    });

    *out = writer.release();
    return status;
}

hudi_status hd_parquet_writer_write(hd_op *op, void *self, const ArrowArray *batch)
{
    return hudi::guarded(op, Fault::in_input, writer_of(self)->path(), 0,
                         [&] { return write_batch(writer_of(self), batch); });
}

uint64_t hd_parquet_writer_bytes(const void *self)
{
    const Writer &writer = *static_cast<const Writer *>(self);

    try {
        return hd_cpp_output_position(writer.file) + group_bytes(writer);
    } catch (...) {
        return hd_cpp_output_position(writer.file);
    }
}

hudi_status hd_parquet_writer_key_value(hd_op *op, void *self, const char *key, const void *value,
                                        size_t n)
{
    return hudi::guarded(op, Fault::in_input, writer_of(self)->path(), 0, [&] {
        return writer_of(self)->key_values.Set(
            key, n == 0 ? std::string() : std::string(static_cast<const char *>(value), n));
    });
}

hudi_status hd_parquet_writer_finish(hd_op *op, void *self)
{
    return hudi::guarded(op, Fault::in_input, writer_of(self)->path(), 0,
                         [&] { return finish(writer_of(self)); });
}

hudi_status hd_parquet_writer_end_section(hd_op *op, void *self, const void **tail, size_t *n)
{
    Writer &writer = *writer_of(self);

    return give_bytes(
        writer,
        hudi::guarded(op, Fault::in_input, writer.path(), 0, [&] { return end_section(&writer); }),
        tail, n);
}

hudi_status hd_parquet_writer_empty_file(hd_op *op, void *self, const void **bytes, size_t *n)
{
    Writer &writer = *writer_of(self);

    return give_bytes(
        writer,
        hudi::guarded(op, Fault::in_input, writer.path(), 0, [&] { return empty_file(&writer); }),
        bytes, n);
}

hudi_status hd_parquet_writer_column_file(hd_op *op, void *self, int32_t column,
                                          const ArrowArray *values, const void **bytes, size_t *n)
{
    Writer &writer = *writer_of(self);

    return give_bytes(writer,
                      hudi::guarded(op, Fault::in_input, writer.path(), 0,
                                    [&] { return column_file(&writer, column, values); }),
                      bytes, n);
}

void hd_parquet_writer_free(void *self)
{
    delete writer_of(self);
}

} // extern "C"
