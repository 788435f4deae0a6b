/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow IPC files and streams in, IPC streams and CSV text out. */
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/csv/writer.h>
#include <arrow/ipc/api.h>
#include <cstring>

#include "common.h"

namespace
{

using hudi::Fault;

constexpr char FILE_MAGIC[] = "ARROW1";
constexpr int64_t FILE_MAGIC_BYTES = 6;
constexpr int64_t FILE_HEADER_BYTES = 8; /* the magic, padded */

/* ---- reading ------------------------------------------------------------------------------ */

struct Ipc {
    hd_input_file *file;
    std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream;

    const char *path() const
    {
        return hd_cpp_input_path(file);
    }
};

/* A file is a stream between its header and a footer that nobody needs who reads all of it; and
 * Arrow's reader of files would read on threads that know nothing of our op. */
arrow::Status open_ipc(hd_input_file *file, std::unique_ptr<Ipc> *out, ArrowSchema *schema)
{
    auto ipc = std::make_unique<Ipc>();
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    const auto source = hudi::input_stream(file);

    ipc->file = file;
    options.use_threads = false;
    options.memory_pool = hudi::memory_pool();
    ARROW_ASSIGN_OR_RAISE(const auto magic, source->ReadAt(0, FILE_MAGIC_BYTES));
    if (magic->size() == FILE_MAGIC_BYTES &&
        std::memcmp(magic->data(), FILE_MAGIC, FILE_MAGIC_BYTES) == 0)
        ARROW_RETURN_NOT_OK(source->Seek(FILE_HEADER_BYTES));
    ARROW_ASSIGN_OR_RAISE(ipc->stream, arrow::ipc::RecordBatchStreamReader::Open(source, options));
    ARROW_RETURN_NOT_OK(arrow::ExportSchema(*ipc->stream->schema()->RemoveMetadata(), schema));
    *out = std::move(ipc);
    return arrow::Status::OK();
}

/* Null at the end. Offsets and text come straight out of the file: all of it is checked. */
arrow::Status next_batch(Ipc *ipc, std::shared_ptr<arrow::RecordBatch> *out)
{
    do {
        ARROW_RETURN_NOT_OK(ipc->stream->ReadNext(out));
        if (*out != nullptr)
            ARROW_RETURN_NOT_OK((*out)->ValidateFull());
    } while (*out != nullptr && (*out)->num_rows() == 0);
    return arrow::Status::OK();
}

hudi_status ipc_next(hd_op *op, void *self, ArrowArray *out)
{
    Ipc *ipc = static_cast<Ipc *>(self);
    bool end = false;
    const hudi_status status =
        hudi::guarded(op, Fault::in_file, ipc->path(), hudi::allocation_limit(ipc->file), [&] {
            std::shared_ptr<arrow::RecordBatch> batch;
            ARROW_RETURN_NOT_OK(next_batch(ipc, &batch));
            end = batch == nullptr;
            return end ? arrow::Status::OK() : arrow::ExportRecordBatch(*batch, out);
        });

    return status == HUDI_OK && end ? HUDI_END : status;
}

void ipc_close(void *self)
{
    delete static_cast<Ipc *>(self);
}

/* ---- writing ------------------------------------------------------------------------------ */

struct Writer {
    hd_output_file *file;
    std::shared_ptr<hudi::OutputStream> sink;
    std::shared_ptr<arrow::Schema> schema;
    std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;

    const char *path() const
    {
        return hd_cpp_output_path(file);
    }
    ~Writer()
    {
        if (sink != nullptr)
            sink->silence();
    }
};

arrow::Status open_writer(hd_output_file *file, bool csv, const ArrowSchema *schema,
                          std::unique_ptr<Writer> *out)
{
    auto writer = std::make_unique<Writer>();
    ArrowSchema loan = hudi::on_loan(*schema);

    writer->file = file;
    writer->sink = std::make_shared<hudi::OutputStream>(file);
    ARROW_ASSIGN_OR_RAISE(writer->schema, arrow::ImportSchema(&loan));
    if (csv) {
        ARROW_ASSIGN_OR_RAISE(writer->writer,
                              arrow::csv::MakeCSVWriter(writer->sink, writer->schema));
    } else {
        auto options = arrow::ipc::IpcWriteOptions::Defaults();
        options.use_threads = false;
        options.memory_pool = hudi::memory_pool();
        ARROW_ASSIGN_OR_RAISE(writer->writer,
                              arrow::ipc::MakeStreamWriter(writer->sink, writer->schema, options));
    }
    *out = std::move(writer);
    return arrow::Status::OK();
}

Writer *writer_of(void *self)
{
    return static_cast<Writer *>(self);
}

} // namespace

extern "C" {

const hd_cpp_table_ops hd_ipc_ops = {ipc_next, ipc_close};

hudi_status hd_ipc_open(hd_op *op, hd_input_file *file, void **self, ArrowSchema *schema)
{
    std::unique_ptr<Ipc> ipc;
    const hudi_status status =
        hudi::guarded(op, Fault::in_file, hd_cpp_input_path(file), hudi::allocation_limit(file),
                      [&] { return open_ipc(file, &ipc, schema); });

    *self = ipc.release();
    return status;
}

hudi_status hd_table_writer_open(hd_op *op, hd_output_file *file, bool csv,
                                 const ArrowSchema *schema, void **out)
{
    std::unique_ptr<Writer> writer;
    const hudi_status status = hudi::guarded(op, Fault::in_input, hd_cpp_output_path(file), 0, [&] {
        return open_writer(file, csv, schema, &writer);
    });

    *out = writer.release();
    return status;
}

hudi_status hd_table_writer_write(hd_op *op, void *self, const ArrowArray *batch)
{
    return hudi::guarded(op, Fault::in_input, writer_of(self)->path(), 0, [&] {
        ArrowArray loan = hudi::on_loan(*batch);
        ARROW_ASSIGN_OR_RAISE(const auto imported,
                              arrow::ImportRecordBatch(&loan, writer_of(self)->schema));
        return writer_of(self)->writer->WriteRecordBatch(*imported);
    });
}

hudi_status hd_table_writer_finish(hd_op *op, void *self)
{
    return hudi::guarded(op, Fault::in_input, writer_of(self)->path(), 0,
                         [&] { return writer_of(self)->writer->Close(); });
}

void hd_table_writer_free(void *self)
{
    delete writer_of(self);
}

} // extern "C"
