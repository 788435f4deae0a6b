# SPDX-License-Identifier: Apache-2.0
"""Tables of versions that no release at hand makes: Hudi 0.15 makes them as version 6 and steps down.

We read them and write on; Hudi 0.15 reads what we wrote, writes (which takes the table up to 6 again) and we go on.
"""
import pathlib

import pytest

from cow_tables import Model, Table, row
from peers import difference

NAMES = {5: "FIVE", 4: "FOUR", 3: "THREE", 2: "TWO"}
PLAIN = ["--options", "hoodie.metadata.enable=false", "hoodie.parquet.small.file.limit=0"]


def version_of(path):
    text = pathlib.Path(path, ".hoodie", "hoodie.properties").read_text(encoding="latin-1")
    return int(next(line.split("=")[1] for line in text.splitlines() if line.startswith("hoodie.table.version=")))


def rows(numbers, version):
    return [row(i, version) for i in numbers]


@pytest.mark.parametrize("version", NAMES)
def test_a_table_that_hudi_stepped_down(hudi, spark015, tmp_path, version):
    path, table = tmp_path / "t", Table()
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
    hudi.write(path, rows(range(10, 30), 3))
    model.apply("upsert", rows(range(10, 30), 3))
    hudi.write(path, rows(range(3), 4), "--op", "delete")
    model.apply("delete", rows(range(3), 4))
    assert version_of(path) == version
    agree()
    spark015.write(path, rows(range(20, 40), 5), "upsert", *PLAIN)
    model.apply("upsert", rows(range(20, 40), 5))
    assert version_of(path) == 6
    agree()
    hudi.write(path, rows(range(5), 6))
    model.apply("upsert", rows(range(5), 6))
    agree()
