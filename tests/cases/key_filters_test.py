# SPDX-License-Identifier: Apache-2.0
"""Bloom filters of record keys, of both types: what the footer says, and that keys are found."""
import base64
import struct

import pyarrow.parquet as pq
import pytest

from conftest import Refused, unpack_golden

FILTER, TYPE = b"org.apache.hudi.bloomfilter", b"hoodie_bloom_filter_type_code"
OPTION = "hoodie.bloom.index.filter.type"


def footer(path):
    return pq.read_metadata(path).metadata


def is_simple(text):
    """hash count, hash type 1, version, then as many bits as the size says: Hadoop's BloomFilter."""
    data = base64.b64decode(text)
    version, _, _, n_bits = struct.unpack(">iibi", data[:13])
    return version == -1 and len(data) == 13 + (n_bits + 7) // 8


def expect_filter(path, kind):
    assert footer(path).get(TYPE) == (None if kind == "SIMPLE" else kind.encode())
    assert is_simple(footer(path)[FILTER]) == (kind == "SIMPLE")


@pytest.mark.parametrize("first, then", [("SIMPLE", "SIMPLE"), ("SIMPLE", "DYNAMIC_V0"),
                                         ("DYNAMIC_V0", "SIMPLE"), ("DYNAMIC_V0", "DYNAMIC_V0")])
def test_an_upsert_finds_keys_through_filters_of_either_type(table, first, then):
    table.create("id string\nts long\n", order_by="ts")
    for part in (range(100), range(100, 200)): # two files with ranges that overlap
        table.write([{"id": str(i * 7919 % 200), "ts": 1} for i in part], op="insert",
                    options={OPTION: first, "hoodie.parquet.small.file.limit": 0})
    files = table.base_files()
    assert len(files) == 2
    told = table.write([{"id": str(i), "ts": 2} for i in range(0, 210, 3)],
                       options={OPTION: then, "hoodie.index.type": "BLOOM"})
    assert (told["updates"], told["inserts"]) == (67, 3)
    assert len(table.read()) == 203
    for path in table.base_files():
        expect_filter(path, first) # a file that is written again keeps the type of its filter
    table.write([{"id": "new", "ts": 3}], op="insert",
                options={OPTION: then, "hoodie.parquet.small.file.limit": 0})
    expect_filter(table.newest_base_file(), then)
    table.verify() # looks up each key in its file's filter


def test_an_unknown_type_is_refused_before_anything_is_written(table):
    table.create("id string\n")
    with pytest.raises(Refused, match=OPTION):
        table.write([{"id": "1"}], options={OPTION: "XOR"})
    assert table.instants() == []


@pytest.mark.parametrize("name", ["flink010-cow-partitioned", "spark-0.15.0-cow-part"])
def test_filters_of_hudi_look_the_same_and_hold_their_keys(name, tmp_path, table):
    table.path = unpack_golden(name, tmp_path)
    files = [path for path in table.base_files() if FILTER in footer(path)]
    assert files
    for path in files:
        expect_filter(path, footer(path).get(TYPE, b"SIMPLE").decode())
    table.verify()
