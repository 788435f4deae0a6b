/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV files in chunks of whole rows. Arrow has a streaming reader, which reads ahead on threads
 * that know nothing of our op; its reader of whole tables over one chunk after the other does not,
 * and holds no more than a chunk.
 */
#include <algorithm>
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/csv/api.h>
#include <arrow/csv/chunker.h>
#include <arrow/io/memory.h>
#include <charconv>
#include <cstring>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common.h"

namespace
{

using hudi::Fault;

constexpr int64_t CHUNK_BYTES = int64_t{16} << 20;
constexpr int64_t MAX_ROW_BYTES = int64_t{256} << 20;
constexpr int64_t BATCH_ROWS = 65536;
constexpr int64_t EXACT_INTEGER = int64_t{1} << 53; /* doubles have each up to here */

/* A row that has not the columns of the others. */
struct Skipped {
    int64_t row; /* from 0 */
    std::string reason;
};

struct Csv {
    hd_input_file *file;
    arrow::csv::ParseOptions parse = arrow::csv::ParseOptions::Defaults();
    arrow::csv::ConvertOptions convert = arrow::csv::ConvertOptions::Defaults();
    std::unique_ptr<arrow::Chunker> chunker;
    uint64_t position = 0;
    std::shared_ptr<arrow::Buffer> partial; /* what follows the last whole row, may be null */
    std::set<std::string> cast_later;       /* columns read as text that are to be something else */
    std::shared_ptr<arrow::Schema> schema;  /* null before the first chunk */
    int64_t rows_before = 0;                /* of the current chunk */
    std::shared_ptr<arrow::Table> table;    /* of the current chunk */
    bool as_text = false;                   /* its columns are texts: some value does not fit */
    std::vector<Skipped> skipped;           /* of the chunk, ascending */
    std::deque<Skipped> untold;             /* of all chunks, rows from the start of the file */
    Skipped given;                          /* the one that was given out last */
    std::unique_ptr<arrow::TableBatchReader> batches; /* of `table` */
    int64_t batch_start = 0;                          /* of the current batch in `table` */
    int64_t batch_rows = 0;

