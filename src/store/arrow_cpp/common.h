/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_ARROW_CPP_COMMON_H
#define HD_STORE_ARROW_CPP_COMMON_H

/*
 * What the C++ files share: the op of the current call, memory, our files as Arrow's, errors. They
 * are compiled without src/ among the include paths, since its arrow/type.h is not Arrow's.
 */

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <memory>
#include <string>

#include "bridge.h"

namespace hudi
{

/*
 * Arrow's callbacks (files, memory) have no place for an op, and everything here runs in the thread
 * that called: so each entry point puts its op here for as long as it runs.
 */
class Call
{
  public:
    /** `max_allocation`: a single larger one is taken for a lie in the file, 0: no limit. */
    explicit Call(hd_op *op, int64_t max_allocation = 0);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    static Call *current();
    hd_op *op() const
    {
        return op_;
    }
    int64_t max_allocation() const
    {
        return max_allocation_;
    }
    /** Bytes that an allocation beyond the limit asked for, else 0. */
    int64_t refused = 0;

  private:
    hd_op *op_;
    int64_t max_allocation_;
    Call *outer_;
};

/** Arrow's default pool with the limit of the current call. Lives forever, as buffers that leave
 * with a batch refer to it. No fault points in it: Arrow's encoders do not survive them all. */
arrow::MemoryPool *memory_pool();

/** The most that one allocation for reading this file may ask for. */
int64_t allocation_limit(const hd_input_file *file);

/** Reads come from the calling thread, at any time from several. Does not own the file. */
std::shared_ptr<arrow::io::RandomAccessFile> input_stream(hd_input_file *file);

/** Does not own the file; without one all is held. After silence(), what is written goes nowhere:
 * for destructors that want to finish what is being thrown away. */
class OutputStream : public arrow::io::OutputStream
{
  public:
    explicit OutputStream(hd_output_file *file) : file_(file), holding_(file == nullptr)
    {
    }
    arrow::Status Close() override;
    bool closed() const override;
    arrow::Result<int64_t> Tell() const override;
    arrow::Status Write(const void *data, int64_t n_bytes) override;
    using arrow::io::OutputStream::Write;
    void silence()
    {
        silent_ = true;
    }
    /** The next bytes go nowhere; until they have come the file looks empty, which is where
     * Parquet's writer wants to begin. */
    void drop(int64_t n_bytes)
    {
        n_dropped_ = n_bytes;
    }
    /** From here on what is written stays in memory: held(). */
    void hold()
    {
        holding_ = true;
    }
    std::string &held()
    {
        return held_;
    }

  private:
    hd_output_file *file_;
    std::string held_;
    int64_t n_dropped_ = 0;
    bool holding_;
    bool silent_ = false;
};

/** Which status an error of Arrow's own making becomes. */
enum class Fault {
    in_file,  /* reading: the bytes are wrong */
    in_input, /* writing: the rows are */
};

/** Report a failed status, unless a callback has put its error into the op already. */
hudi_status fail(hd_op *op, Fault fault, const char *path, const arrow::Status &status);

/** As above for the exception being handled; call it in catch (...). */
hudi_status fail_exception(hd_op *op, Fault fault, const char *path);

/** Arrow's import consumes what it is given; what is the caller's goes in as a copy of the struct
 * whose release does nothing. */
template <typename T> T on_loan(const T &theirs)
{
    T copy = theirs;

    copy.private_data = nullptr;
    copy.release = [](T *self) { self->release = nullptr; };
    return copy;
}

/** Run `body`, which returns an arrow::Status, with the op set; turn all failures into ours. One
 * fault point. */
template <typename Body>
hudi_status guarded(hd_op *op, Fault fault, const char *path, int64_t max_allocation, Body body)
{
    Call call(op, max_allocation);

    if (!hd_cpp_may_start(op))
        return hd_cpp_error(op);
    try {
        const arrow::Status status = body();
        if (status.ok())
            return HUDI_OK;
        return fail(op, fault, path, status);
    } catch (...) {
        return fail_exception(op, fault, path);
    }
}

} /* namespace hudi */

#endif
