# SPDX-License-Identifier: Apache-2.0
"""Restores over compactions and clusterings, and merge-on-read writes that died: each side undoes what both wrote,
and the other reads the result and goes on."""
import pytest

from cow_rollback_test import data_of, kill_a_write, pending
from mor_compaction_test import COLUMNS, row, without_file
from peers import difference

SPARK = ["--options", "hoodie.metadata.enable=false", "hoodie.clean.automatic=false"]
ALONE = ["-o", "hoodie.clean.automatic=false", "-o", "hoodie.archive.automatic=false"]


class Shared:
    def __init__(self, hudi, spark, path, n_partitions=3):
        self.hudi, self.spark, self.path = hudi, spark, path
        schema = path.with_name("schema.txt")
        schema.write_text(COLUMNS)
        hudi.run("create", path, "--schema", schema, "--key", "id", "--order-by", "ts", "--partition-by", "p",
                 "--type", "mor")

    def ours(self, numbers, version):
        self.hudi.write(self.path, [row(i, version) for i in numbers], *ALONE)

    def theirs(self, numbers, version):
        self.spark.write(self.path, [row(i, version) for i in numbers], "upsert", *SPARK)

    def instants(self, action):
        return sorted(path.name.split(".")[0] for path in (self.path / ".hoodie").glob(f"*.{action}"))

    def both(self, *options):
        ours = self.hudi.read(self.path, *options)
        if not options:
            assert difference(self.spark.read(self.path), ours) == []
        return ours

    def files_after(self, instant):
        return [path.name for path in self.path.rglob("*") if path.is_file() and ".hoodie" not in path.parts and
                "_20" in path.name and path.name.replace(".", "_").split("_20", 1)[1][:15] > instant[2:]]

    def fill(self):
        """Rows, the savepoint, and behind it writes, a compaction, and a planned one with log files on it."""
        self.ours(range(30), 1)
        self.theirs(range(0, 30, 3), 2)
        self.savepoint = self.instants("deltacommit")[-1]
        self.wanted = self.both()
        self.ours(range(1, 30, 4), 3)
        return self

    def pile_up(self):
        self.theirs(range(25, 40), 4)
        self.hudi.run("compact", self.path, "--schedule")
        self.ours(range(0, 40, 2), 5)
        self.theirs(range(0, 40, 5), 6)
        assert difference(self.wanted, self.both("--as-of", self.savepoint)) == []

    def check_restored(self):
        assert difference(self.wanted, self.both()) == []
        assert self.instants("deltacommit")[-1] == self.savepoint
        assert self.instants("commit") == [] and self.instants("compaction.requested") == []
        assert self.instants("rollback") == [] and len(self.instants("restore")) == 1
        assert self.files_after(self.savepoint[:14] + "~") == []
        self.hudi.run("verify", self.path)

    def go_on(self):
        self.theirs(range(5, 50, 5), 7)
        self.ours(range(6, 50, 6), 8)
        rows = self.both()
        self.spark.do("service", self.path, "compact")
        assert difference(without_file(rows), without_file(self.both())) == []
        self.ours(range(3), 9)
        rows = self.both()
        self.hudi.run("compact", self.path)
        assert difference(without_file(rows), without_file(self.both())) == []
        self.hudi.run("verify", self.path)


@pytest.fixture
def shared(hudi, spark015, tmp_path):
    return Shared(hudi, spark015, tmp_path / "t")


@pytest.mark.parametrize("compacts", ["we", "spark"])
def test_we_restore_over_compactions_and_spark_goes_on(shared, compacts):
    shared.fill()
    shared.hudi.run("savepoint", shared.path, shared.savepoint)
    if compacts == "we":
        shared.hudi.run("compact", shared.path)
    else:
        shared.spark.do("service", shared.path, "compact")
    assert shared.instants("commit")
    shared.pile_up()
    shared.hudi.run("restore", shared.path, shared.savepoint)
    shared.check_restored()
    shared.go_on()


