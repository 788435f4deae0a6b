# SPDX-License-Identifier: Apache-2.0
"""Merge-on-read tables that our program and the real Hudi write to in turns: log files of both in one file group, and
compactions by the real Hudi over them."""
import pytest

from cow_rounds_test import HIVE, ONE_FIELD, PEERS, ROUND_SCALARS, Turns, typed_row
from cow_tables import CALENDAR, COLUMNS, NESTED, NESTED_ROWS, SCALAR_ROWS, Table, row

MOR = "hoodie.table.type=MERGE_ON_READ"
CLEANING = ["--linger-ms", "3000", "-o", "clean.async.enabled=true", "-o", "clean.retain_commits=1"]
ALONE = ["hoodie.clean.automatic=false", "hoodie.archive.automatic=false"]

# name: the table, row i as of a version, peers that cannot write it
ROUNDS = {
    "partitioned": (Table(options=[MOR]), row, ()),
    "no_partition": (Table(partition="", options=[MOR]), row, ()),
    "hive_style": (Table(options=[MOR, HIVE]), row, ()),
    "complex_key": (Table(key="id,k2", columns={**COLUMNS, "k2": "long"}, options=[MOR]),
                    lambda i, version: row(i, version, k2=i % 2), ()),
    "two_levels": (Table(partition="p,day", columns=CALENDAR, options=[MOR]),
                   lambda i, version: row(i, version, day=f"2024-01-{1 + i % 2:02}", millis=i), ()),
    "scalars": (Table(columns=ROUND_SCALARS, options=[MOR]), typed_row(SCALAR_ROWS, ROUND_SCALARS), ("flink",)),
    "nested": (Table(columns=NESTED, options=[MOR]), typed_row(NESTED_ROWS, NESTED), ("flink",)),
}
WRITERS = ["spark015", "spark11", "flink"]
TURNS = [(peer, name) for peer in WRITERS for name in ROUNDS if peer not in ROUNDS[name][2]]


class LogTurns(Turns):
    """Turns on a merge-on-read table."""

    def flink_table(self):
        words = super().flink_table()
        words[words.index("cow")] = "mor"
        return words + ["-o", "compaction.async.enabled=false", "-o", "compaction.schedule.enabled=false"]

    def service(self, what):
        # 1.1 makes the metadata table anew, which we took away, and leaves log files on a pending compaction out of it.
        self.peer.do("service", self.path, what, "--options", f"hoodie.metadata.enable={self.metadata}")

    def compact(self, schedule_only=False):
        if not self.flink:
            self.service("schedule-compact" if schedule_only else "compact")
        elif schedule_only: # Flink's compactor plans only what it runs at once
            self.hudi.run("compact", self.path, "--schedule")
        else:
            self.peer.do("compact", "--table", self.path, "--schedule")

    def run_compaction(self):
        if self.flink:
            self.peer.do("compact", "--table", self.path)
        else:
            self.service("run-compact")


def logs(turns):
    return {path.name for path in turns.path.rglob(".*.log.*")
            if ".hoodie" not in path.relative_to(turns.path).parts and not path.name.endswith(".crc")}


def begin(request, hudi, tmp_path, peer, name):
    table, make, _ = ROUNDS[name]
    turns = LogTurns(hudi, request.getfixturevalue(peer), peer == "flink", table, tmp_path / "t", PEERS[peer], False,
                     ONE_FIELD[peer])
    return turns, lambda numbers, version: [make(i, version) for i in numbers]


