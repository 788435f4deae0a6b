# SPDX-License-Identifier: Apache-2.0
"""Tables of Hudi 1.x whose log files say which rows of the base files their records are of: merged by these, without
looking at a record key, they give what Hudi reads, and what they give by key."""
import random

import pytest

from peers import difference

COLUMNS = "id string, p string, ts long, n int, text string"
SHOWN = ["p", "ts", "n", "text"] # neither the record key nor its field
BY_KEY = ["-o", "hoodie.merge.use.record.positions=false"]
OPTIONS = ["hoodie.datasource.write.table.type=MERGE_ON_READ", "hoodie.compact.inline=false",
           "hoodie.metadata.enable=false", "hoodie.parquet.block.size=65536", "hoodie.parquet.page.size=4096",
           "hoodie.parquet.small.file.limit=0"]


def row(i, version, ts):
    return {"id": f"k{i * 7919 % 100003:06}", "p": f"p{i % 2}", "ts": ts, "n": i % 100, "text": f"row {i} as of {version}"}


FILTERS = {"n >= 0": lambda r: True, "n < 30": lambda r: r["n"] < 30, "ts > 60": lambda r: r["ts"] > 60}


def shown(rows):
    return sorted([row[name] for name in SHOWN] for row in rows)


class Positioned:
    def __init__(self, hudi, spark, table, ordering, index):
        self.hudi, self.spark, self.table, self.chance = hudi, spark, table, random.Random(index)
        self.options = [*OPTIONS, f"hoodie.index.type={index}"]
        spark.write(table, [row(i, 0, 50) for i in range(4000)], "bulk_insert", "--key", "id", "--partition", "p",
                    *ordering, "--name", "t", "--table-type", "MERGE_ON_READ", "--schema", COLUMNS,
                    "--options", *self.options, "hoodie.bulkinsert.shuffle.parallelism=2")

    def some(self, n, version):
        return [row(i, version, self.chance.randrange(100)) for i in self.chance.sample(range(4000), n)]

    def write(self, rows, op):
        self.spark.write(self.table, rows, op, "--options", *self.options)

    def logs_with_positions(self):
        logs = [path for path in self.table.rglob(".*.log.*")
                if ".hoodie" not in path.relative_to(self.table).parts and not path.name.endswith(".crc")]
        assert logs
        return ["RECORD_POSITIONS=" in self.hudi.run("log", log).replace("OF_RECORD_POSITIONS=", "") for log in logs]

    def check(self):
        theirs = self.spark.read(self.table)
        for where, passes in FILTERS.items():
            for how in ([], BY_KEY):
                got = self.hudi.read(self.table, "--columns", ",".join(SHOWN), "--where", where, *how)
                assert shown(got) == shown(filter(passes, theirs))
        assert difference(theirs, self.hudi.read(self.table)) == []


@pytest.mark.parametrize("ordering,index", [(["--ordering", "ts"], "SIMPLE"), ([], "BLOOM")], ids=["event time", "commit time"])
def test_positions_of_hudi_are_gone_by(hudi, spark11, tmp_path, ordering, index):
    table = Positioned(hudi, spark11, tmp_path / "t", ordering, index)
    table.write(table.some(300, 1), "upsert")
    table.check()
    table.write(table.some(100, 2), "delete")
    table.write(table.some(600, 3), "upsert")
    table.check()
    assert all(table.logs_with_positions())
    spark11.do("sql", table.table, "update {t} set n = n + 1, ts = ts + 60 where n = 17")
    spark11.do("sql", table.table, "delete from {t} where n = 19")
    assert not all(table.logs_with_positions()) # Spark's SQL does not look rows up
    table.check()
    spark11.do("service", table.table, "compact", "--options", *table.options)
    table.write(table.some(200, 4), "upsert")
    table.check()
