/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file systems that the Arrow at hand carries: s3, gs, abfs, hdfs. S3 is a library of its own
 * in the pyarrow wheel, loaded from beside libarrow when first asked for. Credentials and end
 * points come from the URI and the environment, as Arrow documents them.
 */
#include "file_system.h"

#include <arrow/api.h>
#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/io_util.h>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <errno.h>
#include <mutex>
#include <string>

#include "common.h"

namespace
{

struct FileSystem {
    std::shared_ptr<arrow::fs::FileSystem> fs;
    std::string path;
    bool is_local; /* its paths begin with a slash */

    /* "/bucket/key" -> "bucket/key" */
    std::string inner(const char *path_) const
    {
        return !is_local && path_[0] == '/' ? path_ + 1 : path_;
    }
};

FileSystem *of(void *self)
{
    return static_cast<FileSystem *>(self);
}

bool is_missing(const arrow::Status &status)
{
    return status.IsKeyError() || arrow::internal::ErrnoFromStatus(status) == ENOENT ||
           arrow::internal::ErrnoFromStatus(status) == ENOTDIR;
}

/* As hudi::guarded(), for what a store refuses: HUDI_IO, and HUDI_NOT_FOUND without an error. */
template <typename Body> hudi_status on_store(hd_op *op, const char *path, Body body)
{
    const hudi::Call call(op);
    arrow::Status status;

    if (!hd_cpp_may_start(op))
        return hd_cpp_error(op);
    try {
        status = body();
    } catch (const std::exception &e) {
        status = arrow::Status::IOError(e.what());
    }
    if (status.ok())
        return HUDI_OK;
    if (is_missing(status))
        return HUDI_NOT_FOUND;
    if (hd_cpp_error(op) != HUDI_OK)
        return hd_cpp_error(op);
    return hd_cpp_fail(op,
                       status.IsOutOfMemory()      ? HUDI_NO_MEMORY
                       : status.IsNotImplemented() ? HUDI_NOT_IMPLEMENTED
                       : status.IsInvalid()        ? HUDI_INVALID
                                                   : HUDI_IO,
                       path, status.message().c_str());
}

/* ---- opening ------------------------------------------------------------------------------ */

/* libarrow_s3.so.N beside libarrow.so.N, "" when unknown. */
std::string s3_library()
{
    Dl_info info;

    if (dladdr(reinterpret_cast<void *>(&arrow::fs::EnsureFinalized), &info) == 0)
        return "";
    std::string path = info.dli_fname;
    const size_t at = path.rfind("libarrow.so");
    if (at == std::string::npos)
        return "";
    return path.replace(at, 8, "libarrow_s3");
}

arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> from_uri(const std::string &uri,
                                                               std::string *path)
{
    auto made = arrow::fs::FileSystemFromUri(uri, path);

    if (made.ok() || uri.rfind("s3", 0) != 0)
        return made;
    const std::string library = s3_library();
    if (library.empty() || !arrow::fs::LoadFileSystemFactories(library.c_str()).ok())
        return made;
    return arrow::fs::FileSystemFromUri(uri, path);
}

/* Hadoop's names of schemes to Arrow's. */
std::string translate(const std::string &uri)
{
    static constexpr struct {
        const char *theirs, *ours;
    } SCHEMES[] = {{"s3a:", "s3:"}, {"s3n:", "s3:"}, {"gcs:", "gs:"}, {"arrow+file:", "file:"}};

    for (const auto &scheme : SCHEMES)
        if (uri.rfind(scheme.theirs, 0) == 0)
            return scheme.ours + uri.substr(std::string(scheme.theirs).size());
    return uri;
}

/* S3's library complains and may crash when a process ends without this; and when it comes after
 * the end of the library's statics, so it is asked for behind their beginning. */
void finalize_at_exit(const std::string &uri)
{
    static std::once_flag once;

    if (uri.rfind("s3", 0) == 0)
        std::call_once(once, [] { (void)std::atexit(arrow::fs::EnsureFinalized); });
}

arrow::Status open_fs(const char *uri, std::unique_ptr<FileSystem> *out)
{
    auto fs = std::make_unique<FileSystem>();

    const std::string theirs = translate(uri);
    auto made = from_uri(theirs, &fs->path);
    finalize_at_exit(theirs); /* S3 is begun even where this failed */
    ARROW_ASSIGN_OR_RAISE(fs->fs, std::move(made));
    fs->is_local = fs->fs->type_name() == "local" || fs->fs->type_name() == "hdfs";
    while (fs->path.size() > 1 && fs->path.back() == '/')
        fs->path.pop_back();
    if (fs->path.empty() || fs->path[0] != '/')
        fs->path.insert(0, 1, '/');
    *out = std::move(fs);
    return arrow::Status::OK();
}

void fill_info(const arrow::fs::FileInfo &info, hd_arrow_info *out)
{
    const auto since_epoch = info.mtime().time_since_epoch();

    out->is_dir = info.type() == arrow::fs::FileType::Directory;
    out->size_bytes = out->is_dir || info.size() < 0 ? 0 : static_cast<uint64_t>(info.size());
    out->modified_ms =
        info.mtime() == arrow::fs::kNoTime
            ? 0
            : std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

struct Input {
    std::shared_ptr<arrow::io::RandomAccessFile> file;
};

struct Output {
    std::shared_ptr<arrow::io::OutputStream> stream;
};

} // namespace

extern "C" {

hudi_status hd_arrow_fs_open(hd_op *op, const char *uri, void **self)
{
    std::unique_ptr<FileSystem> fs;
    const std::string scheme(uri, std::string(uri).find(':'));
    const hudi_status status = on_store(op, nullptr, [&] {
        const arrow::Status inner = open_fs(uri, &fs);
        if (inner.IsInvalid() &&
            inner.message().find("Unrecognized filesystem type") != std::string::npos)
            return arrow::Status::NotImplemented("store of scheme ", scheme, ": not in this build");
        return inner;
    });

    *self = fs.release();
    return status;
}

void hd_arrow_fs_free(void *self)
{
    delete of(self);
}

const char *hd_arrow_fs_path(const void *self)
{
    return static_cast<const FileSystem *>(self)->path.c_str();
}

hudi_status hd_arrow_fs_stat(hd_op *op, void *self, const char *path, hd_arrow_info *out)
{
    bool missing = false;
    const hudi_status status = on_store(op, path, [&] {
        ARROW_ASSIGN_OR_RAISE(const auto info, of(self)->fs->GetFileInfo(of(self)->inner(path)));
        missing = info.type() == arrow::fs::FileType::NotFound;
        fill_info(info, out);
        return arrow::Status::OK();
    });

    return status == HUDI_OK && missing ? HUDI_NOT_FOUND : status;
}

hudi_status hd_arrow_fs_list(hd_op *op, void *self, const char *dir, void *argument,
                             hudi_status (*entry)(hd_op *op, void *argument, const char *name,
                                                  const hd_arrow_info *info))
{
    hd_arrow_info info;
    hudi_status status = hd_arrow_fs_stat(op, self, dir, &info);

    if (status != HUDI_OK || !info.is_dir)
        return status == HUDI_OK ? HUDI_NOT_FOUND : status;
    const hudi_status listed = on_store(op, dir, [&] {
        arrow::fs::FileSelector selector;
        selector.base_dir = of(self)->inner(dir);
        ARROW_ASSIGN_OR_RAISE(const auto entries, of(self)->fs->GetFileInfo(selector));
        for (const auto &found : entries) {
            fill_info(found, &info);
            if (status == HUDI_OK)
                status = entry(op, argument, found.base_name().c_str(), &info);
        }
        return arrow::Status::OK();
    });

    return listed == HUDI_OK ? status : listed;
}

hudi_status hd_arrow_input_open(hd_op *op, void *self, const char *path, uint64_t *size, void **out)
{
    auto input = std::make_unique<Input>();
    const hudi_status status = on_store(op, path, [&] {
        ARROW_ASSIGN_OR_RAISE(const auto info, of(self)->fs->GetFileInfo(of(self)->inner(path)));
        if (info.type() == arrow::fs::FileType::Directory)
            return arrow::Status::IOError("is a folder, not a file: ", path);
        if (info.type() == arrow::fs::FileType::NotFound)
            return arrow::Status::KeyError(path);
        ARROW_ASSIGN_OR_RAISE(input->file, of(self)->fs->OpenInputFile(of(self)->inner(path)));
        ARROW_ASSIGN_OR_RAISE(const int64_t n_bytes, input->file->GetSize());
        *size = static_cast<uint64_t>(n_bytes);
        return arrow::Status::OK();
    });

    *out = status == HUDI_OK ? input.release() : nullptr;
    return status;
}

hudi_status hd_arrow_input_read_at(hd_op *op, void *file, uint64_t offset, void *into, uint64_t n)
{
    return on_store(op, nullptr, [&] {
        ARROW_ASSIGN_OR_RAISE(const int64_t got,
                              static_cast<Input *>(file)->file->ReadAt(
                                  static_cast<int64_t>(offset), static_cast<int64_t>(n), into));
        return got == static_cast<int64_t>(n)
                   ? arrow::Status::OK()
                   : arrow::Status::IOError("file has become shorter while read");
    });
}

void hd_arrow_input_close(void *file)
{
    auto *input = static_cast<Input *>(file);

    (void)input->file->Close();
    delete input;
}

hudi_status hd_arrow_output_open(hd_op *op, void *self, const char *path, void **out)
{
    auto output = std::make_unique<Output>();
    const hudi_status status = on_store(op, path, [&] {
        ARROW_ASSIGN_OR_RAISE(output->stream,
                              of(self)->fs->OpenOutputStream(of(self)->inner(path)));
        return arrow::Status::OK();
    });

    *out = status == HUDI_OK ? output.release() : nullptr;
    return status;
}

hudi_status hd_arrow_output_append(hd_op *op, void *self, const char *path, void **out)
{
    auto output = std::make_unique<Output>();
    const hudi_status status = on_store(op, path, [&] {
        ARROW_ASSIGN_OR_RAISE(output->stream,
                              of(self)->fs->OpenAppendStream(of(self)->inner(path)));
        return arrow::Status::OK();
    });

    *out = status == HUDI_OK ? output.release() : nullptr;
    return status;
}

hudi_status hd_arrow_output_write(hd_op *op, void *file, const void *bytes, uint64_t n)
{
    return on_store(op, nullptr, [&] {
        return static_cast<Output *>(file)->stream->Write(bytes, static_cast<int64_t>(n));
    });
}

hudi_status hd_arrow_output_close(hd_op *op, void *file)
{
    const std::unique_ptr<Output> output(static_cast<Output *>(file));

    return on_store(op, nullptr, [&] { return output->stream->Close(); });
}

void hd_arrow_output_abort(void *file)
{
    const std::unique_ptr<Output> output(static_cast<Output *>(file));

    (void)output->stream->Abort();
}

hudi_status hd_arrow_fs_rename(hd_op *op, void *self, const char *from, const char *to)
{
    return on_store(op, to,
                    [&] { return of(self)->fs->Move(of(self)->inner(from), of(self)->inner(to)); });
}

hudi_status hd_arrow_fs_delete_file(hd_op *op, void *self, const char *path)
{
    hd_arrow_info info;
    const hudi_status status = hd_arrow_fs_stat(op, self, path, &info);

    return status != HUDI_OK ? status : on_store(op, path, [&] {
        return of(self)->fs->DeleteFile(of(self)->inner(path));
    });
}

hudi_status hd_arrow_fs_delete_tree(hd_op *op, void *self, const char *path)
{
    hd_arrow_info info;
    const hudi_status status = hd_arrow_fs_stat(op, self, path, &info);

    return status != HUDI_OK ? status : on_store(op, path, [&] {
        return info.is_dir ? of(self)->fs->DeleteDir(of(self)->inner(path))
                           : of(self)->fs->DeleteFile(of(self)->inner(path));
    });
}

hudi_status hd_arrow_fs_make_dirs(hd_op *op, void *self, const char *path)
{
    return on_store(op, path, [&] {
        return of(self)->fs->CreateDir(of(self)->inner(path), /*recursive=*/true);
    });
}

} // extern "C"
