# SPDX-License-Identifier: Apache-2.0
"""`hudi restore` and `hudi rollback` from outside, over compactions and clusterings: the table is what it was."""
import pytest

from cli_test import MISUSED, OK, ROWS, done, error, json_lines, lines, run, schema  # noqa: F401
from compact_test import difference, rows_of, unpack

KEEP = ["-o", "hoodie.clean.automatic=false", "-o", "hoodie.archive.automatic=false"]


class Table:
    def __init__(self, path, schema, kind):  # noqa: F811
        self.path, self.n = path, 0
        done("create", path, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region",
             "--type", kind)

    def write(self, *options, every=1):
        """A newer version of some rows; its instant."""
        self.n += 1
        rows = [{**row, "name": f"version {self.n}", "qty": self.n + row["id"]} for row in ROWS[::every]]
        done("write", self.path, "-", "--format", "jsonl", *KEEP, *options, stdin=lines(rows))
        return self.writes()[-1]

    def run(self, *words):
        return done(words[0], self.path, *words[1:])

    def timeline(self):
        return [(entry["action"], entry["time"], entry["state"])
                for entry in json_lines(self.run("timeline", "--json"))]

    def writes(self):
        return [time for action, time, state in self.timeline()
                if action in ("commit", "deltacommit", "replacecommit") and state == "COMPLETED"]

    def rows(self, *options):
        return rows_of(self.path, *options)

    def files_of(self, time):
        return [path.name for path in self.path.rglob(f"*{time}*") if ".hoodie" not in path.parts]

    def check(self, wanted):
        assert difference(wanted, self.rows()) == []
        assert "0 findings" in self.run("verify")


@pytest.fixture
def logged(tmp_path, schema):  # noqa: F811
    return Table(tmp_path / "t", schema, "mor")


@pytest.fixture
def plain(tmp_path, schema):  # noqa: F811
    return Table(tmp_path / "t", schema, "cow")


def test_restore_undoes_compactions_that_ran_and_that_are_planned(logged):
    logged.write()
    target = logged.write(every=2)
    wanted = logged.rows("--as-of", target)
    logged.run("savepoint", target)
    logged.write(every=3)
    compacted = logged.run("compact").split("\t")[0]
    logged.write(every=2)
    logged.write("--op", "delete", every=7)
    planned = logged.run("compact", "--schedule").split("\t")[0]
    logged.write(every=4)
    assert logged.files_of(compacted) and logged.files_of(planned)
    assert difference(wanted, logged.rows()) != []
    before = logged.writes()
    assert difference(wanted, logged.rows("--as-of", target)) == []

    logged.run("restore", target)
    logged.check(wanted)
    assert logged.writes() == [time for time in before if time <= target]
    assert {action for action, _, _ in logged.timeline()} == {"deltacommit", "savepoint", "restore"}
    assert {state for _, _, state in logged.timeline()} == {"COMPLETED"}
    for time in [compacted, planned]:
        assert logged.files_of(time) == [] # log files of others on it as well

    logged.run("restore", target) # nothing to do
    logged.write(every=2) # and on
    after = logged.rows()
    assert "COMPLETED" in logged.run("compact")
    assert difference([{**row, "_hoodie_file_name": ""} for row in after],
                      [{**row, "_hoodie_file_name": ""} for row in logged.rows()]) == []
    logged.check(logged.rows())


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_restore_undoes_clusterings_that_ran_and_that_are_planned(tmp_path, schema, kind):  # noqa: F811
    table = Table(tmp_path / "t", schema, kind)
    table.write()
    target = table.write(every=2)
    wanted = table.rows()
    table.run("savepoint", target)
    table.write(every=3)
    table.run("cluster", "--sort", "name")
    table.write(every=5)
    table.run("cluster", "--schedule", "--sort", "name")
    table.run("restore", target)
    table.check(wanted)
    assert table.run("cluster", "--pending", "--json") == ""
    assert table.writes()[-1] == target
    table.run("cluster", "--sort", "name")
    assert table.writes()[-1] > target