    const char *path() const
    {
        return hd_cpp_input_path(file);
    }
};

/* ---- chunks ------------------------------------------------------------------------------- */

/* `partial` and up to CHUNK_BYTES more of the file. */
arrow::Status read_block(Csv *csv, std::shared_ptr<arrow::Buffer> *out)
{
    const int64_t kept = csv->partial == nullptr ? 0 : csv->partial->size();
    const int64_t left = static_cast<int64_t>(hd_cpp_input_size(csv->file) - csv->position);
    const int64_t more = std::min(left, CHUNK_BYTES);

    ARROW_ASSIGN_OR_RAISE(auto block, arrow::AllocateBuffer(kept + more, hudi::memory_pool()));
    if (kept > 0)
        std::memcpy(block->mutable_data(), csv->partial->data(), static_cast<size_t>(kept));
    if (hd_cpp_read_at(hudi::Call::current()->op(), csv->file, csv->position,
                       block->mutable_data() + kept, static_cast<uint64_t>(more)) != HUDI_OK)
        return arrow::Status::IOError("file operation stopped");
    csv->position += static_cast<uint64_t>(more);
    csv->partial = nullptr;
    *out = std::move(block);
    return arrow::Status::OK();
}

/* The end of the file: its last row may lack a line end, but no quote may be open. What Arrow makes
 * of one is a value that has swallowed all rows behind it. */
arrow::Status last_chunk(Csv *csv, std::shared_ptr<arrow::Buffer> *out)
{
    std::shared_ptr<arrow::Buffer> whole, rest;
    const int64_t n = (*out)->size();

    if (n == 0)
        return arrow::Status::OK();
    if ((*out)->data()[n - 1] != '\n' && (*out)->data()[n - 1] != '\r') {
        ARROW_ASSIGN_OR_RAISE(auto ended, arrow::AllocateBuffer(n + 1, hudi::memory_pool()));
        std::memcpy(ended->mutable_data(), (*out)->data(), static_cast<size_t>(n));
        ended->mutable_data()[n] = '\n';
        *out = std::move(ended);
    }
    ARROW_RETURN_NOT_OK(csv->chunker->Process(*out, &whole, &rest));
    if (rest->size() > 0 && std::memchr(rest->data(), '"', static_cast<size_t>(rest->size())))
        return arrow::Status::Invalid("CSV row at byte ",
                                      static_cast<int64_t>(csv->position) - n + (*out)->size() -
                                          rest->size(),
                                      " has a quote that is not closed");
    return arrow::Status::OK();
}

/* The next whole rows, empty at the end. */
arrow::Status next_chunk(Csv *csv, std::shared_ptr<arrow::Buffer> *out)
{
    for (;;) {
        std::shared_ptr<arrow::Buffer> block, whole;
        ARROW_RETURN_NOT_OK(read_block(csv, &block));
        if (csv->position == hd_cpp_input_size(csv->file)) {
            *out = block;
            return last_chunk(csv, out);
        }
        ARROW_RETURN_NOT_OK(csv->chunker->Process(block, &whole, &csv->partial));
        if (whole->size() > 0) {
            *out = whole;
            return arrow::Status::OK();
        }
        if (csv->partial->size() > MAX_ROW_BYTES)
            return arrow::Status::Invalid("CSV row of more than ", MAX_ROW_BYTES,
                                          " bytes: is a quote not closed");
    }
}

arrow::Status read_chunk(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk,
                         const arrow::csv::ConvertOptions &convert,
                         std::shared_ptr<arrow::Table> *out)
{
    auto read = arrow::csv::ReadOptions::Defaults();

    read.use_threads = false;
    read.block_size =
        static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(chunk->size(), 1), INT32_MAX));
    if (csv->schema != nullptr)
        read.column_names = csv->schema->field_names();
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::csv::TableReader::Make(
                                                 arrow::io::IOContext(hudi::memory_pool()),
                                                 std::make_shared<arrow::io::BufferReader>(chunk),
                                                 read, csv->parse, convert));
    csv->skipped.clear();
    auto table = reader->Read();
    if (!table.ok() && csv->schema != nullptr) /* its row numbers are of the chunk */
        return table.status().WithMessage(table.status().message(), " (rows counted from ",
                                          csv->rows_before, ")");
    ARROW_ASSIGN_OR_RAISE(*out, std::move(table));
    return arrow::Status::OK();
}

arrow::Status parse_chunk(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk)
{
    csv->as_text = false;
    return read_chunk(csv, chunk, csv->convert, &csv->table);
}

bool is_text(const arrow::DataType &type)
{
    return type.id() == arrow::Type::STRING || type.id() == arrow::Type::BINARY;
}

/* The chunk again, where a value is not of its column's type: columns of known types as texts, for
 * the cast that tells which row it is. Quotes make a text of what else is null, not a number. */
arrow::Status parse_chunk_as_text(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk)
{
    auto texts = csv->convert, others = csv->convert;
    std::shared_ptr<arrow::Table> table, nullable;

    texts.check_utf8 = false;
    for (auto &[name, type] : texts.column_types)
        type = is_text(*type) && csv->cast_later.count(name) == 0 ? arrow::binary() : arrow::utf8();
    others = texts;
    others.quoted_strings_can_be_null = true;
    ARROW_RETURN_NOT_OK(read_chunk(csv, chunk, texts, &table));
    ARROW_RETURN_NOT_OK(read_chunk(csv, chunk, others, &nullable));
    for (int i = 0; i < table->num_columns(); i++) {
        const auto type = csv->convert.column_types.find(table->field(i)->name());
        if (type == csv->convert.column_types.end() || is_text(*type->second))
            continue;
        ARROW_ASSIGN_OR_RAISE(table, table->SetColumn(i, nullable->field(i), nullable->column(i)));
    }
    csv->table = table;
    csv->as_text = true;
    return arrow::Status::OK();
}

