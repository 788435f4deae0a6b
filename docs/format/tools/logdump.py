#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dump Hudi log files (data, delete, command, CDC and 0.x archive logs) as JSON.

  logdump.py FILE...            one JSON object per block
  logdump.py --records FILE...  also decode record bodies (needs fastavro; pyarrow for parquet blocks)
  logdump.py --raw FILE...      add offsets and hex of every fixed field

Written from log-format.md; it is the executable form of that page.  Only the
standard library is needed unless --records is given.
"""
import argparse, base64, datetime, io, json, struct, sys

MAGIC = b"#HUDI#"
BLOCK = ["COMMAND", "DELETE", "CORRUPT", "AVRO_DATA", "HFILE_DATA", "PARQUET_DATA", "CDC_DATA"]
HEADER = ["INSTANT_TIME", "TARGET_INSTANT_TIME", "SCHEMA", "COMMAND_BLOCK_TYPE", "COMPACTED_BLOCK_TIMES",
          "RECORD_POSITIONS", "BLOCK_IDENTIFIER", "IS_PARTIAL", "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS"]


class Corrupt(Exception):
    pass


class Reader:
    def __init__(self, b, pos=0):
        self.b, self.p = b, pos

    def take(self, n):
        if n < 0 or self.p + n > len(self.b):
            raise Corrupt("short read of %d at %d" % (n, self.p))
        r = self.b[self.p:self.p + n]
        self.p += n
        return r

    def i32(self):
        return struct.unpack(">i", self.take(4))[0]

    def i64(self):
        return struct.unpack(">q", self.take(8))[0]

    def left(self):
        return len(self.b) - self.p


# ---------------------------------------------------------------- block framing

def read_map(r, names):
    out = {}
    n = r.i32()
    for _ in range(n):
        k = r.i32()
        v = r.take(r.i32()).decode("utf-8", "replace")
        out[names[k] if 0 <= k < len(names) else "UNKNOWN_%d" % k] = v
    return out


def is_corrupt(b, start):
    """start: offset of the 8-byte block size.  Returns a reason or None."""
    if start + 8 > len(b):
        return "size field past end of file"
    size = struct.unpack(">i", b[start + 4:start + 8])[0]   # the real reader keeps only the low 32 bits
    end = start + 8 + size                      # size counts everything after the size field
    if size < 8 or end > len(b):
        return "size %d runs past end of file" % size
    tail = struct.unpack(">q", b[end - 8:end])[0]           # compared in full
    if tail != size + len(MAGIC):
        return "trailing size %d does not match %d" % (tail, size + len(MAGIC))
    nxt = b[end:end + 6]
    if len(nxt) == 6 and nxt != MAGIC:
        return "no magic after the block"
    return None


def blocks(b):
    p = 0
    while p + 6 <= len(b):
        if b[p:p + 6] != MAGIC:
            yield {"offset": p, "type": "BAD_MAGIC", "bytes": len(b) - p}
            return
        start = p + 6
        why = is_corrupt(b, start)
        if why:
            nxt = b.find(MAGIC, start)
            nxt = len(b) if nxt < 0 else nxt
            yield {"offset": p, "type": "CORRUPT", "why": why, "content_offset": start, "content_len": nxt - start,
                   "header": {}}
            p = nxt
            continue
        r = Reader(b, start)
        size = r.i64()
        fmt = r.i32()
        typ = r.i32()
        header = read_map(r, HEADER)
        clen = r.i64()
        cpos = r.p
        content = r.take(clen)
        footer = read_map(r, [])
        total = r.i64()
        yield {"offset": p, "size_field": size, "format_version": fmt,
               "type": BLOCK[typ] if 0 <= typ < len(BLOCK) else "UNKNOWN_%d" % typ,
               "header": header, "content_offset": cpos, "content_len": clen, "footer": footer,
               "trailing_size": total, "_content": content}
        p = r.p
    if p < len(b):
        yield {"offset": p, "type": "TRAILING", "bytes": len(b) - p}


# ---------------------------------------------------------------- Kryo (delete blocks v1 and v2)

class Kryo:
    """Just enough of Kryo 4 for HoodieKey[] and DeleteRecord[]."""
    UTF8_IDS = {10: "0.12", 27: "0.13", 28: "0.14/0.15", 43: "1.1"}   # id of the registered avro Utf8 class

    def __init__(self, b):
        self.r, self.names, self.refs = Reader(b), [], []

    def varint(self, zigzag=False):
        v = s = 0
        while True:
            c = self.r.take(1)[0]
            v |= (c & 0x7f) << s
            s += 7
            if not c & 0x80:
                break
        return (v >> 1) ^ -(v & 1) if zigzag else v

    def string(self):
        c = self.r.take(1)[0]
        if not c & 0x80:                        # ASCII form: 7-bit chars, the last one has bit 7 set
            out = bytearray([c])
            while True:
                c = self.r.take(1)[0]
                if c & 0x80:
                    out.append(c & 0x7f)
                    return out.decode("ascii")
                out.append(c)
        n = c & 0x3f                            # length form: bit 6 = more, then 7-bit groups
        s = 6
        more = c & 0x40
        while more:
            c = self.r.take(1)[0]
            n |= (c & 0x7f) << s
            s += 7
            more = c & 0x80
        if n == 0:
            return None
        n -= 1
        units = []                              # UTF-16 units, each in 1..3 bytes
        while len(units) < n:
            c = self.r.take(1)[0]
            if c < 0x80:
                units.append(c)
            elif c >> 4 in (12, 13):
                units.append((c & 0x1f) << 6 | self.r.take(1)[0] & 0x3f)
            else:
                d = self.r.take(2)
                units.append((c & 0x0f) << 12 | (d[0] & 0x3f) << 6 | d[1] & 0x3f)
        return b"".join(struct.pack("<H", u) for u in units).decode("utf-16-le", "surrogatepass")

    def cls(self):
        i = self.varint()
        if i == 0:
            return None
        if i == 1:
            k = self.varint()
            if k == len(self.names):
                self.names.append(self.string())
            return self.names[k]
        return i - 2

    def ref(self, make):
        i = self.varint()
        if i == 0:
            return None
        if i == 1:
            slot = len(self.refs)
            self.refs.append(None)
            self.refs[slot] = make(slot)
            return self.refs[slot]
        return self.refs[i - 2]

    def strref(self):
        return self.ref(lambda _: self.string())

    def key(self):
        def make(_):
            part, rec = self.strref(), self.strref()   # fields in name order
            return {"recordKey": rec, "partitionPath": part}
        return self.ref(make)

    def ordering(self):
        c = self.cls()
        if c is None:
            return None
        if c == 0:
            return {"int": self.varint(True)}
        if c == 7:
            return {"long": self.varint(True)}
        if c == 1:
            return {"string": self.strref()}
        if c == 2:
            return {"float": struct.unpack(">f", self.r.take(4))[0]}
        if c == 8:
            return {"double": struct.unpack(">d", self.r.take(8))[0]}
        if c == 3:
            return {"boolean": bool(self.r.take(1)[0])}
        if c == 4:
            return {"byte": struct.unpack("b", self.r.take(1))[0]}
        if c == 6:
            return {"short": struct.unpack(">h", self.r.take(2))[0]}
        if c in self.UTF8_IDS:
            return {"utf8": self.ref(lambda _: self.r.take(self.varint() - 1).decode())}
        if c == "java.math.BigDecimal":
            def dec(_):
                raw = self.r.take(self.varint() - 1)
                return {"unscaled": int.from_bytes(raw, "big", signed=True), "scale": self.varint(True)}
            return {"decimal": self.ref(dec)}
        if c == "java.time.LocalDate":
            def date(_):
                y = self.varint()
                m, d = self.r.take(1)[0], self.r.take(1)[0]
                return "%d-%02d-%02d" % (y, m, d)
            return {"date": self.ref(date)}
        if c == "java.sql.Timestamp":
            return {"timestamp_ms": self.ref(lambda _: self.varint())}
        raise Corrupt("ordering value class %r not known" % (c,))

    def array(self):
        c = self.cls()
        elem = c[2:-1]

        def make(_):
            out = []
            for _ in range(self.varint() - 1):
                if self.cls() is None:
                    out.append(None)
                elif elem.endswith("HoodieKey"):
                    out.append(self.key())
                else:
                    def rec(_):
                        self.cls()
                        k = self.key()
                        return dict(k, orderingVal=self.ordering())
                    out.append(self.ref(rec))
            return out
        return {"class": elem, "records": self.ref(make)}


# ---------------------------------------------------------------- Avro delete list (v3)

class Avro:
    def __init__(self, b):
        self.r = Reader(b)

    def long(self):
        v = s = 0
        while True:
            c = self.r.take(1)[0]
            v |= (c & 0x7f) << s
            s += 7
            if not c & 0x80:
                return (v >> 1) ^ -(v & 1)

    def bytes(self):
        return self.r.take(self.long())

    def optstr(self):
        return self.bytes().decode() if self.long() else None

    def wrapper(self, inner=False):
        k = self.long()
        if k == 0:
            return None
        if k == 1:
            return {"boolean": bool(self.r.take(1)[0])}
        if k in (2, 8):
            return {"int" if k == 2 else "date": self.long()}
        if k in (3, 10, 11):
            return {{3: "long", 10: "time_micros", 11: "timestamp_micros"}[k]: self.long()}
        if k == 4:
            return {"float": struct.unpack("<f", self.r.take(4))[0]}
        if k == 5:
            return {"double": struct.unpack("<d", self.r.take(8))[0]}
        if k == 6:
            return {"bytes": self.bytes().hex()}
        if k == 7:
            return {"string": self.bytes().decode()}
        if k == 9:
            return {"decimal_unscaled_scale15": int.from_bytes(self.bytes(), "big", signed=True)}
        if k == 12 and inner:                    # LocalDateWrapper exists only inside an array
            return {"local_date": self.long()}
        if k == 12:                              # ArrayWrapper, 1.1+
            return {"array": self.list(lambda: self.wrapper(True)) if self.long() else None}
        raise Corrupt("ordering branch %d" % k)

    def list(self, item):
        out = []
        while True:
            n = self.long()
            if n == 0:
                return out
            if n < 0:
                self.long()
                n = -n
            out += [item() for _ in range(n)]

    def deletes(self):
        return self.list(lambda: {"recordKey": self.optstr(), "partitionPath": self.optstr(), "orderingVal": self.wrapper()})


# ---------------------------------------------------------------- contents

def plain(v):
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, (datetime.date, datetime.datetime, datetime.time)) or not isinstance(v, (str, int, float, bool, type(None))):
        return str(v)
    return v


def avro_records(content, schema, want):
    r = Reader(content)
    out = {"block_version": r.i32(), "record_count": r.i32()}
    if want:
        import fastavro
        sch = fastavro.parse_schema(json.loads(schema))
        out["records"] = []
    for _ in range(out["record_count"]):
        rec = r.take(r.i32())
        if want:
            f = io.BytesIO(rec)
            out["records"].append(plain(fastavro.schemaless_reader(f, sch)))
            if f.tell() != len(rec):
                out.setdefault("short_decodes", 0)
                out["short_decodes"] += 1
    out["trailing_bytes"] = r.left()
    return out


def positions(text):
    """Portable 64-bit roaring bitmap: LE u64 count of buckets, then per bucket LE u32 high word and a 32-bit bitmap."""
    b = base64.b64decode(text)
    n = struct.unpack("<Q", b[:8])[0]
    p, out = 8, []
    for _ in range(n):
        hi = struct.unpack("<I", b[p:p + 4])[0]
        p += 4
        vals, p = roaring32(b, p)
        out += [hi << 32 | v for v in vals]
    return {"positions": out, "bytes": len(b), "unused": len(b) - p}


def roaring32(b, p):
    start = p
    cookie = struct.unpack("<I", b[p:p + 4])[0]
    p += 4
    runs = None
    if cookie & 0xffff == 12347:
        n = (cookie >> 16) + 1
        runs = b[p:p + (n + 7) // 8]
        p += (n + 7) // 8
    else:
        assert cookie == 12346, cookie
        n = struct.unpack("<I", b[p:p + 4])[0]
        p += 4
    keys = [struct.unpack("<HH", b[p + 4 * i:p + 4 * i + 4]) for i in range(n)]
    p += 4 * n
    if runs is None or n >= 4:
        p += 4 * n                               # container offsets
    out = []
    for i, (key, card) in enumerate(keys):
        card += 1
        if runs is not None and runs[i // 8] >> (i % 8) & 1:
            m = struct.unpack("<H", b[p:p + 2])[0]
            p += 2
            for _ in range(m):
                s, l = struct.unpack("<HH", b[p:p + 4])
                p += 4
                out += [key << 16 | v for v in range(s, s + l + 1)]
        elif card <= 4096:
            out += [key << 16 | v for v in struct.unpack("<%dH" % card, b[p:p + 2 * card])]
            p += 2 * card
        else:
            bits = b[p:p + 8192]
            p += 8192
            out += [key << 16 | v for v in range(65536) if bits[v >> 3] >> (v & 7) & 1]
    return out, p


def describe(blk, want):
    content = blk.pop("_content", b"")
    t, h = blk["type"], blk.get("header", {})
    try:
        if t in ("AVRO_DATA", "CDC_DATA"):
            blk["content"] = avro_records(content, h.get("SCHEMA"), want)
        elif t == "DELETE":
            r = Reader(content)
            v, n = r.i32(), r.i32()
            data = r.take(n)
            blk["content"] = {"block_version": v, "data_len": n, "trailing_bytes": r.left()}
            if v in (1, 2):
                k = Kryo(data)
                blk["content"].update(k.array(), unused=k.r.left())
            else:
                a = Avro(data)
                blk["content"].update(records=a.deletes(), unused=a.r.left())
        elif t == "PARQUET_DATA":
            blk["content"] = {"magic": content[:4].decode("latin1"), "tail": content[-4:].decode("latin1")}
            if want:
                import pyarrow.parquet as pq
                tb = pq.read_table(io.BytesIO(content))
                blk["content"]["records"] = plain(tb.to_pylist())
                blk["content"]["footer_keys"] = sorted(k.decode() for k in (pq.ParquetFile(io.BytesIO(content)).metadata.metadata or {}))
        elif t == "HFILE_DATA":
            blk["content"] = {"head": content[:8].decode("latin1"), "version_trailer": content[-4:].hex()}
        elif t == "COMMAND":
            blk["content"] = {"command": {"0": "ROLLBACK_BLOCK"}.get(h.get("COMMAND_BLOCK_TYPE"), "?"), "len": len(content)}
    except (Corrupt, AssertionError, struct.error) as e:
        blk["content_error"] = str(e)
    if "RECORD_POSITIONS" in h:
        blk["record_positions"] = positions(h["RECORD_POSITIONS"])
    if not want and len(h.get("SCHEMA", "")) > 120:
        h["SCHEMA"] = h["SCHEMA"][:100] + "...(%d)" % len(h["SCHEMA"])
    return blk


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--records", action="store_true")
    ap.add_argument("--raw", action="store_true")
    ap.add_argument("file", nargs="+")
    a = ap.parse_args()
    for name in a.file:
        with open(name, "rb") as f:
            b = f.read()
        for blk in blocks(b):
            raw = {}
            if a.raw and "size_field" in blk:
                o = blk["offset"]
                raw = {"raw_head": b[o:o + 22].hex(" "), "raw_tail": b[blk["content_offset"] + blk["content_len"]:o + 6 + 8 + blk["size_field"]].hex(" ")}
            print(json.dumps(dict({"file": name.rsplit("/", 1)[-1], "file_len": len(b)}, **describe(blk, a.records), **raw), ensure_ascii=False))


if __name__ == "__main__":
    main()
