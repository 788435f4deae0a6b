# SPDX-License-Identifier: Apache-2.0
"""Merge-on-read: one file group of a table, `--rows` rows in its base file, updates in its log, in blocks as large as memory
lets them be.

Every update is a whole row. "log append" is the process that looks the keys up and writes the log; its floor is
the bytes of the log file written by one call and synced. The floor of reads is pyarrow reading the base file, which is less
than merging needs: of updates it sees nothing.
"""
import json
import pathlib
import random
import shutil
import subprocess

import pyarrow.parquet

import rows as input_rows

ONE_GROUP = ["-o", "hoodie.parquet.max.file.size=10000000000", "-o", "hoodie.parquet.small.file.limit=0"]
ONE_BLOCK = ["-o", "hoodie.logfile.data.block.max.size=2000000000", "-o", "hoodie.logfile.max.size=2100000000"]
SHARES = ((20, "5 %"), (10, "10 %"), (2, "50 %"))
ALL = "select count(*), sum(hash(*)) from {t}"


class Logs:
    def __init__(self, bench):
        self.bench, self.folder, self.n = bench, bench.folder, bench.options.rows
        self.base = self.folder / "logs-base"
        self.schema = self.folder / "schema.txt"
        self.schema.write_text(input_rows.SCHEMA, encoding="utf-8")
        self.spark_base = self.folder / "logs-spark-base"

    def source(self, name, ids, round_number):
        file = self.folder / f"{name}.parquet"
        pyarrow.parquet.write_table(input_rows.make(ids, self.n, round_number), file, compression="zstd")
        return file

    def command(self, *words):
        done = subprocess.run([self.bench.program, *map(str, words)], capture_output=True, check=True)
        return done.stdout.decode()

    def create(self):
        source = self.source("logs-all", range(self.n), 0)
        self.command("write", self.base, source, "--op", "bulk_insert", "--type", "mor", "--schema", self.schema,
                     "--key", "id", "--order-by", "ts", *ONE_GROUP)
        self.first = json.loads(self.command("timeline", self.base, "--json").splitlines()[-1])["time"]
        if self.bench.spark is not None:
            self.bench.spark.put(self.spark_base, "bulk_insert", source, new=True, options=(
                "hoodie.datasource.write.table.type=MERGE_ON_READ", "hoodie.parquet.max.file.size=10000000000",
                "hoodie.bulkinsert.shuffle.parallelism=1"), partition="")

    def append(self, share, source):
        """A fresh copy of the table gets the rows; what its log file weighs."""
        bench, table = self.bench, self.folder / "logs-work"
        results = []
        for _ in range(bench.options.repeat):
            shutil.rmtree(table, ignore_errors=True)
            shutil.copytree(self.base, table)
            results.append(bench.once("write", table, source, *ONE_GROUP, *ONE_BLOCK))
        logs = [file for file in pathlib.Path(table).iterdir() if ".log." in file.name and file.name.endswith("-0")]
        n_bytes = sum(file.stat().st_size for file in logs)
        spark = None
        if bench.spark is not None:
            spark_table = self.folder / "logs-spark"
            shutil.rmtree(spark_table, ignore_errors=True)
            shutil.copytree(self.spark_base, spark_table)
            spark = bench.spark.put(spark_table, "upsert", source)
        n_rows = self.n // share
        best = min(results, key=lambda result: result["cpu"])
        best["bytes"] = n_bytes
        bench.add(f"log append {n_rows}", n_rows, best, bench.peer("copy", self.folder / "copy", *logs), spark=spark)
        print(f"    {n_rows / best['cpu']:.0f} records, {n_bytes / best['cpu'] / 1e6:.0f} MB of log a CPU second")
        return table

    def read(self, name, table, words, floor, rs, spark):
        bench = self.bench
        results = [bench.once("read", table, "--format", "arrow", *words) for _ in range(bench.options.repeat)]
        query = bench.spark.query(self.folder / "logs-spark", spark) if bench.spark is not None and spark else None
        bench.add(name, self.n, min(results, key=lambda result: result["cpu"]),
                  bench.peer("read", *floor) if floor else None, bench.hudi_rs(*rs), query)

    def run(self):
        self.create()
        base = [str(file) for file in self.base.glob("*.parquet")]
        assert len(base) == 1
        chance = random.Random(11)
        for share, text in SHARES:
            ids = sorted(chance.sample(range(self.n), self.n // share))
            table = self.append(share, self.source("logs-some", ids, 1))
            if share == 20:
                continue # of the size that the peers' figures are for
            self.read(f"merged read {text} in the log", table, [], ["", "", *base], [table, "", "", ""], ALL)
            self.read(f"... 2 columns {text}", table, ["--columns", "id,price"], ["id,price", "", *base],
                      [table, "id,price", "", ""], "select count(*), sum(hash(id, price)) from {t}")
            self.read(f"incremental read {text}", table, ["--since", self.first], None,
                      [table, "", "", self.first], None)
        self.read("read-optimized read", table, ["--read-optimized"], ["", "", *base],
                  [table, "", "", "", "read-optimized"], None)