/* Rows of the chunk, as far as they are rows. */
arrow::Status take_chunk(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk)
{
    const auto status = parse_chunk(csv, chunk);

    if (!status.ok() && (csv->convert.column_types.empty() || !status.IsInvalid() ||
                         !parse_chunk_as_text(csv, chunk).ok()))
        return status;
    for (const auto &row : csv->skipped)
        csv->untold.push_back({csv->rows_before + row.row, row.reason});
    csv->batch_start = csv->batch_rows = 0;
    return arrow::Status::OK();
}

/* Whoever is told of bad rows gets those that have too few or too many columns. */
void skip_bad_rows(Csv *csv)
{
    csv->parse.invalid_row_handler = [csv](const arrow::csv::InvalidRow &row) {
        const int64_t n_names = csv->schema == nullptr ? 1 : 0; /* the line of names counts */
        csv->skipped.push_back({row.number - 1 - n_names,
                                "has " + std::to_string(row.actual_columns) + " columns, not " +
                                    std::to_string(row.expected_columns)});
        return arrow::csv::InvalidRowResult::Skip;
    };
}

/* ---- opening ------------------------------------------------------------------------------ */

/* What Arrow parses as the library would; all else is read as text and cast later. Not decimals:
 * "1234.5" becomes one of precision 5 and scale 2, of six digits. */
bool is_parsed_here(const arrow::DataType &type)
{
    switch (type.id()) {
    case arrow::Type::BOOL:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
        return true;
    default:
        return false;
    }
}

arrow::Status set_types(Csv *csv, const ArrowSchema *types)
{
    if (types == nullptr)
        return arrow::Status::OK();
    ArrowSchema loan = hudi::on_loan(*types);
    ARROW_ASSIGN_OR_RAISE(const auto schema, arrow::ImportSchema(&loan));
    for (const auto &field : schema->fields()) {
        const bool here = is_parsed_here(*field->type());
        csv->convert.column_types[field->name()] = here ? field->type() : arrow::utf8();
        if (!here)
            csv->cast_later.insert(field->name());
    }
    return arrow::Status::OK();
}

/* Names and types of the first chunk are those of all, but for a type that was given. A column
 * without any value is text. */
arrow::Status fix_schema(Csv *csv)
{
    std::vector<std::shared_ptr<arrow::Field>> fields;

    for (int i = 0; i < csv->table->num_columns(); i++) {
        auto field = csv->table->schema()->field(i);
        const auto given = csv->convert.column_types.find(field->name());
        if (csv->as_text && given != csv->convert.column_types.end())
            field = field->WithType(given->second);
        if (field->type()->id() == arrow::Type::NA) {
            field = field->WithType(arrow::utf8());
            ARROW_ASSIGN_OR_RAISE(
                const auto nulls,
                arrow::MakeArrayOfNull(arrow::utf8(), csv->table->num_rows(), hudi::memory_pool()));
            ARROW_ASSIGN_OR_RAISE(
                csv->table,
                csv->table->SetColumn(i, field, std::make_shared<arrow::ChunkedArray>(nulls)));
        }
        for (const auto &other : fields)
            if (other->name() == field->name())
                return arrow::Status::Invalid("CSV column \"", field->name(), "\" occurs twice");
        fields.push_back(field);
        csv->convert.column_types[field->name()] = field->type();
    }
    csv->schema = arrow::schema(fields);
    return arrow::Status::OK();
}

/* Digits that a number does not keep: "007" and "7" would be one, and so would whole numbers
 * that are no doubles. `text` is what Arrow took for a number. */
bool loses_digits(std::string_view text, bool is_double)
{
    int64_t whole = 0;

    while (!text.empty() && std::strchr(" \t+-", text.front()) != nullptr)
        text.remove_prefix(1);
    while (!text.empty() && std::strchr(" \t", text.back()) != nullptr)
        text.remove_suffix(1);
    if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        return true;
    if (!is_double || text.find_first_not_of("0123456789") != std::string_view::npos)
        return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    return error != std::errc() || whole > EXACT_INTEGER;
}

