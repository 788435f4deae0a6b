#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decode the bloom filter in a Hudi base file's parquet footer and test the file's own keys against it.

  bloom.py FILE.parquet...      needs pyarrow

Written from table-layout.md section 7.2.
"""
import base64, math, struct, sys


def murmur2(data, seed):
    """32-bit murmur2 with two twists in the tail: bytes are sign-extended and the LAST one is unshifted."""
    m, mask = 0x5bd1e995, 0xffffffff
    h = (seed ^ len(data)) & mask
    words = len(data) >> 2
    for i in range(words):
        k = int.from_bytes(data[4 * i:4 * i + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    tail = [b - 256 if b > 127 else b for b in data[4 * words:]]
    if tail:
        for i, b in enumerate(reversed(tail)):
            h ^= (b << 8 * i) & mask
        h = h * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


class Row:
    def __init__(self, b, p):
        version, self.hashes, self.hash_type, self.size = struct.unpack(">iibi", b[p:p + 13])
        if version != -1 or self.hash_type != 1:
            raise ValueError("not a murmur filter of version -1")
        n = (self.size + 7) // 8
        self.bits, self.end = b[p + 13:p + 13 + n], p + 13 + n

    def has(self, key):
        seed = 0
        for _ in range(self.hashes):
            seed = murmur2(key, seed)
            bit = abs(int(math.fmod(seed, self.size)))
            if not self.bits[bit >> 3] >> (bit & 7) & 1:
                return False
        return True


def load(text, code):
    b = base64.b64decode(text)
    if code in (None, "SIMPLE"):
        rows, info = [Row(b, 0)], {}
    else:
        per_row, current, count = struct.unpack(">iii", b[13:25])
        rows, p = [], 25
        for _ in range(count):
            rows.append(Row(b, p))
            p = rows[-1].end
        info = {"keys_per_row": per_row, "keys_in_current_row": current, "rows": count}
    if rows[-1].end != len(b):
        raise ValueError("trailing bytes")
    return rows, dict(info, type=code or "SIMPLE", hashes=rows[0].hashes, bits=rows[0].size)


def main():
    import pyarrow.parquet as pq
    for name in sys.argv[1:]:
        f = pq.ParquetFile(name)
        md = {k.decode(): v.decode("utf-8", "replace") for k, v in (f.metadata.metadata or {}).items()}
        text = md.get("org.apache.hudi.bloomfilter")
        if text is None:
            print(name.rsplit("/", 1)[-1], "no filter")
            continue
        rows, info = load(text, md.get("hoodie_bloom_filter_type_code"))
        keys = [k for k in f.read(columns=["_hoodie_record_key"]).column(0).to_pylist() if k is not None]
        missing = sum(not any(r.has(k.encode()) for r in rows) for k in keys)
        print(name.rsplit("/", 1)[-1], info, "min", md.get("hoodie_min_record_key"), "max", md.get("hoodie_max_record_key"),
              "keys", len(keys), "missing", missing)


if __name__ == "__main__":
    main()
