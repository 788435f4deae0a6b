/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_BLOOM_H
#define HD_CODEC_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

/**
 * The bloom filters of Hudi's base files and metadata table. DYNAMIC_V0 is a list of rows, each a
 * filter for `n_entries` keys: a full row is followed by a new one until max_entries is reached;
 * from then on keys go to the rows that are there, in turn.
 *
 * Reading (may_contain, probe_batch, encode) may be done from several threads at once, adding by
 * one.
 * Source: SimpleBloomFilter, HoodieDynamicBoundedBloomFilter, InternalDynamicBloomFilter.
 */
typedef struct hd_bloom hd_bloom;

enum hd_bloom_type {
    HD_BLOOM_SIMPLE,
    HD_BLOOM_DYNAMIC_V0,
};

/** File metadata keys of the filter's text and of its type. */
#define HD_BLOOM_KEY "org.apache.hudi.bloomfilter"
#define HD_BLOOM_KEY_OLD "com.uber.hoodie.bloomfilter"
#define HD_BLOOM_TYPE_KEY "hoodie_bloom_filter_type_code"

/** "SIMPLE" or "DYNAMIC_V0". */
const char *hd_bloom_type_name(enum hd_bloom_type type);

/** The type of a type code in any case; an empty code is SIMPLE, whose files carry none.
 * @return HUDI_NOT_IMPLEMENTED for another one */
hudi_status hd_bloom_type_parse(struct hd_op *op, struct hd_slice code, enum hd_bloom_type *out);

/**
 * An empty filter for `n_entries` keys (of one row, when dynamic) at false positive rate `fpp`,
 * with Murmur hashes. `max_entries` bounds a dynamic one and is not used otherwise. Hudi's
 * defaults: 60000, 1e-9, 100000.
 * @return HUDI_INVALID when the numbers make no filter of at most 2^31-1 bits
 */
hudi_status hd_bloom_new(struct hd_op *op, enum hd_bloom_type type, uint32_t n_entries, double fpp,
                         uint32_t max_entries, hd_bloom **out);

/** Takes NULL. */
void hd_bloom_free(struct hd_op *op, hd_bloom *bloom);

enum hd_bloom_type hd_bloom_type_of(const hd_bloom *bloom);
uint32_t hd_bloom_bits(const hd_bloom *bloom);   /* of one row */
uint32_t hd_bloom_hashes(const hd_bloom *bloom); /* per key */
uint32_t hd_bloom_rows(const hd_bloom *bloom);   /* 1 when simple */

/** Add a record key (UTF-8). @return HUDI_INVALID for an empty key; HUDI_NO_MEMORY */
hudi_status hd_bloom_add(struct hd_op *op, hd_bloom *bloom, struct hd_slice key);

/** The same bytes as adding the keys one by one in this order, several times faster. After a
 * failure an unknown part of them has been added. */
hudi_status hd_bloom_add_batch(struct hd_op *op, hd_bloom *bloom, const struct hd_slice *keys,
                               size_t n_keys);

/** False: the key was never added. An empty key may be contained. */
bool hd_bloom_may_contain(const hd_bloom *bloom, struct hd_slice key);

/** maybe[i] = hd_bloom_may_contain(keys[i]) as 0 or 1, several times faster. */
void hd_bloom_probe_batch(const hd_bloom *bloom, const struct hd_slice *keys, size_t n_keys,
                          uint8_t *maybe);

/** Append the filter's text, as it stands in file metadata: base64. */
hudi_status hd_bloom_encode(struct hd_op *op, const hd_bloom *bloom, struct hd_str *out);

/**
 * Read a filter's text. Allocates about the text's size, whatever its fields say.
 * @return HUDI_CORRUPT when fields contradict each other or the text
 */
hudi_status hd_bloom_decode(struct hd_op *op, enum hd_bloom_type type, struct hd_slice text,
                            hd_bloom **out);

#endif