def test_spark_restores_over_our_compaction_and_we_go_on(shared):
    shared.fill()
    shared.hudi.run("savepoint", shared.path, shared.savepoint)
    shared.hudi.run("compact", shared.path)
    shared.theirs(range(25, 40), 4)
    shared.ours(range(0, 40, 2), 5)
    # A metadata table that is made only then has no past to restore.
    shared.spark.do("sql", shared.path, "SET hoodie.metadata.enable=false")
    shared.spark.do("service", shared.path, "restore", "--instant", shared.savepoint)
    shared.spark.do("sql", shared.path, "RESET hoodie.metadata.enable")
    shared.check_restored()
    shared.go_on()


def test_we_restore_over_a_clustering_of_spark(shared):
    shared.fill()
    shared.hudi.run("savepoint", shared.path, shared.savepoint)
    shared.spark.do("service", shared.path, "cluster", "--order", "name")
    assert shared.instants("replacecommit")
    shared.ours(range(10), 5)
    shared.hudi.run("restore", shared.path, shared.savepoint)
    shared.check_restored()
    shared.go_on()


def test_a_savepoint_of_the_real_hudi_is_restored_by_us(hudi, spark015, golden):
    table = golden("spark-0.15.0-savepoint-mor")
    (savepoint,) = [path.name.split(".")[0] for path in (table / ".hoodie").glob("*.savepoint")]
    wanted = hudi.read(table, "--as-of", savepoint)
    hudi.run("restore", table, savepoint)
    assert difference(wanted, hudi.read(table)) == []
    assert difference(wanted, spark015.read(table)) == []
    changed = {key: value for key, value in wanted[0].items() if not key.startswith("_hoodie_")}
    spark015.write(table, [changed], "delete")
    assert difference(data_of(wanted[1:]), data_of(hudi.read(table))) == []
    hudi.run("verify", table)


def many(numbers, version):
    """Rows over 200 partitions, so that a write makes 200 files."""
    return [{**row(i, version), "p": f"p{i % 200:03}"} for i in numbers]


def test_spark_undoes_our_killed_merge_on_read_write(shared):
    first = many(range(2000), 1)
    shared.hudi.write(shared.path, first, *ALONE)
    kill_a_write(shared.hudi, shared.path, many(range(2000), 2), *ALONE, files=".*.log.*")
    assert difference(first, data_of(shared.both())) == []
    shared.spark.write(shared.path, [{**row(0, 3), "p": "p000"}], "upsert", *SPARK)
    assert pending(shared.path) == set() and len(shared.instants("rollback")) == 1
    wanted = [{**row(0, 3), "p": "p000"}, *first[1:]]
    assert difference(wanted, data_of(shared.hudi.read(shared.path))) == []
    # Hudi 0.15 stops reading at its own rollback block, which is later than the write that it was made for: until the
    # next write it does not see that one.
    shared.spark.write(shared.path, [{**row(1, 3), "p": "p001"}], "upsert", *SPARK)
    wanted[1] = {**row(1, 3), "p": "p001"}
    assert difference(wanted, data_of(shared.both())) == []
    shared.hudi.run("verify", shared.path)
    rows = shared.both()
    shared.hudi.run("compact", shared.path)
    assert difference(without_file(rows), without_file(shared.both())) == []


def test_we_undo_a_failed_merge_on_read_write_of_spark(hudi, spark015, golden):
    table = golden("spark-0.15.0-failed-mor")
    before = hudi.read(table)
    assert pending(table)
    changed = {key: value for key, value in before[0].items() if not key.startswith("_hoodie_")}
    changed.update(name="changed by us", ts=changed["ts"] + 10**9)
    hudi.write(table, [changed])
    assert pending(table) == set()
    wanted = [changed] + data_of(before[1:])
    assert difference(wanted, data_of(hudi.read(table))) == []
    assert difference(hudi.read(table), spark015.read(table)) == []
    spark015.do("service", table, "compact")
    assert difference(wanted, data_of(hudi.read(table))) == []
    assert difference(hudi.read(table), spark015.read(table)) == []
    hudi.run("verify", table)
