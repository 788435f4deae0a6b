/* SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include <algorithm>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/future.h>
#include <cstdlib>
#include <exception>
#include <new>
#include <parquet/exception.h>

namespace hudi
{

/* ---- the current call --------------------------------------------------------------------- */

static thread_local Call *current_call = nullptr;

Call::Call(hd_op *op, int64_t max_allocation)
    : op_(op), max_allocation_(max_allocation), outer_(current_call)
{
    current_call = this;
}

Call::~Call()
{
    current_call = outer_;
}

Call *Call::current()
{
    return current_call;
}

/* ---- memory ------------------------------------------------------------------------------- */

namespace
{

class Pool : public arrow::MemoryPool
{
  public:
    using arrow::MemoryPool::Allocate;
    using arrow::MemoryPool::Free;
    using arrow::MemoryPool::Reallocate;

    arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t **out) override
    {
        ARROW_RETURN_NOT_OK(check(size));
        return below_->Allocate(size, alignment, out);
    }

    arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                             uint8_t **ptr) override
    {
        if (new_size > old_size)
            ARROW_RETURN_NOT_OK(check(new_size));
        return below_->Reallocate(old_size, new_size, alignment, ptr);
    }

    void Free(uint8_t *buffer, int64_t size, int64_t alignment) override
    {
        below_->Free(buffer, size, alignment);
    }

    int64_t bytes_allocated() const override
    {
        return below_->bytes_allocated();
    }
    int64_t max_memory() const override
    {
        return below_->max_memory();
    }
    int64_t total_bytes_allocated() const override
    {
        return below_->total_bytes_allocated();
    }
    int64_t num_allocations() const override
    {
        return below_->num_allocations();
    }
    std::string backend_name() const override
    {
        return below_->backend_name();
    }

  private:
    static arrow::Status check(int64_t size)
    {
        Call *call = Call::current();

        if (call == nullptr)
            return arrow::Status::OK();
        if (call->max_allocation() > 0 && size > call->max_allocation()) {
            call->refused = size;
            return arrow::Status::OutOfMemory("a buffer of ", size, " bytes");
        }
        return arrow::Status::OK();
    }

    /* jemalloc, where Arrow was built with it: of what is freed it keeps less than Arrow's own
     * choice, a quarter of the resident memory, for the same time. */
    static arrow::MemoryPool *choose()
    {
        arrow::MemoryPool *pool = nullptr;

        if (std::getenv("ARROW_DEFAULT_MEMORY_POOL") == nullptr &&
            arrow::jemalloc_memory_pool(&pool).ok())
            return pool;
        return arrow::default_memory_pool();
    }

    arrow::MemoryPool *below_ = choose();
};

} // namespace

arrow::MemoryPool *memory_pool()
{
    static Pool *const pool = new Pool; /* never freed: see the header */
    return pool;
}

int64_t allocation_limit(const hd_input_file *file)
{
    const uint64_t size = hd_cpp_input_size(file);
    const uint64_t most = uint64_t{1} << 40;

    return static_cast<int64_t>((uint64_t{64} << 20) + 64 * std::min(size, most));
}

/* ---- files -------------------------------------------------------------------------------- */

namespace
{

/* The op has the story; Arrow only needs to know that it ends here. */
arrow::Status stopped()
{
    return arrow::Status::IOError("file operation stopped");
}

class InputStream : public arrow::io::RandomAccessFile
{
  public:
    explicit InputStream(hd_input_file *file) : file_(file)
    {
    }

    arrow::Status Close() override
    {
        closed_ = true;
        return arrow::Status::OK();
    }

    bool closed() const override
    {
        return closed_;
    }
    arrow::Result<int64_t> Tell() const override
    {
        return position_;
    }

    arrow::Status Seek(int64_t position) override
    {
        position_ = position;
        return arrow::Status::OK();
    }

    arrow::Result<int64_t> GetSize() override
    {
        return static_cast<int64_t>(hd_cpp_input_size(file_));
    }

