# SPDX-License-Identifier: Apache-2.0
"""Our program and the real Hudi write to one table in turns; after each turn all read the same, right rows."""
import json
import shutil

import pyarrow.parquet as parquet
import pytest

from cow_tables import CALENDAR, COLUMNS, KEYGEN, MICROS, MICROS_ROWS, NESTED, NESTED_ROWS, NULL_ITEM_ROWS, NULL_ITEMS
from cow_tables import PARTITIONS, SCALAR_ROWS, SCALARS, WORDS, Model, Table, as_words, row
from peers import Failed, difference

PEERS = {"spark015": 6, "spark11": 6, "flink": 3}
HIVE = "hoodie.datasource.write.hive_style_partitioning=true"
ENCODED = "hoodie.datasource.write.partitionpath.urlencode=true"
BLOOM = ["hoodie.index.type=BLOOM", "hoodie.parquet.small.file.limit=0"]

# Types that an upsert by Spark leaves as they are: it writes all times as micros, and no day before 1582.
ROUND_SCALARS = {name: kind for name, kind in SCALARS.items() if name not in ("millis", "day")}


def typed_row(patterns, columns):
    def make(i, version):
        values = patterns[(i + version) % len(patterns)]
        return {"id": f"id-{i:04}", "p": PARTITIONS[i % 3], "ts": version,
                **{name: value for name, value in values.items() if name in columns}}
    return make


# name: the table, row i as of a version, peers that cannot write it
ROUNDS = {
    "partitioned": (Table(), row, ()),
    "no_partition": (Table(partition=""), row, ()),
    "hive_style": (Table(options=[HIVE]), row, ()),
    "url_encoded": (Table(options=[ENCODED]), lambda i, version: row(i, version, p=WORDS[i % 5]), ("flink",)),
    "hive_style_url_encoded": (Table(options=[HIVE, ENCODED]), lambda i, version: row(i, version, p=WORDS[i % 5]),
                               ("flink",)),
    "null_partition": (Table(), lambda i, version: row(i, version, p=None if i % 4 == 0 else "a"), ("flink",)),
    "complex_key": (Table(key="id,k2", columns={**COLUMNS, "k2": "long"}),
                    lambda i, version: row(i, version, k2=i % 2), ()),
    "two_levels": (Table(partition="p,day", columns=CALENDAR),
                   lambda i, version: row(i, version, day=f"2024-01-{1 + i % 2:02}", millis=i), ()),
    "scalars": (Table(columns=ROUND_SCALARS), typed_row(SCALAR_ROWS, ROUND_SCALARS), ("flink",)),
    "nested": (Table(columns=NESTED), typed_row(NESTED_ROWS, NESTED), ("flink",)),
    "micros": (Table(columns=MICROS), typed_row(MICROS_ROWS, MICROS), ("flink",)),
}
METADATA = "partitioned" # the table for which Spark makes a metadata table
# A complex key of one field is "id:1" in most releases, the bare "1" in 0.15.0: who makes the table must know who
# else writes to it. 1.1 wants to be told that it is meant so.
ONE_FIELD = {"spark015": ["hoodie.write.complex.keygen.new.encoding=true"], "spark11": [], "flink": []}
TURNS = [(peer, name) for peer in PEERS for name in ROUNDS if peer not in ROUNDS[name][2]]


