# SPDX-License-Identifier: Apache-2.0
"""Cleaning and archiving by us and by Hudi 0.15.0, of one table in turns; rows and archive stay what they were."""
import pytest

from cow_tables import Model, Table, as_words, row
from peers import difference, read_lines

SPARK = ["hoodie.metadata.enable=false", "hoodie.parquet.small.file.limit=0", "hoodie.index.type=BLOOM"]
KEEP = ["hoodie.cleaner.commits.retained=1"]
ALONE = ["hoodie.clean.automatic=false", "hoodie.archive.automatic=false"]


class Shared:
    """A table, what must be in it, and who writes to it."""

    def __init__(self, hudi, spark, path):
        self.hudi, self.spark, self.path, table = hudi, spark, path, Table()
        table.make(hudi, path, 6)
        self.table, self.model, self.version = table, Model(table.identity, "ts"), 0

    def rows(self):
        self.version += 1
        return [row(i, self.version) for i in range(self.version % 3, 60, 2)]

    def ours(self, *options):
        rows = self.rows()
        self.hudi.write(self.path, rows, *as_words([*ALONE, *options]))
        self.model.apply("upsert", rows)

    def theirs(self, *options):
        rows = self.rows()
        self.spark.write(self.path, rows, "upsert", "--options", *SPARK, *ALONE, *options)
        self.model.apply("upsert", rows)

    def check(self):
        ours = self.hudi.read(self.path)
        data = [{key: value for key, value in one.items() if not key.startswith("_hoodie_")} for one in ours]
        wanted = [{name: one.get(name) for name in self.table.columns} for one in self.model.rows()]
        assert difference(wanted, data, set()) == []
        assert difference(ours, self.spark.read(self.path), set()) == []
        self.hudi.run("verify", self.path)

    def base_files(self):
        return {path.name for path in self.path.rglob("*.parquet")}

    def instants(self, action):
        return sorted(path.name.split(".")[0] for path in (self.path / ".hoodie").glob(f"*.{action}"))

    def archived_of_spark(self):
        out = self.spark.file()
        # Without times it lists those of ten days to one day ago.
        self.spark.do("call", self.path, "show_archived_commits(table => '{t}', limit => 1000, "
                      "start_ts => '20200101000000000', end_ts => '99990101000000000')", "--out", out)
        return sorted({one["commit_time"] for one in read_lines(out.read_text(encoding="utf-8"))})


@pytest.fixture
def shared(hudi, spark015, tmp_path):
    return Shared(hudi, spark015, tmp_path / "t")


def test_we_clean_what_spark_wrote_and_spark_goes_on(shared):
    for _ in range(4):
        shared.theirs()
    before = shared.base_files()
    shared.hudi.run("clean", shared.path, "--commits", 1)
    gone = before - shared.base_files()
    assert gone and len(shared.instants("clean")) == 1
    shared.check()
    shared.theirs("hoodie.clean.automatic=true", *KEEP) # incremental, from our clean on
    assert len(shared.instants("clean")) == 2
    shared.check()
    shared.ours(*KEEP, "hoodie.clean.automatic=true")
    assert len(shared.instants("clean")) == 3
    shared.check()


def test_spark_cleans_what_we_wrote_and_we_go_on(shared):
    for _ in range(4):
        shared.ours()
    before = shared.base_files()
    shared.spark.do("service", shared.path, "clean", "--retain", 1)
    assert before - shared.base_files() and len(shared.instants("clean")) == 1
    shared.check()
    shared.ours(*KEEP, "hoodie.clean.automatic=true")
    assert len(shared.instants("clean")) == 2
    shared.check()


def test_each_runs_the_plan_of_the_other(shared):
    for _ in range(4):
        shared.theirs()
    before = shared.base_files()
    shared.hudi.run("clean", shared.path, "--commits", 1, "--schedule")
    assert shared.base_files() == before
    shared.spark.do("service", shared.path, "clean", "--retain", 1) # the pending one first
    assert before - shared.base_files()
    assert len(shared.instants("clean")) >= 1
    assert shared.hudi.run("clean", shared.path, "--pending") == ""
    shared.check()


def test_both_archive_and_read_the_archive(shared):
    for _ in range(3):
        shared.theirs()
    for _ in range(3):
        shared.ours()
    shared.hudi.run("clean", shared.path, "--commits", 1)
    commits = shared.instants("commit")
    shared.hudi.run("archive", shared.path, "--min", 3, "--max", 4, "-o", "hoodie.cleaner.commits.retained=1")
    assert shared.instants("commit") == commits[3:]
    assert shared.archived_of_spark() == commits[:3]
    shared.check()
    for _ in range(3):
        shared.theirs("hoodie.clean.automatic=true", "hoodie.archive.automatic=true", *KEEP,
                      "hoodie.keep.min.commits=3", "hoodie.keep.max.commits=4")
    shared.check()
    archived = shared.hudi.run("timeline", shared.path, "--archived")
    assert all(time in archived for time in commits[:4])
    shared.ours("hoodie.clean.automatic=true", "hoodie.archive.automatic=true", *KEEP,
                "hoodie.keep.min.commits=3", "hoodie.keep.max.commits=4")
    shared.check()
    assert set(commits[:4]) <= set(shared.archived_of_spark())


def test_each_keeps_the_savepoint_of_the_other(shared):
    for _ in range(2):
        shared.theirs()
    first, second = shared.instants("commit")
    shared.hudi.run("savepoint", shared.path, second)
    kept = shared.hudi.read(shared.path)
    for _ in range(3):
        shared.theirs("hoodie.clean.automatic=true", *KEEP) # must spare the savepoint's files
    shared.hudi.run("verify", shared.path)
    shared.spark.do("service", shared.path, "delete-savepoint", "--instant", second)
    assert not shared.instants("savepoint")
    third = shared.instants("commit")[-1]
    shared.spark.do("service", shared.path, "savepoint", "--instant", third)
    latest = shared.hudi.read(shared.path)
    assert difference(latest, kept, set()) != []
    for _ in range(3):
        shared.ours("hoodie.clean.automatic=true", *KEEP)
    shared.hudi.run("restore", shared.path, third)
    assert difference(latest, shared.hudi.read(shared.path), set()) == []
    assert difference(latest, shared.spark.read(shared.path), set()) == []
    assert shared.instants("commit")[-1] == third
    rows = shared.rows()
    shared.spark.write(shared.path, rows, "upsert", "--options", *SPARK) # it goes on from there
    assert difference(shared.hudi.read(shared.path), shared.spark.read(shared.path), set()) == []
    shared.hudi.run("verify", shared.path)
