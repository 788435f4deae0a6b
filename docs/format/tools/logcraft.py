# SPDX-License-Identifier: Apache-2.0
"""Build Hudi log blocks by hand, for fixtures and hostile inputs.  Counterpart of logdump.py; see log-format.md.

Files made with these functions were read correctly by Hudi 0.15.0 and 1.1.1 (data blocks of versions 1 and 3, delete
blocks of versions 1, 2 and 3, a crash tail, blocks of an uncommitted instant).
"""
import struct

MAGIC = b"#HUDI#"
COMMAND, DELETE, CORRUPT, AVRO, HFILE, PARQUET, CDC = range(7)
INSTANT_TIME, TARGET_INSTANT_TIME, SCHEMA, COMMAND_BLOCK_TYPE = range(4)


def i32(x):
    return struct.pack(">i", x)


def i64(x):
    return struct.pack(">q", x)


def header_map(d):
    out = i32(len(d))
    for k, v in d.items():
        b = v.encode()
        out += i32(k) + i32(len(b)) + b
    return out


def block(block_type, header, content):
    h, f = header_map(header), i32(0)
    size = 4 + 4 + len(h) + 8 + len(content) + len(f) + 8
    return MAGIC + i64(size) + i32(1) + i32(block_type) + h + i64(len(content)) + content + f + i64(size + 6)


def avro_content(encoded_records, version=3):
    """encoded_records: list of Avro binary records (bytes)."""
    return i32(version) + i32(len(encoded_records)) + b"".join(i32(len(r)) + r for r in encoded_records)


def zigzag(n):
    n, out = (n << 1) ^ (n >> 63), b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def optional_string(s):
    b = s.encode()
    return zigzag(1) + zigzag(len(b)) + b


def delete_v3(items):
    """items: (record key, partition path, ("int" | "long", ordering value))"""
    body = zigzag(len(items)) if items else b""
    for key, part, (kind, val) in items:
        body += optional_string(key) + optional_string(part) + zigzag({"int": 2, "long": 3}[kind]) + zigzag(val)
    body += zigzag(0)
    return i32(3) + i32(len(body)) + body


def kryo_string(s):
    if 1 < len(s) < 64 and all(ord(c) < 128 for c in s):
        b = bytearray(s.encode())
        b[-1] |= 0x80
        return bytes(b)
    n, out = len(s.encode("utf-16-le")) // 2 + 1, b""
    out, n = bytes([0x80 | n & 0x3f | (0x40 if n >> 6 else 0)]), n >> 6
    while n:
        out, n = out + bytes([n & 0x7f | (0x80 if n >> 7 else 0)]), n >> 7
    for u in struct.unpack("<%dH" % (len(s.encode("utf-16-le")) // 2), s.encode("utf-16-le")):
        out += bytes([u]) if 0 < u < 0x80 else bytes([0xc0 | u >> 6, 0x80 | u & 0x3f]) if u < 0x800 else \
            bytes([0xe0 | u >> 12, 0x80 | u >> 6 & 0x3f, 0x80 | u & 0x3f])
    return out


def kryo_varint(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def kryo_class(index, name):
    return b"\x01" + kryo_varint(index) + (kryo_string("org.apache.hudi.common.model." + name) if name else b"")


def kryo_array(name, count):
    return b"\x01\x00" + kryo_string("[Lorg.apache.hudi.common.model.%s;" % name) + b"\x01" + kryo_varint(count + 1)


def delete_v1(items):
    """items: (record key, partition path)"""
    body = kryo_array("HoodieKey", len(items))
    for n, (key, part) in enumerate(items):
        body += kryo_class(1, None if n else "HoodieKey") + b"\x01" + b"\x01" + kryo_string(part) + b"\x01" + kryo_string(key)
    return i32(1) + i32(len(body)) + body


def delete_v2(items):
    """items as for delete_v3"""
    body = kryo_array("DeleteRecord", len(items))
    for n, (key, part, (kind, val)) in enumerate(items):
        body += kryo_class(1, None if n else "DeleteRecord") + b"\x01" + kryo_class(2, None if n else "HoodieKey") + b"\x01"
        body += b"\x01" + kryo_string(part) + b"\x01" + kryo_string(key) + {"int": b"\x02", "long": b"\x09"}[kind] + zigzag(val)
    return i32(2) + i32(len(body)) + body


def rollback(instant, target):
    return block(COMMAND, {INSTANT_TIME: instant, TARGET_INSTANT_TIME: target, COMMAND_BLOCK_TYPE: "0"}, b"")