class Turns:
    """A table, the peer that shares it with us, and what must be in it."""

    def __init__(self, hudi, peer, flink, table, path, version, metadata, our_options):
        self.hudi, self.peer, self.flink, self.table, self.path = hudi, peer, flink, table, path
        self.metadata, self.our_options = "true" if metadata else "false", BLOOM + our_options
        table.make(hudi, path, version)
        self.model = Model(table.identity, "ts")

    def ours(self, op, rows):
        self.hudi.write(self.path, rows, "--op", op, *as_words(self.our_options))
        self.model.apply(op, rows)

    def theirs(self, op, rows, *more):
        if self.flink:
            changes = [{**one, "_op": "-D"} for one in rows] if op == "delete" else rows
            options = ["index.bootstrap.enabled=true", "hoodie.parquet.small.file.limit=0"]
            self.peer.write(self.path, changes, *self.flink_table(), *as_words(options))
        else:
            self.peer.write(self.path, rows, op, "--options", *BLOOM, f"hoodie.metadata.enable={self.metadata}",
                            "hoodie.write.complex.keygen.validation.enable=false", *more)
        self.model.apply(op, rows)

    def flink_table(self):
        kinds = {"string": "STRING", "long": "BIGINT"}
        columns = ", ".join(f"`{name}` {kinds[kind]}" for name, kind in self.table.columns.items())
        words = ["--type", "cow", "--columns", columns, "--key", self.table.key, "-o", "write.precombine.field=ts"]
        if self.table.partition:
            words += ["--partition", self.table.partition]
        if HIVE in self.table.options:
            words += ["-o", "hoodie.datasource.write.hive_style_partitioning=true"]
        return words

    def check(self):
        ours = self.hudi.read(self.path)
        data = [{key: value for key, value in one.items() if not key.startswith("_hoodie_")} for one in ours]
        wanted = [{name: one.get(name) for name in self.table.columns} for one in self.model.rows()]
        floats = {name for name, kind in self.table.columns.items() if kind == "float"}
        assert difference(wanted, data, floats) == []
        assert difference(ours, self.peer.read(self.path), floats) == []


@pytest.mark.parametrize("peer,name", TURNS)
def test_we_and_hudi_write_in_turns(request, hudi, tmp_path, peer, name):
    table, make, _ = ROUNDS[name]

    def rows(numbers, version):
        return [make(i, version) for i in numbers]

    turns = Turns(hudi, request.getfixturevalue(peer), peer == "flink", table, tmp_path / "t", PEERS[peer],
                  name == METADATA, ONE_FIELD[peer])
    turns.ours("insert", rows(range(40), 1))
    turns.ours("insert", rows(range(40, 60), 1)) # a second file group in each partition
    turns.theirs("upsert", rows(range(30, 80), 2) + rows(range(5), 0)) # the last five are late
    turns.check()
    turns.theirs("delete", rows([7, 35, 45, 75], 3))
    turns.check()
    turns.ours("upsert", rows([*range(20, 90, 3), 75], 3))
    turns.ours("delete", rows([1, 31, 50, 72, 89], 3))
    turns.check()
    turns.theirs("upsert", rows(range(0, 100, 4), 4))
    turns.check()
    hudi.run("verify", turns.path)


@pytest.mark.parametrize("merged", [True, False])
def test_inserts_into_small_files_are_merged_as_hudi_merges_them(hudi, spark015, tmp_path, merged):
    """One small file in each partition; of the keys that come, some are in it and one comes twice."""
    options = [f"hoodie.merge.allow.duplicate.on.inserts={str(not merged).lower()}",
               "hoodie.datasource.write.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload",
               "hoodie.combine.before.insert=false"]
    first = [row(i, 5) for i in range(20)]
    second = [row(i, 6) for i in range(10, 30)] + [row(1, 4), row(40, 7), row(40, 6), row(41, 6), row(41, 7)]
    told = []
    for writer in ("ours", "theirs"):
        path = tmp_path / writer
        Table().make(hudi, path, 6)
        hudi.write(path, first, "--op", "insert")
        if writer == "ours":
            hudi.write(path, second, "--op", "insert", *as_words(options))
        else:
            spark015.write(path, second, "insert", "--options", *options, "hoodie.metadata.enable=false",
                           "hoodie.write.complex.keygen.new.encoding=true")
        rows = [{name: one[name] for name in Table().columns} for one in hudi.read(path)]
        told.append(sorted(rows, key=lambda one: (one["id"], one["ts"])))
        assert difference(hudi.read(path), spark015.read(path), set()) == []
        hudi.run("verify", path)
    assert told[0] == told[1]
    assert len(told[0]) == (32 if merged else 45)


def newest_counts(path):
    """What the stats of the newest commit count, by partition."""
    stats = json.loads(completed(path)[-1].read_text(encoding="utf-8"))["partitionToWriteStats"]
    names = ("numWrites", "numUpdateWrites", "numInserts", "numDeletes")
    return {p: sorted(tuple(one[name] for name in names) for one in of_p) for p, of_p in stats.items()}


