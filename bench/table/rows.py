# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark: 12 columns, the same for the same numbers."""
import pathlib
import random

import pyarrow
from pyarrow import compute
import pyarrow.parquet

N_PARTITIONS = 4
WORDS = "amber basil cedar delta ember fjord grove heath islet jetty knoll lagoon".split()
SCHEMA = """id string not null
region string not null
ts long
qty int
price double
score float
paid boolean
day date
at timestamp
amount decimal(12,2)
kind string
note string
"""


def make(ids, n_rows, round_number):
    """Rows of the numbers `ids` out of `n_rows`; all but key and partition change with the round."""
    ids, n = pyarrow.array(ids, pyarrow.int64()), len(ids)
    seeds = iter(range(1000 * round_number, 1000 * (round_number + 1)))

    def uniform(high):
        return compute.multiply(compute.random(n, initializer=next(seeds)), float(high))

    def whole(high, kind=pyarrow.int64()):
        return compute.floor(uniform(high)).cast(kind)

    def some(column):
        return compute.if_else(compute.less(uniform(1), 0.95), column, pyarrow.scalar(None, column.type))

    words = pyarrow.array(WORDS)
    picked = [words.take(whole(len(WORDS))) for _ in range(6)]
    regions = compute.divide(compute.multiply(ids, N_PARTITIONS), n_rows)
    return pyarrow.table({
        "id": compute.binary_join_element_wise("key-", compute.utf8_lpad(ids.cast("string"), 12, "0"), ""),
        "region": compute.binary_join_element_wise("region", regions.cast("string"), "-"),
        "ts": compute.add(ids, round_number * 10**9),
        "qty": some(whole(1000, pyarrow.int32())),
        "price": uniform(1000),
        "score": uniform(1).cast(pyarrow.float32()),
        "paid": compute.less(uniform(1), 0.7),
        "day": compute.add(whole(1000, pyarrow.int32()), pyarrow.scalar(19000, pyarrow.int32())).cast(pyarrow.date32()),
        "at": compute.add(whole(10**13), 1_700_000_000_000_000).cast(pyarrow.timestamp("us", "UTC")),
        "amount": compute.round(uniform(10**7), 2).cast(pyarrow.decimal128(12, 2)),
        "kind": words.take(whole(8)),
        "note": some(compute.binary_join_element_wise(*picked, " ")),
    })


def sources(folder, n_rows):
    """Parquet files that the operations are given, by name."""
    folder = pathlib.Path(folder)
    chance = random.Random(7)
    first = n_rows // 2 + n_rows // 16 # in the midst of a partition
    chosen = {
        "all": (range(n_rows), 0),
        "spread": (sorted(chance.sample(range(n_rows), n_rows // 10)), 1),
        "clustered": (range(first, first + n_rows // 100), 2),
        "one": ([first], 3),
        "delete": (sorted(chance.sample(range(n_rows), n_rows // 100)), 4),
        "partition": (range(n_rows // N_PARTITIONS), 5),
    }
    files = {}
    for name, (ids, round_number) in chosen.items():
        files[name] = folder / f"{name}.parquet"
        table = make(ids, n_rows, round_number)
        if name == "delete":
            table = table.select(["id", "region", "ts"])
        pyarrow.parquet.write_table(table, files[name], compression="zstd")
    return files