    arrow::Result<int64_t> ReadAt(int64_t position, int64_t n_bytes, void *out) override
    {
        const int64_t n = available(position, n_bytes);
        Call *call = Call::current();

        if (n < 0)
            return arrow::Status::Invalid("read of ", n_bytes, " bytes at byte ", position);
        if (call == nullptr)
            return arrow::Status::IOError("file read outside of a call");
        if (hd_cpp_read_at(call->op(), file_, static_cast<uint64_t>(position), out,
                           static_cast<uint64_t>(n)) != HUDI_OK)
            return stopped();
        return n;
    }

    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t n_bytes) override
    {
        const int64_t n = available(position, n_bytes);

        if (n < 0)
            return arrow::Status::Invalid("read of ", n_bytes, " bytes at byte ", position);
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(n, memory_pool()));
        ARROW_RETURN_NOT_OK(ReadAt(position, n, buffer->mutable_data()));
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }

    /* Arrow's default would run on another thread. */
    arrow::Future<std::shared_ptr<arrow::Buffer>>
    ReadAsync(const arrow::io::IOContext &, int64_t position, int64_t n_bytes) override
    {
        return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(
            ReadAt(position, n_bytes));
    }

    arrow::Result<int64_t> Read(int64_t n_bytes, void *out) override
    {
        ARROW_ASSIGN_OR_RAISE(const int64_t n, ReadAt(position_, n_bytes, out));
        position_ += n;
        return n;
    }

    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t n_bytes) override
    {
        ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, n_bytes));
        position_ += buffer->size();
        return buffer;
    }

  private:
    /* Bytes of the request that the file has, negative when the request makes no sense. */
    int64_t available(int64_t position, int64_t n_bytes) const
    {
        const int64_t size = static_cast<int64_t>(hd_cpp_input_size(file_));

        if (position < 0 || n_bytes < 0)
            return -1;
        return position >= size ? 0 : std::min(n_bytes, size - position);
    }

    hd_input_file *file_;
    int64_t position_ = 0;
    bool closed_ = false;
};

} // namespace

std::shared_ptr<arrow::io::RandomAccessFile> input_stream(hd_input_file *file)
{
    return std::make_shared<InputStream>(file);
}

arrow::Status OutputStream::Close()
{
    return arrow::Status::OK();
}

bool OutputStream::closed() const
{
    return false;
}

arrow::Result<int64_t> OutputStream::Tell() const
{
    if (silent_ || n_dropped_ > 0)
        return 0;
    return static_cast<int64_t>(file_ == nullptr ? 0 : hd_cpp_output_position(file_)) +
           static_cast<int64_t>(held_.size());
}

arrow::Status OutputStream::Write(const void *data, int64_t n_bytes)
{
    Call *call = Call::current();

    if (silent_)
        return arrow::Status::OK();
    if (call == nullptr)
        return arrow::Status::IOError("file write outside of a call");
    const int64_t n_dropped = std::min(n_dropped_, n_bytes);
    data = static_cast<const char *>(data) + n_dropped;
    n_bytes -= n_dropped;
    n_dropped_ -= n_dropped;
    if (holding_) {
        held_.append(static_cast<const char *>(data), static_cast<size_t>(n_bytes));
        return arrow::Status::OK();
    }
    if (hd_cpp_write(call->op(), file_, data, static_cast<uint64_t>(n_bytes)) != HUDI_OK)
        return stopped();
    return arrow::Status::OK();
}

/* ---- errors ------------------------------------------------------------------------------- */

static hudi_status status_of(Fault fault, const arrow::Status &status)
{
    if (status.IsOutOfMemory())
        return HUDI_NO_MEMORY;
    if (status.IsNotImplemented())
        return HUDI_NOT_IMPLEMENTED;
    return fault == Fault::in_file ? HUDI_CORRUPT : HUDI_INVALID;
}

hudi_status fail(hd_op *op, Fault fault, const char *path, const arrow::Status &status)
{
    const hudi_status earlier = hd_cpp_error(op);
    const Call *call = Call::current();

    if (earlier != HUDI_OK)
        return earlier;
    if (call != nullptr && call->refused > 0)
        return hd_cpp_fail(op, HUDI_CORRUPT, path,
                           ("file asks for a buffer of " + std::to_string(call->refused) +
                            " bytes, more than its size warrants")
                               .c_str());
    return hd_cpp_fail(op, status_of(fault, status), path, status.message().c_str());
}

hudi_status fail_exception(hd_op *op, Fault fault, const char *path)
{
    try {
        throw;
    } catch (const parquet::ParquetStatusException &e) {
        return fail(op, fault, path, e.status());
    } catch (const std::bad_alloc &) {
        return fail(op, fault, path, arrow::Status::OutOfMemory("out of memory in Arrow"));
    } catch (const std::exception &e) {
        return fail(op, fault, path, arrow::Status::Invalid(e.what()));
    } catch (...) {
        return fail(op, fault, path, arrow::Status::Invalid("unknown exception in Arrow"));
    }
}

} // namespace hudi