bool column_loses_digits(const arrow::ChunkedArray &texts, bool is_double)
{
    for (const auto &chunk : texts.chunks()) {
        const auto &values = static_cast<const arrow::StringArray &>(*chunk);
        for (int64_t i = 0; i < values.length(); i++)
            if (!values.IsNull(i) && loses_digits(values.GetView(i), is_double))
                return true;
    }
    return false;
}

/* A guess must lose nothing: numbers of which digits would go are texts, and so is what is no UTF-8
 * (its rows fail). */
arrow::Status prefer_text(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk)
{
    auto texts = csv->convert;
    std::shared_ptr<arrow::Table> read;
    const auto skipped = csv->skipped;
    bool changed = false;

    for (const auto &field : csv->table->schema()->fields()) {
        const auto id = field->type()->id();
        if (csv->convert.column_types.count(field->name()) > 0)
            continue;
        if (id == arrow::Type::BINARY) {
            csv->convert.column_types[field->name()] = arrow::utf8();
            changed = true;
        } else if (id == arrow::Type::INT64 || id == arrow::Type::DOUBLE) {
            texts.include_columns.push_back(field->name());
            texts.column_types[field->name()] = arrow::utf8();
        }
    }
    if (!texts.include_columns.empty()) {
        ARROW_RETURN_NOT_OK(read_chunk(csv, chunk, texts, &read));
        csv->skipped = skipped;
        for (int i = 0; i < read->num_columns(); i++) {
            const auto &name = read->field(i)->name();
            const auto guessed = csv->table->schema()->GetFieldByName(name);
            if (guessed == nullptr || /* its name occurs twice */
                !column_loses_digits(*read->column(i),
                                     guessed->type()->id() == arrow::Type::DOUBLE))
                continue;
            csv->convert.column_types[name] = arrow::utf8();
            changed = true;
        }
    }
    if (changed && !parse_chunk(csv, chunk).ok())
        return parse_chunk_as_text(csv, chunk);
    return arrow::Status::OK();
}

/* Guessed timestamps come in seconds or, with a fraction, nanoseconds; tables have microseconds.
 * Read the chunk again so, unless it has more digits than that. */
arrow::Status prefer_micros(Csv *csv, const std::shared_ptr<arrow::Buffer> &chunk)
{
    const auto table = csv->table;
    const auto types = csv->convert.column_types;
    bool changed = false;

    for (const auto &field : table->schema()->fields()) {
        if (field->type()->id() != arrow::Type::TIMESTAMP)
            continue;
        const auto &type = static_cast<const arrow::TimestampType &>(*field->type());
        csv->convert.column_types[field->name()] =
            arrow::timestamp(arrow::TimeUnit::MICRO, type.timezone());
        changed = true;
    }
    if (changed &&
        !(csv->as_text ? parse_chunk_as_text(csv, chunk) : parse_chunk(csv, chunk)).ok()) {
        csv->table = table;
        csv->convert.column_types = types;
    }
    return arrow::Status::OK();
}

bool is_blank(const arrow::Buffer &chunk)
{
    return std::string_view(chunk).find_first_not_of("\r\n") == std::string_view::npos;
}

arrow::Status open_csv(hd_input_file *file, const ArrowSchema *types, bool skip,
                       std::unique_ptr<Csv> *out, ArrowSchema *schema)
{
    auto csv = std::make_unique<Csv>();
    std::shared_ptr<arrow::Buffer> chunk;

    csv->file = file;
    csv->parse.newlines_in_values = true;
    csv->convert.null_values = {"", "NA", "null", "NULL"};
    csv->convert.strings_can_be_null = true;
    csv->convert.quoted_strings_can_be_null = false;
    csv->chunker = arrow::csv::MakeChunker(csv->parse);
    if (skip)
        skip_bad_rows(csv.get());
    ARROW_RETURN_NOT_OK(set_types(csv.get(), types));
    ARROW_RETURN_NOT_OK(next_chunk(csv.get(), &chunk));
    if (is_blank(*chunk))
        return arrow::Status::Invalid("CSV file without a line of column names");
    ARROW_RETURN_NOT_OK(take_chunk(csv.get(), chunk));
    ARROW_RETURN_NOT_OK(prefer_text(csv.get(), chunk));
    ARROW_RETURN_NOT_OK(prefer_micros(csv.get(), chunk));
    ARROW_RETURN_NOT_OK(fix_schema(csv.get()));
    ARROW_RETURN_NOT_OK(arrow::ExportSchema(*csv->schema, schema));
    *out = std::move(csv);
    return arrow::Status::OK();
}

