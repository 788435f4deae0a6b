# SPDX-License-Identifier: Apache-2.0
"""Base files end near hoodie.parquet.max.file.size, however the rows come."""
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LIMIT = 1_000_000
WANTED = LIMIT * 1.1 # hoodie.parquet.compression.ratio is added, as Hudi does
SIZES = {"hoodie.parquet.max.file.size": LIMIT, "hoodie.parquet.bloom.filter.enabled": "false",
         "hoodie.parquet.small.file.limit": 0}


def rows(n, width):
    """Texts that are made of hexadecimal digits: half the bytes when compressed."""
    dice = random.Random(7)
    return pa.table({"id": [f"k{i:07d}" for i in range(n)], "ts": pa.array(range(n), pa.int64()),
                     "v": ["%0*x" % (width(i), dice.getrandbits(4 * width(i))) for i in range(n)]})


def expect_sizes(table, n_rows, slack):
    """All files but the last one."""
    files = table.base_files()
    sizes = sorted(file.stat().st_size for file in files)
    assert len(sizes) > 3
    assert sizes[1] > WANTED * (1 - slack) and sizes[-1] < WANTED * (1 + slack), sizes
    assert sum(pq.read_metadata(file).num_rows for file in files) == n_rows
    assert all(pq.read_metadata(file).num_row_groups == 1 for file in files)
    assert len({row["id"] for row in table.read("--columns", "id")}) == n_rows
    table.verify()


@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert"])
@pytest.mark.parametrize("page_bytes", [20_000, 1 << 20])
def test_files_end_near_their_limit(table, op, page_bytes):
    table.create("id string\nts long\nv string\n", order_by="ts")
    table.write(rows(20_000, lambda i: 400), op=op,
                options={**SIZES, "hoodie.parquet.page.size": page_bytes})
    expect_sizes(table, 20_000, 0.05 if page_bytes == 20_000 else 0.15)


def test_so_they_do_when_rows_grow(table):
    table.create("id string\nts long\nv string\n", order_by="ts")
    table.write(rows(20_000, lambda i: 50 + i // 25), op="insert",
                options={**SIZES, "hoodie.parquet.page.size": 20_000})
    expect_sizes(table, 20_000, 0.08)