@pytest.mark.parametrize("peer,name", TURNS)
def test_we_and_hudi_append_in_turns(request, hudi, tmp_path, peer, name):
    turns, rows = begin(request, hudi, tmp_path, peer, name)
    turns.ours("insert", rows(range(40), 1))
    turns.ours("insert", rows(range(40, 60), 1)) # a second file group in each partition
    assert logs(turns) == set()
    turns.ours("upsert", rows(range(0, 60, 3), 2))
    ours = logs(turns)
    assert ours
    turns.check()
    # Five late rows; 0.10's reader lets a log record win over the base file's whatever their ordering values.
    turns.theirs("upsert", rows(range(30, 80), 3) + ([] if peer == "flink" else rows(range(5), 0)))
    assert logs(turns) > ours
    turns.check()
    turns.theirs("delete", rows([7, 35, 45, 75], 4))
    turns.check()
    turns.ours("upsert", rows([*range(20, 90, 3), 75], 4))
    turns.ours("delete", rows([1, 31, 50, 72, 89], 4))
    turns.check()
    turns.theirs("upsert", rows(range(0, 100, 4), 5))
    turns.ours("upsert", rows([1, 2, 3, 72], 5))
    turns.check()
    hudi.run("verify", turns.path)


@pytest.mark.parametrize("peer", WRITERS)
def test_we_write_on_in_log_files_of_both(request, hudi, tmp_path, peer):
    turns, rows = begin(request, hudi, tmp_path, peer, "partitioned")
    turns.our_options.append("libhudi.log.append.enable=true")
    turns.ours("insert", rows(range(40), 1))
    turns.ours("upsert", rows(range(0, 40, 4), 2))
    ours = logs(turns)
    turns.ours("delete", rows([4, 7, 35], 3)) # not more: Spark compacts at the fifth
    assert len(ours) == 3 and logs(turns) == ours
    turns.check()
    turns.theirs("upsert", rows(range(0, 40, 5), 4))
    both = logs(turns)
    turns.ours("upsert", rows(range(0, 40, 2), 5))
    assert logs(turns) == both
    turns.check()
    turns.compact()
    turns.check()
    hudi.run("verify", turns.path)


@pytest.mark.parametrize("peer,name", [(peer, name) for peer in ("spark015", "spark11")
                                       for name in ("partitioned", "scalars", "nested")])
def test_hudi_reads_parquet_blocks_of_ours(request, hudi, tmp_path, peer, name):
    turns, rows = begin(request, hudi, tmp_path, peer, name)
    turns.our_options.append("hoodie.logfile.data.block.format=parquet")
    turns.ours("insert", rows(range(40), 1))
    turns.ours("upsert", rows(range(0, 40, 2), 2))
    assert "PARQUET_DATA" in hudi.run("log", next(turns.path.rglob(".*.log.*")))
    turns.check()
    turns.theirs("upsert", rows(range(0, 40, 5), 3))
    turns.ours("upsert", rows(range(0, 40, 3), 4))
    turns.check()
    turns.compact()
    turns.check()


@pytest.mark.parametrize("peer", WRITERS)
def test_hudi_compacts_what_we_appended(request, hudi, tmp_path, peer):
    turns, rows = begin(request, hudi, tmp_path, peer, "partitioned")
    turns.ours("insert", rows(range(40), 1))
    turns.ours("delete", rows([1, 31], 2)) # not last: 0.10 plans no compaction on a commit of deletes alone
    turns.ours("upsert", rows(range(0, 40, 3), 2))
    turns.compact()
    turns.check()
    turns.ours("upsert", rows(range(0, 50, 2), 3))
    turns.check()
    turns.compact(schedule_only=True)
    before = logs(turns)
    turns.ours("upsert", rows(range(0, 50, 5), 4)) # to log files that the planned base files will have
    turns.ours("delete", rows([2, 4], 4))
    turns.ours("upsert", rows([4, 6], 5))
    assert all(name.partition(".log.")[2].startswith(("1_", "2_", "3_")) for name in logs(turns) - before)
    turns.check()
    turns.run_compaction()
    turns.check()
    turns.theirs("upsert", rows(range(0, 50, 4), 6))
    turns.ours("upsert", rows(range(0, 50, 6), 7))
    turns.compact()
    turns.check()
    hudi.run("verify", turns.path)


