# SPDX-License-Identifier: Apache-2.0
"""Tables of versions that no release at hand makes: Hudi 0.15 makes them as version 6 and steps down.

We read them and write on; Hudi 0.15 reads what we wrote, writes (which takes the table up to 6 again) and we go on.
"""
import pathlib

import pytest

from concurrency_test import TYPES
from cow_tables import Model, Table, row
from peers import difference

NAMES = {5: "FIVE", 4: "FOUR", 3: "THREE", 2: "TWO"}
PLAIN = ["--options", "hoodie.metadata.enable=false", "hoodie.parquet.small.file.limit=0"]


def version_of(path):
    text = pathlib.Path(path, ".hoodie", "hoodie.properties").read_text(encoding="latin-1")
    return int(next(line.split("=")[1] for line in text.splitlines() if line.startswith("hoodie.table.version=")))


def rows(numbers, version):
    return [row(i, version) for i in numbers]


def logs_of(path):
    return {log for log in path.rglob(".*.log.*") if ".hoodie" not in log.relative_to(path).parts and
            not log.name.endswith(".crc")}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("version", NAMES)
def test_a_table_that_hudi_stepped_down(hudi, spark015, tmp_path, version, kind):
    path, table = tmp_path / "t", Table(options=TYPES[kind])
    table.make(hudi, path, 6)
    model = Model(table.identity, "ts")

    def agree():
        ours = hudi.read(path)
        data = [{key: value for key, value in one.items() if not key.startswith("_hoodie_")} for one in ours]
        wanted = [{name: one.get(name) for name in table.columns} for one in model.rows()]
        assert difference(wanted, data, set()) == []
        assert difference(ours, spark015.read(path), set()) == []

    for turn in range(2): # two commits of Hudi's, with markers and clean-up as ever
        spark015.write(path, rows(range(turn * 5, turn * 5 + 20), turn + 1), "upsert", *PLAIN)
        model.apply("upsert", rows(range(turn * 5, turn * 5 + 20), turn + 1))
    spark015.do("service", path, "downgrade", "--instant", NAMES[version])
    assert version_of(path) == version
    agree()
    theirs = logs_of(path)
    hudi.write(path, rows(range(10, 30), 3), "-o", "hoodie.parquet.small.file.limit=0")
    model.apply("upsert", rows(range(10, 30), 3))
    hudi.write(path, rows(range(3), 4), "--op", "delete")
    model.apply("delete", rows(range(3), 4))
    assert version_of(path) == version
    agree()
    if kind == "mor":
        blocks = "".join(hudi.run("log", log) for log in logs_of(path) - theirs)
        assert "AVRO_DATA" in blocks and f"deletes (version {1 if version < 4 else 2})" in blocks
        hudi.run("compact", path)
        agree()
        hudi.write(path, rows(range(12), 5)) # upon the compaction
        model.apply("upsert", rows(range(12), 5))
        assert version_of(path) == version
        agree()
    spark015.write(path, rows(range(20, 40), 6), "upsert", *PLAIN)
    model.apply("upsert", rows(range(20, 40), 6))
    assert version_of(path) == 6
    agree()
    hudi.write(path, rows(range(5), 7))
    model.apply("upsert", rows(range(5), 7))
    agree()
    if kind == "mor":
        spark015.do("service", path, "compact")
        agree()
    hudi.run("verify", path)
