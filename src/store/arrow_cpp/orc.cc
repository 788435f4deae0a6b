/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ORC files as batches; a stripe is what base_file.h calls a row group. Types as Arrow maps them:
 * timestamps come in nanoseconds, those with local time zone as UTC; char and varchar are strings.
 * Arrow does not give out stripe statistics, so there are none. What the footer says has been
 * checked by orc_footer.c before anything here runs.
 */
#include <algorithm>
#include <arrow/adapters/orc/adapter.h>
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/util/key_value_metadata.h>
#include <vector>

#include "common.h"

namespace
{

using arrow::adapters::orc::ORCFileReader;
using hudi::Fault;

constexpr int64_t DEFAULT_BATCH_ROWS = 65536;
constexpr int64_t BATCH_BYTES = int64_t{32} << 20; /* aimed at, by default */

struct Stripe {
    int64_t first_row;
    int64_t n_rows;
    int64_t n_bytes;
};

struct Reader {
    hd_input_file *file;
    std::shared_ptr<arrow::Schema> schema;
    std::shared_ptr<const arrow::KeyValueMetadata> key_values;
    std::vector<Stripe> stripes;
    int64_t n_rows = 0;

    const char *path() const
    {
        return hd_cpp_input_path(file);
    }
};

struct Batches {
    Reader *reader;
    std::unique_ptr<ORCFileReader> file;
    std::vector<int> columns;   /* ascending */
    std::vector<int> positions; /* of the output columns among those */
    std::shared_ptr<arrow::Schema> schema;
    std::vector<int> stripes;
    size_t next_stripe = 0;
    int64_t batch_rows;
    int64_t rows_left = 0;                             /* of what is open */
    std::shared_ptr<arrow::RecordBatchReader> current; /* the whole file, or null */
    std::shared_ptr<arrow::RecordBatch> whole;         /* what is left of a stripe, or null */
};

/* ---- opening ------------------------------------------------------------------------------ */

arrow::Status read_stripes(ORCFileReader *file, Reader *reader)
{
    const int64_t size = static_cast<int64_t>(hd_cpp_input_size(reader->file));

    for (int64_t i = 0; i < file->NumberOfStripes(); i++) {
        const auto info = file->GetStripeInformation(i);
        if (info.num_rows < 0 || info.offset < 0 || info.length < 0 || info.offset > size ||
            info.length > size - info.offset)
            return arrow::Status::Invalid("ORC stripe ", i, " lies outside of the file");
        reader->stripes.push_back({reader->n_rows, info.num_rows, info.length});
        if (__builtin_add_overflow(reader->n_rows, info.num_rows, &reader->n_rows))
            return arrow::Status::Invalid("ORC stripes claim too many rows");
    }
    if (reader->n_rows != file->NumberOfRows())
        return arrow::Status::Invalid("ORC stripes have ", reader->n_rows,
                                      " rows, the footer says ", file->NumberOfRows());
    return arrow::Status::OK();
}

arrow::Status open_reader(hd_input_file *file, std::unique_ptr<Reader> *out, ArrowSchema *schema)
{
    auto reader = std::make_unique<Reader>();

    reader->file = file;
    ARROW_ASSIGN_OR_RAISE(const auto orc,
                          ORCFileReader::Open(hudi::input_stream(file), hudi::memory_pool()));
    ARROW_ASSIGN_OR_RAISE(reader->key_values, orc->ReadMetadata());
    ARROW_ASSIGN_OR_RAISE(reader->schema, orc->ReadSchema());
    reader->schema = reader->schema->RemoveMetadata();
    ARROW_RETURN_NOT_OK(read_stripes(orc.get(), reader.get()));
    ARROW_RETURN_NOT_OK(arrow::ExportSchema(*reader->schema, schema));
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
    return reader_of(self)->n_rows;
}

int32_t reader_n_row_groups(const void *self)
{
    return static_cast<int32_t>(reader_of(self)->stripes.size());
}

int64_t reader_row_group_rows(const void *self, int32_t row_group)
{
    return reader_of(self)->stripes[static_cast<size_t>(row_group)].n_rows;
}

uint64_t reader_row_group_bytes(const void *self, int32_t row_group)
{
    return static_cast<uint64_t>(reader_of(self)->stripes[static_cast<size_t>(row_group)].n_bytes);
}

bool reader_key_value(const void *self, const char *key, const uint8_t **data, size_t *size)
{
    const auto &pairs = reader_of(self)->key_values;
    const int at = pairs == nullptr ? -1 : pairs->FindKey(key);

    if (at < 0)
        return false;
    *data = reinterpret_cast<const uint8_t *>(pairs->value(at).data());
    *size = pairs->value(at).size();
    return true;
}

hudi_status reader_stats(hd_op *, void *, int32_t, int32_t, hd_cpp_stats *out)
{
    *out = {};
    return HUDI_OK;
}

/* ---- batches ------------------------------------------------------------------------------ */

/* Rows of a batch so that its share of the widest stripe is about BATCH_BYTES. */
int64_t choose_batch_rows(const Reader &reader)
{
    int64_t row_bytes = 1;

    for (const Stripe &stripe : reader.stripes)
        if (stripe.n_rows > 0) /* compressed: taken four times */
            row_bytes = std::max(row_bytes, 4 * (stripe.n_bytes / stripe.n_rows));
    return std::clamp<int64_t>(BATCH_BYTES / row_bytes, 256, DEFAULT_BATCH_ROWS);
}

arrow::Status open_batches(Reader *reader, const int32_t *columns, int32_t n_columns,
                           const int32_t *row_groups, int32_t n_row_groups, int64_t batch_rows,
                           std::unique_ptr<Batches> *out)
{
    auto batches = std::make_unique<Batches>();
    std::vector<std::shared_ptr<arrow::Field>> fields;

    batches->reader = reader;
    batches->columns.assign(columns, columns + n_columns);
    batches->stripes.assign(row_groups, row_groups + n_row_groups);
    batches->batch_rows = batch_rows > 0 ? batch_rows : choose_batch_rows(*reader);
    std::sort(batches->columns.begin(), batches->columns.end());
    for (int32_t i = 0; i < n_columns; i++) {
        const auto at =
            std::lower_bound(batches->columns.begin(), batches->columns.end(), columns[i]);
        batches->positions.push_back(static_cast<int>(at - batches->columns.begin()));
        fields.push_back(reader->schema->field(columns[i]));
    }
    batches->schema = arrow::schema(fields);
    ARROW_ASSIGN_OR_RAISE(
        batches->file, ORCFileReader::Open(hudi::input_stream(reader->file), hudi::memory_pool()));
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

bool is_whole_file(const Batches &batches)
{
    const auto &all = batches.reader->stripes;

    for (size_t i = 0; i < batches.stripes.size(); i++)
        if (batches.stripes[i] != static_cast<int>(i))
            return false;
    return batches.stripes.size() == all.size();
}

/*
 * Arrow's way to read one stripe in pieces first seeks in the stripe's row index and crashes when
 * that is damaged. So all stripes are read by the reader that never seeks; some, each in one piece,
 * cut up here.
 */
arrow::Status open_next(Batches *batches)
{
    const int stripe = batches->stripes[batches->next_stripe];

    if (is_whole_file(*batches)) {
        std::vector<std::string> names;
        for (const int column : batches->columns)
            names.push_back(batches->reader->schema->field(column)->name());
        ARROW_ASSIGN_OR_RAISE(batches->current,
                              batches->file->GetRecordBatchReader(batches->batch_rows, names));
        batches->rows_left = batches->reader->n_rows;
        batches->next_stripe = batches->stripes.size();
        return arrow::Status::OK();
    }
    batches->next_stripe++;
    batches->rows_left = batches->reader->stripes[static_cast<size_t>(stripe)].n_rows;
    ARROW_ASSIGN_OR_RAISE(batches->whole, batches->file->ReadStripe(stripe, batches->columns));
    return arrow::Status::OK();
}

/* The next rows of what is open, null when there are none. */
arrow::Status take_rows(Batches *batches, std::shared_ptr<arrow::RecordBatch> *out)
{
    *out = nullptr;
    if (batches->current != nullptr)
        return batches->current->ReadNext(out);
    if (batches->whole == nullptr || batches->whole->num_rows() == 0)
        return arrow::Status::OK();
    *out = batches->whole->Slice(0, batches->batch_rows);
    batches->whole = batches->whole->Slice((*out)->num_rows());
    return arrow::Status::OK();
}

/* Null at the end. */
arrow::Status next_batch(Batches *batches, std::shared_ptr<arrow::RecordBatch> *out)
{
    for (;;) {
        ARROW_RETURN_NOT_OK(take_rows(batches, out));
        if (*out != nullptr && (*out)->num_rows() > 0) {
            batches->rows_left -= (*out)->num_rows();
            return arrow::Status::OK();
        }
        if (batches->rows_left != 0)
            return arrow::Status::Invalid("ORC stripes end ", batches->rows_left, " rows early");
        batches->current = nullptr;
        batches->whole = nullptr;
        if (batches->next_stripe == batches->stripes.size()) {
            *out = nullptr;
            return arrow::Status::OK();
        }
        ARROW_RETURN_NOT_OK(open_next(batches));
    }
}

arrow::Status export_batch(const Batches &batches, const arrow::RecordBatch &batch, ArrowArray *out)
{
    std::vector<std::shared_ptr<arrow::Array>> columns;

    if (batch.num_columns() != static_cast<int>(batches.columns.size()))
        return arrow::Status::Invalid("ORC stripe gives ", batch.num_columns(), " columns");
    for (size_t i = 0; i < batches.positions.size(); i++) {
        columns.push_back(batch.column(batches.positions[i]));
        ARROW_RETURN_NOT_OK(columns.back()->Validate());
        if (!columns.back()->type()->Equals(*batches.schema->field(static_cast<int>(i))->type()))
            return arrow::Status::Invalid("ORC column of another type than the file's schema says");
    }
    const auto ordered =
        arrow::RecordBatch::Make(batches.schema, batch.num_rows(), std::move(columns));
    return arrow::ExportRecordBatch(*ordered, out);
}

hudi_status batches_next(hd_op *op, void *self, ArrowArray *out)
{
    Batches *batches = static_cast<Batches *>(self);
    bool end = false;
    const hudi_status status =
        hudi::guarded(op, Fault::in_file, batches->reader->path(),
                      hudi::allocation_limit(batches->reader->file), [&] {
                          std::shared_ptr<arrow::RecordBatch> batch;
                          ARROW_RETURN_NOT_OK(next_batch(batches, &batch));
                          end = batch == nullptr;
                          return end ? arrow::Status::OK() : export_batch(*batches, *batch, out);
                      });

    return status == HUDI_OK && end ? HUDI_END : status;
}

void batches_close(void *self)
{
    delete static_cast<Batches *>(self);
}

} // namespace

extern "C" const hd_cpp_reader_ops hd_orc_reader_ops = {
    reader_open,           reader_close,           reader_n_rows,    reader_n_row_groups,
    reader_row_group_rows, reader_row_group_bytes, reader_key_value, reader_stats,
    reader_read,           batches_next,           batches_close,
};