/* ---- batches ------------------------------------------------------------------------------ */

/* Null at the end. */
arrow::Status next_batch(Csv *csv, std::shared_ptr<arrow::RecordBatch> *out)
{
    for (;;) {
        std::shared_ptr<arrow::Buffer> chunk;
        if (csv->batches == nullptr && csv->table != nullptr) {
            csv->batches = std::make_unique<arrow::TableBatchReader>(*csv->table);
            csv->batches->set_chunksize(BATCH_ROWS);
        }
        if (csv->batches != nullptr) {
            ARROW_RETURN_NOT_OK(csv->batches->ReadNext(out));
            csv->batch_start += csv->batch_rows;
            csv->batch_rows = *out == nullptr ? 0 : (*out)->num_rows();
            if (csv->batch_rows > 0)
                return arrow::Status::OK();
            if (*out != nullptr)
                continue;
            csv->rows_before += csv->table->num_rows() + static_cast<int64_t>(csv->skipped.size());
            csv->batches = nullptr;
            csv->table = nullptr;
        }
        if (csv->position == hd_cpp_input_size(csv->file)) {
            *out = nullptr;
            return arrow::Status::OK();
        }
        ARROW_RETURN_NOT_OK(next_chunk(csv, &chunk));
        if (chunk->size() > 0)
            ARROW_RETURN_NOT_OK(take_chunk(csv, chunk));
    }
}

hudi_status csv_next(hd_op *op, void *self, ArrowArray *out)
{
    Csv *csv = static_cast<Csv *>(self);
    bool end = false;
    const hudi_status status = hudi::guarded(op, Fault::in_input, csv->path(), 0, [&] {
        std::shared_ptr<arrow::RecordBatch> batch;
        ARROW_RETURN_NOT_OK(next_batch(csv, &batch));
        end = batch == nullptr;
        return end ? arrow::Status::OK() : arrow::ExportRecordBatch(*batch, out);
    });

    return status == HUDI_OK && end ? HUDI_END : status;
}

void csv_close(void *self)
{
    delete static_cast<Csv *>(self);
}

} // namespace

extern "C" {

const hd_cpp_table_ops hd_csv_ops = {csv_next, csv_close};

hudi_status hd_csv_open(hd_op *op, hd_input_file *file, const ArrowSchema *types, bool skip,
                        void **self, ArrowSchema *schema)
{
    std::unique_ptr<Csv> csv;
    const hudi_status status = hudi::guarded(op, Fault::in_input, hd_cpp_input_path(file), 0, [&] {
        return open_csv(file, types, skip, &csv, schema);
    });

    *self = csv.release();
    return status;
}

hudi_status hd_csv_batch_schema(hd_op *op, void *self, ArrowSchema *out)
{
    const Csv *csv = static_cast<const Csv *>(self);

    *out = ArrowSchema{};
    if (!csv->as_text)
        return HUDI_OK;
    return hudi::guarded(op, Fault::in_input, csv->path(), 0,
                         [&] { return arrow::ExportSchema(*csv->table->schema(), out); });
}

int64_t hd_csv_row(const void *self, int64_t i)
{
    const Csv *csv = static_cast<const Csv *>(self);
    int64_t row = csv->batch_start + i;

    for (const auto &skipped : csv->skipped)
        row += skipped.row <= row;
    return csv->rows_before + row;
}

bool hd_csv_next_skipped(void *self, int64_t *row, const char **reason)
{
    Csv *csv = static_cast<Csv *>(self);

    if (csv->untold.empty())
        return false;
    csv->given = std::move(csv->untold.front());
    csv->untold.pop_front();
    *row = csv->given.row;
    *reason = csv->given.reason.c_str();
    return true;
}

} // extern "C"
