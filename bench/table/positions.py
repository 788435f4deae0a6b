# SPDX-License-Identifier: Apache-2.0
"""Merging by record positions next to merging by key: a table of `--rows` rows that Hudi 1.1.1 on Spark wrote, a tenth or half
of them updated in its log files, whose blocks have positions.

Both are ours, with the same log files; the floor is pyarrow reading the columns of the base files.
"""
import random
import shutil

import pyarrow.parquet

import rows as input_rows
from spark import Spark

NEW = ("hoodie.datasource.write.table.type=MERGE_ON_READ", "hoodie.parquet.max.file.size=10000000000",
       "hoodie.bulkinsert.shuffle.parallelism=1", "hoodie.bulkinsert.sort.mode=NONE")
BLOCKS = ("hoodie.logfile.data.block.max.size=2000000000", "hoodie.parquet.small.file.limit=0", "hoodie.compact.inline=false")
BY_KEY = ("-o", "hoodie.merge.use.record.positions=false")
COLUMNS = {"1 column": "price", "2 columns with id": "id,price", "6 columns": "ts,qty,price,amount,kind,note"}


class Positions:
    def __init__(self, bench):
        self.bench, self.folder, self.n = bench, bench.folder, bench.options.rows

    def source(self, name, ids, round_number):
        file = self.folder / f"{name}.parquet"
        pyarrow.parquet.write_table(input_rows.make(ids, self.n, round_number), file, compression="zstd")
        return file

    def tables(self):
        """By text: the table."""
        spark, chance, found = Spark("1.1.1", self.folder), random.Random(11), {}
        base = self.folder / "positions-base"
        spark.put(base, "bulk_insert", self.source("positions-all", range(self.n), 0), new=True, options=NEW + BLOCKS)
        for share, text in ((10, "10 %"), (2, "50 %")):
            found[text] = self.folder / f"positions-{share}"
            shutil.copytree(base, found[text])
            ids = sorted(chance.sample(range(self.n), self.n // share))
            spark.put(found[text], "upsert", self.source("positions-some", ids, 1), options=BLOCKS)
        spark.close()
        return found

    def run(self):
        bench = self.bench
        for share, table in self.tables().items():
            base = [str(file) for file in table.glob("*/*.parquet")]
            for text, columns in COLUMNS.items():
                for how, words in (("by row", ()), ("by key", BY_KEY)):
                    results = [bench.once("read", table, "--format", "arrow", "--columns", columns, *words)
                               for _ in range(bench.options.repeat)]
                    floor = bench.peer("read", columns, "", *base) if how == "by row" else None
                    bench.add(f"{share}, {text}, {how}", self.n, min(results, key=lambda result: result["cpu"]), floor)
