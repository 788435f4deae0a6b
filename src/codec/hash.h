/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_HASH_H
#define HD_CODEC_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Hashes that are part of the format: their results are stored or decide where a record goes. For
 * tables in memory there is hd_hash_bytes() of base/map.h.
 */

/** CRC-32 of zlib (reflected 0xedb88320). Start with 0, pass the last result to go on. */
uint32_t hd_crc32(uint32_t crc, const void *data, size_t size);

/** CRC-32C (Castagnoli), as in HFile blocks. Start with 0, pass the last result to go on. */
uint32_t hd_crc32c(uint32_t crc, const void *data, size_t size);

/** 32-bit Murmur2 with the tail that Hudi's bloom filters use: the 1 to 3 last bytes are
 * sign-extended. Not the reference Murmur2. Source: org.apache.hudi.common.bloom (MurmurHash). */
int32_t hd_murmur2_hudi(const void *data, size_t size, int32_t seed);

/** 32-bit Jenkins lookup3 ("hashlittle"), in bloom filters of the oldest format only. */
int32_t hd_jenkins_hash(const void *data, size_t size, int32_t seed);

/** java.lang.String.hashCode of UTF-8 text: the 31-polynomial over its UTF-16 code units, in 32-bit
 * wrap-around. Each byte that is not UTF-8 counts as U+FFFD. */
int32_t hd_java_string_hash(struct hd_slice utf8);

/** MD5, RFC 1321. */
#define HD_MD5_BYTES 16
void hd_md5(const void *data, size_t size, uint8_t out[HD_MD5_BYTES]);

/** xxHash, 32 and 64 bits. */
uint32_t hd_xxh32(const void *data, size_t size, uint32_t seed);
uint64_t hd_xxh64(const void *data, size_t size, uint64_t seed);

#endif