def test_a_late_record_leaves_the_stored_row_as_hudi_leaves_it(hudi, spark015, tmp_path):
    """Partition a: late, on time, a tie; b: late alone; c: a late delete, an insert."""
    columns = {**COLUMNS, "_hoodie_is_deleted": "boolean"}
    payload = "hoodie.datasource.write.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload"

    def some(numbers, version, **other):
        return [row(i, version, **{"_hoodie_is_deleted": False, **other}) for i in numbers]

    late = some([0], 1) + some([3], 9) + some([6], 5) + some([1], 1) + some([2], 1, _hoodie_is_deleted=True) + some([50], 1)
    told = []
    for writer in ("ours", "theirs"):
        path = tmp_path / writer
        Table(columns=columns).make(hudi, path, 6)
        hudi.write(path, some(range(12), 5), "--op", "insert")
        first = {one["_hoodie_commit_time"] for one in hudi.read(path)}
        if writer == "ours":
            hudi.write(path, late, "--op", "upsert", *as_words([payload]))
        else:
            spark015.write(path, late, "upsert", "--options", payload, "hoodie.metadata.enable=false",
                           "hoodie.write.complex.keygen.new.encoding=true")
        rows = hudi.read(path)
        changed = {one["id"] for one in rows if one["_hoodie_commit_time"] not in first}
        values = sorted((one["id"], one["ts"], one["v"]) for one in rows)
        told.append((values, changed, newest_counts(path)))
        assert difference(rows, spark015.read(path), set()) == []
        hudi.run("verify", path)
    assert told[0] == told[1]
    assert told[0][1] == {"id-0003", "id-0006", "id-0050"}


def test_deletes_alone_overwrite_a_partition(hudi, spark015, tmp_path):
    """Ours and Spark's overwrite, each of a table of ours, leave the same rows."""
    columns = {**COLUMNS, "_hoodie_is_deleted": "boolean"}
    left = []
    for who in "ours", "theirs":
        table = Table(columns=columns)
        path = tmp_path / who
        table.make(hudi, path, 6)
        hudi.write(path, [row(i, 1) for i in range(9)])
        gone = [{**row(i, 2), "_hoodie_is_deleted": True} for i in (20, 23)] # of one partition
        if who == "ours":
            hudi.write(path, gone, "--op", "insert_overwrite")
        else:
            spark015.write(path, gone, "insert_overwrite")
        ours = hudi.read(path)
        assert difference(ours, spark015.read(path)) == []
        left.append(sorted(one["id"] for one in ours))
    assert left[0] == left[1] and len(left[0]) == 6


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_null_items_that_spark_cannot_rewrite_stay(hudi, spark015, tmp_path, kind):
    """Its files of lists have no place for them: a file of ours that holds one is read, and not rewritten."""
    table, path = Table(columns=NULL_ITEMS, partition="", options=[f"hoodie.table.type={kind}"]), tmp_path / "t"
    table.make(hudi, path, 6)
    hudi.write(path, [{"id": str(i), "p": "a", "ts": 1, **NULL_ITEM_ROWS[i]} for i in range(2)])
    before = hudi.read(path)
    with pytest.raises(Failed, match="Array contains a null element"):
        if kind == "COPY_ON_WRITE":
            spark015.write(path, [{"id": "1", "p": "a", "ts": 2, "tags": ["a"], "lists": [], "many": []}], "upsert",
                           "--options", "hoodie.metadata.enable=false")
        else:
            hudi.write(path, [{"id": "1", "p": "a", "ts": 2, "tags": [None]}])
            before = hudi.read(path)
            spark015.do("service", path, "compact")
    assert hudi.read(path) == before
    assert difference(before, spark015.read(path)) == []


COUNTS = ["numWrites", "numInserts", "numUpdateWrites", "numDeletes", "totalWriteErrors"]
OPERATIONS = {"insert": range(40, 60), "upsert": range(20, 60, 2), "delete": range(0, 30, 4),
              "insert_overwrite": range(0, 60, 6), "insert_overwrite_table": range(0, 60, 5),
              "bulk_insert": range(10, 60, 3)}


