# SPDX-License-Identifier: Apache-2.0
# hd_dependencies: every C library that the layers use, Arrow aside.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(SNAPPY REQUIRED IMPORTED_TARGET snappy)

# CRoaring has a pkg-config file in some distributions only.
find_path(ROARING_INCLUDE_DIR roaring/roaring.h REQUIRED)
find_library(ROARING_LIBRARY roaring REQUIRED)
mark_as_advanced(ROARING_INCLUDE_DIR ROARING_LIBRARY)

add_library(hd_dependencies INTERFACE)
target_include_directories(hd_dependencies SYSTEM INTERFACE "${ROARING_INCLUDE_DIR}")
target_link_libraries(hd_dependencies INTERFACE PkgConfig::JANSSON PkgConfig::ZLIB PkgConfig::DEFLATE
    PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::SNAPPY "${ROARING_LIBRARY}" Threads::Threads m)

pkg_check_modules(ROCKSDB IMPORTED_TARGET rocksdb)
option(HUDI_ROCKSDB "RocksDB as a store of the spillable map (default: if found)" ${ROCKSDB_FOUND})
if(HUDI_ROCKSDB)
    if(NOT ROCKSDB_FOUND)
        message(FATAL_ERROR "HUDI_ROCKSDB is on and pkg-config does not find rocksdb")
    endif()
    target_link_libraries(hd_dependencies INTERFACE PkgConfig::ROCKSDB)
    target_compile_definitions(hd_dependencies INTERFACE HD_HAVE_ROCKSDB)
endif()