class Crew(LogTurns):
    """A table that we and several peers write to and serve."""

    def __init__(self, hudi, peers, path, version):
        super().__init__(hudi, None, False, ROUNDS["partitioned"][0], path, version, False, ALONE)
        self.peers, self.version, self.flink_words = peers, 0, []

    def flink_table(self):
        return super().flink_table() + self.flink_words

    def turn_to(self, who):
        self.peer, self.flink = self.peers[who], who == "flink"

    def instants(self, action):
        return sorted(one.name.split(".")[0] for one in (self.path / ".hoodie").glob(f"*.{action}"))

    def write(self, who, numbers, op="upsert"):
        self.version += 1 # of the rows
        self.before = dict(self.model.held)
        rows = [row(i, self.version) for i in numbers]
        if who == "ours":
            self.ours(op, rows)
        else:
            self.turn_to(who)
            self.theirs(op, rows, "hoodie.compact.inline=false")

    def roll_back(self, who):
        """The newest write."""
        instant = self.instants("deltacommit")[-1]
        if who == "ours":
            self.hudi.run("rollback", self.path, instant)
        else:
            self.call(who, "rollback", "--instant", instant)
        assert instant not in self.instants("deltacommit")
        self.model.held = self.before

    def call(self, who, what, *words):
        self.peers[who].do("sql", self.path, "SET hoodie.metadata.enable=false")
        self.peers[who].do("service", self.path, what, *words)
        self.peers[who].do("sql", self.path, "RESET hoodie.metadata.enable")

    def compact_by(self, who):
        done = self.instants("commit")
        if who == "ours":
            self.hudi.run("compact", self.path)
        else:
            self.turn_to(who)
            self.compact()
        assert len(self.instants("commit")) == len(done) + 1

    def clean_by(self, who):
        done, files = self.instants("clean"), set(self.path.rglob("*.parquet"))
        if who == "ours":
            self.hudi.run("clean", self.path, "--commits", 1)
        elif who == "flink": # it cleans beside its writes
            self.flink_words = CLEANING
            self.write(who, range(0, 60, 6))
            self.flink_words = []
        else:
            self.call(who, "clean", "--retain", 1)
        assert len(self.instants("clean")) == len(done) + 1
        assert files - set(self.path.rglob("*.parquet"))

    def check(self):
        for who in self.peers:
            self.turn_to(who)
            super().check()
        self.hudi.run("verify", self.path)


def test_all_write_and_serve_one_table_in_turns(hudi, spark015, spark11, tmp_path):
    crew = Crew(hudi, {"spark015": spark015, "spark11": spark11}, tmp_path / "t", PEERS["spark015"])
    crew.write("ours", range(60), "insert")
    # The procedure by which 1.1.1 rolls back looks for the timeline of newer tables.
    undoes = {"ours": "spark015", "spark11": "ours", "spark015": "ours"}
    for first, second, third in [("ours", "spark015", "spark11"), ("spark11", "ours", "spark015"),
                                 ("spark015", "spark11", "ours")]:
        crew.write(first, range(0, 70, 2))
        crew.write(second, range(0, 80, 3))
        crew.write(third, range(1, 60, 4))
        crew.roll_back(undoes[first])
        crew.write(first, range(crew.version, 60, 9), "delete")
        crew.write(third, range(0, 60, 5))  # Hudi 0.15 sees no more than the rollback that it made last
        crew.check()
        crew.compact_by(second)
        crew.write(first, range(0, 60, 7))
        crew.clean_by(third)
        crew.check()


def test_we_and_flink_write_and_serve_one_table_in_turns(hudi, flink, tmp_path):
    crew = Crew(hudi, {"flink": flink}, tmp_path / "t", PEERS["flink"])
    crew.write("ours", range(60), "insert")
    for first, second in [("ours", "flink"), ("flink", "ours")]:
        crew.write(first, range(0, 70, 2))
        crew.write(second, range(0, 80, 3))
        crew.roll_back("ours")
        crew.write(first, range(crew.version, 60, 9), "delete")
        crew.write(second, range(0, 60, 5))
        crew.check()
        crew.compact_by(second)
        crew.check()
        crew.write(first, range(0, 60, 7))
        crew.clean_by(second)
        crew.check()