def completed(path):
    return sorted(one for one in (path / ".hoodie").iterdir()
                  if one.suffix in (".commit", ".deltacommit", ".replacecommit"))


def marks(rows, known, instant):
    """Meta columns of each row; new instants and file groups are only said to be that."""
    def mark(one):
        group = one["_hoodie_file_name"].split("_")[0]
        new = one["_hoodie_commit_time"] == instant
        numbers = one["_hoodie_commit_seqno"].split("_")
        assert len(numbers) == 3 and numbers[0] == one["_hoodie_commit_time"], one
        return {**one, "_hoodie_file_name": group if group in known else "new",
                "_hoodie_commit_time": "new" if new else one["_hoodie_commit_time"],
                "_hoodie_commit_seqno": "new" if new else one["_hoodie_commit_seqno"]}
    return [mark(one) for one in rows]


def told(commit, known):
    """What a commit tells of each file group: prevCommit and counts; new groups of a partition are summed up."""
    metadata, told_of = json.loads(commit.read_text(encoding="utf-8")), {}
    for partition, stats in metadata["partitionToWriteStats"].items():
        for stat in stats:
            group = stat["fileId"] if stat["fileId"] in known else "new"
            sums = told_of.setdefault((partition, group, stat["prevCommit"]), dict.fromkeys(COUNTS, 0))
            for name in COUNTS:
                sums[name] += stat[name]
    replaced = {partition: sorted(groups) for partition, groups in metadata.get("partitionToReplaceFileIds", {}).items()}
    return metadata["operationType"], commit.suffix, told_of, replaced


def footers(commit, known, deletes):
    """Of each base file of a commit: rows, least and greatest key, and statistics of the data columns."""
    table, found = commit.parents[1], []
    for partition, stats in json.loads(commit.read_text(encoding="utf-8"))["partitionToWriteStats"].items():
        for stat in stats:
            if not stat["path"].endswith(".parquet"):
                continue
            footer = parquet.ParquetFile(table / stat["path"]).metadata
            assert footer.num_row_groups == 1
            columns = {}
            for i in range(footer.num_columns):
                column = footer.row_group(0).column(i)
                if not column.path_in_schema.startswith("_hoodie_"):
                    kept = column.statistics
                    columns[column.path_in_schema] = (column.physical_type, kept.null_count, kept.min, kept.max)
            keys = [footer.metadata[name] for name in (b"hoodie_min_record_key", b"hoodie_max_record_key")]
            if deletes: # ours may keep the range that was
                keys = []
            group = stat["fileId"] if stat["fileId"] in known else "new"
            found.append(repr((partition, group, footer.num_rows, keys, sorted(columns.items()))))
    return sorted(found)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_an_operation_marks_rows_and_counts_as_hudi_does(hudi, spark015, tmp_path, kind):
    table, first = Table(options=[f"hoodie.table.type={kind}"]), tmp_path / "first"
    table.make(hudi, first, 6)
    hudi.write(first, [row(i, 1) for i in range(30)], "--op", "insert", *as_words(BLOOM))
    hudi.write(first, [row(i, 2) for i in range(30, 40)], "--op", "insert", *as_words(BLOOM))
    hudi.write(first, [row(i, 3) for i in range(0, 40, 3)], *as_words(BLOOM))
    known = {one["_hoodie_file_name"].split("_")[0] for one in hudi.read(first)}
    for op, numbers in OPERATIONS.items():
        given = [row(i, 4) for i in numbers]
        made = {}
        for who in "ours", "theirs":
            path = tmp_path / f"{who}_{op}"
            shutil.copytree(first, path)
            if who == "ours":
                hudi.write(path, given, "--op", op, *as_words(BLOOM))
            else:
                spark015.write(path, given, op, "--options", *BLOOM, "hoodie.metadata.enable=false")
            commit = completed(path)[-1]
            rows = hudi.read(path)
            assert difference(rows, spark015.read(path)) == []
            made[who] = [told(commit, known), footers(commit, known, op == "delete")], marks(rows, known, commit.name.split(".")[0])
        assert made["ours"][0] == made["theirs"][0]
        assert difference(made["theirs"][1], made["ours"][1]) == []