def test_a_compaction_is_rolled_back_with_its_plan(logged):
    logged.write()
    last = logged.write(every=2)
    wanted = logged.rows()
    compacted = logged.run("compact").split("\t")[0]
    logged.write(every=4)
    assert "is not the newest" in error(MISUSED, "rollback", logged.path, compacted)
    logged.run("rollback", logged.writes()[-1])
    assert any(".log." in name for name in logged.files_of(compacted))
    logged.run("rollback", compacted)
    logged.check(wanted)
    assert logged.files_of(compacted) == [] and logged.writes()[-1] == last
    assert logged.run("compact", "--pending", "--json") == ""
    again = logged.run("compact").split("\t")[0]
    assert again != compacted
    assert len(logged.rows("--read-optimized")) == len(wanted)


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_a_clustering_is_rolled_back_planned_or_done(tmp_path, schema, kind):  # noqa: F811
    table = Table(tmp_path / "t", schema, kind)
    table.write()
    table.write(every=2)
    wanted = table.rows()
    planned = table.run("cluster", "--schedule", "--sort", "name").split("\t")[0]
    table.run("rollback", planned)
    assert table.run("cluster", "--pending", "--json") == ""
    done_ = table.run("cluster", "--sort", "name").split("\t")[0]
    assert table.writes()[-1] == done_
    table.run("rollback", done_)
    assert table.writes()[-1] < done_
    table.check(wanted)


def test_what_a_clean_took_cannot_come_back(plain, tmp_path, schema):  # noqa: F811
    plain.write()
    last = plain.write()
    error(MISUSED, "clean", plain.path, "--versions", 1, "--commits", 1)
    plain.run("clean", "--versions", 1)
    wanted = plain.rows()
    assert "is taken by clean" in error(MISUSED, "rollback", plain.path, last)
    plain.check(wanted)

    for service in ("compact", "cluster"):
        table = Table(tmp_path / service, schema, "mor")
        table.write()
        table.write(every=2)
        last = table.run(service, *(["--sort", "name"] if service == "cluster" else [])).split("\t")[0]
        table.run("clean", "--versions", 1, "--schedule") # it may be run any time
        assert "is taken by clean" in error(MISUSED, "rollback", table.path, last)


def test_the_last_write_before_the_archive_stays(plain):
    for _ in range(4):
        plain.write()
    plain.run("archive", "--min", 2, "--max", 3, "-o", "hoodie.cleaner.commits.retained=1")
    first, last = plain.writes()
    wanted = plain.rows("--as-of", first)
    plain.run("rollback", last)
    assert "not archived" in error(MISUSED, "rollback", plain.path, first)
    plain.check(wanted)


def test_a_savepoint_with_archived_writes_behind_it_is_not_restored(plain):
    times = [plain.write() for _ in range(6)]
    plain.run("savepoint", times[1])
    plain.run("archive", "--min", 2, "--max", 3, "-o", "hoodie.cleaner.commits.retained=1",
              "-o", "hoodie.archive.beyond.savepoint=true")
    assert plain.writes()[:2] != times[:2] and plain.writes()[0] == times[1]
    wanted = plain.rows()
    assert "was archived" in error(MISUSED, "restore", plain.path, times[1])
    plain.check(wanted)


# Tables of the real Hudi with compactions, clusterings, rollbacks, savepoints, plans and failed writes.
GOLDEN = ["spark-0.15.0-mor-compacted", "spark-0.15.0-mor-pending-compaction", "spark-0.15.0-savepoint-mor",
          "spark-0.15.0-rollback-mor", "spark-0.15.0-failed-mor", "spark-0.15.0-cluster-cow",
          "spark-0.15.0-mor-avro", "flink010-mor-compacted", "flink010-mor-after-compaction",
          "flink010-mor-async-compaction", "flink010-mor-pending-compaction", "flink010-mor-rollback",
          "flink010-mor-multi-block-rollback-later"]


@pytest.mark.parametrize("name", GOLDEN)
def test_tables_of_the_real_hudi_are_restored_to_each_write(tmp_path, name):
    n_restored = 0
    for i in range(len(json_lines(done("timeline", unpack(name, tmp_path), "--json")))):
        (tmp_path / str(i)).mkdir()
        table = unpack(name, tmp_path / str(i))
        entry = json_lines(done("timeline", table, "--json"))[i]
        if entry["action"] not in ("commit", "deltacommit", "replacecommit") or entry["state"] != "COMPLETED":
            continue
        time = entry["time"]
        if time != max(savepoints(table), default=time):
            continue
        wanted = rows_of(table, "--as-of", time)
        assert run("restore", table, time).returncode == OK # notes what it finds
        assert difference(wanted, rows_of(table)) == []
        assert difference(wanted, rows_of(table, "--as-of", time)) == []
        n_restored += 1
    assert n_restored > 0


def savepoints(table):
    return [path.name.split(".")[0] for path in (table / ".hoodie").glob("*.savepoint")]
