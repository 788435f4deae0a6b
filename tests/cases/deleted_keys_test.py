# SPDX-License-Identifier: Apache-2.0
"""Keys of merge-on-read tables that log files deleted, and that live elsewhere since."""
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

SCHEMA = "id string not null\np string\nts long\na string\n"


def row(key, partition, ts):
    return {"id": key, "p": partition, "ts": ts, "a": f"{key}{ts}"}


def make(table, **options):
    return table.create(SCHEMA, order_by="ts", partition_by="p",
                        options={"hoodie.table.type": "MERGE_ON_READ", **options})


def test_a_key_deleted_and_inserted_again_is_updated_once(table):
    make(table).write([row("a", "x", 1), row("b", "x", 1)])
    table.write([row("a", "x", 1)], op="delete")
    table.write([row("a", "x", 2)], op="insert")  # into another file group: the first has logs
    assert table.write([row("a", "x", 3)])["updates"] == 1
    assert table.read() == [row("a", "x", 3), row("b", "x", 1)]
    table.write([row("a", "x", 4)], op="delete")
    assert table.read() == [row("b", "x", 1)]
    assert table.write([row("a", "x", 4)])["updates"] == 1  # to one of the two places
    assert table.read() == [row("a", "x", 4), row("b", "x", 1)]


@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE"])
def test_a_key_that_moved_away_is_not_updated_where_it_was(table, index):
    options = {"hoodie.index.type": "GLOBAL_" + index,
               f"hoodie.{index.lower()}.index.update.partition.path": "true"}
    make(table).write([row("a", "x", 1), row("b", "x", 1)], options=options)
    table.write([row("a", "y", 5)], options=options)
    table.write([row("a", "x", 3)], options=options)  # the stored row wins
    assert table.read() == [row("a", "y", 5), row("b", "x", 1)]
    table.write([row("a", "x", 7)], options=options)
    assert table.read() == [row("a", "x", 7), row("b", "x", 1)]
    table.write([row("a", "z", 8)], options=options)
    assert table.read() == [row("a", "z", 8), row("b", "x", 1)]


@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE"])
def test_a_key_that_moved_away_is_updated_where_it_is(table, index):
    options = {"hoodie.index.type": "GLOBAL_" + index}
    moving = {**options, f"hoodie.{index.lower()}.index.update.partition.path": "true"}
    staying = {**options, f"hoodie.{index.lower()}.index.update.partition.path": "false"}
    make(table).write([row("a", "x", 1), row("b", "x", 1)], options=options)
    table.write([row("a", "y", 5)], options=moving)
    table.write([row("a", "x", 6)], options=staying)
    assert [r["a"] for r in table.read()] == ["a6", "b1"]


@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE", "GLOBAL_BLOOM"])
def test_a_key_dead_in_a_base_file_and_alive_in_other_log_files_alone_is_updated_once(table, index):
    """Other writers (Flink's) put inserts into log files."""
    options = {"hoodie.index.type": index}
    make(table).write([row("a", "x", 1), row("b", "x", 1)])
    table.write([row("a", "x", 1)], op="delete")
    table.write([row("a", "x", 2), row("c", "x", 2)], op="insert")
    assert table.write([row("a", "x", 3)])["updates"] == 1
    base = table.newest_base_file()
    rows = pq.read_table(base, partitioning=None)
    pq.write_table(rows.filter(pc.equal(rows["id"], "c")), base)
    assert table.values("a") == ["a3", "b1", "c2"]
    told = table.write([row("a", "x", 4), row("b", "x", 4)], options=options)
    assert (told["updates"], told["inserts"]) == (2, 0)
    assert table.read() == [row("a", "x", 4), row("b", "x", 4), row("c", "x", 2)]
    table.write([row("a", "x", 5)], op="delete", options=options)
    assert table.values("a") == ["b4", "c2"]


@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE"])
@pytest.mark.parametrize("payload", ["PartialUpdateAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload"])
def test_a_key_deleted_and_written_again_gets_nothing_of_the_deleted_row(table, index, payload):
    """As with Hudi's global indexes."""
    options = {"hoodie.index.type": "GLOBAL_" + index}
    make(table, **{"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model." + payload})
    table.write([row("a", "x", 1), row("b", "x", 1)], options=options)
    table.write([row("a", "x", 1)], op="delete", options=options)
    assert table.write([{**row("a", "x", 2), "a": None}, {**row("b", "x", 2), "a": None}], options=options)["updates"] == 1
    assert table.read() == [{**row("a", "x", 2), "a": None}, {**row("b", "x", 2), "a": "b1"}]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_deletes_alone_overwrite_a_partition(table, kind):
    table.create(SCHEMA + "_hoodie_is_deleted boolean\n", order_by="ts", partition_by="p",
                 options={"hoodie.table.type": kind})
    gone = {"_hoodie_is_deleted": True}
    table.write([row("a", "x", 1), row("b", "y", 1), row("c", "z", 1)])
    table.write([{**row("a", "x", 2)}])
    table.write([{**row("d", "x", 3), **gone}, {**row("e", "y", 3), **gone}, row("f", "y", 3)],
                op="insert_overwrite")
    stored = [{**one, "_hoodie_is_deleted": None} for one in (row("c", "z", 1), row("f", "y", 3))]
    assert table.read() == stored
    table.write([row("a", "x", 4)])
    assert table.read() == [{**row("a", "x", 4), "_hoodie_is_deleted": None}, *stored]


# Ordering columns: their type, a value, and one that is later.
ORDERINGS = {
    "int": (1, 2), "long": (1, 2**40), "double": (-0.5, 0.25), "float": (-0.5, 0.25), "string": ("a", "b"),
    "date": ("2024-01-01", "2024-01-02"), "decimal(10,2)": ("-1.00", "0.50"),
    "timestamp": ("2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.000001Z"),
}


@pytest.mark.parametrize("version", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kind", ORDERINGS)
def test_delete_blocks_of_each_version(table, kind, version):
    """A late delete in a log file loses to the row there, but for versions that keep no ordering value of deletes, or
    one that is of another class in Hudi than the row's (tests/interop/late_deletes_test.py)."""
    early, late = ORDERINGS[kind]

    def give(key, ts, deleted=False):
        return {"id": key, "ts": ts, "a": f"{key} {ts}", "_hoodie_is_deleted": deleted}

    table.create(f"id string not null\nts {kind}\na string\n_hoodie_is_deleted boolean\n", order_by="ts",
                 options={"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version})
    table.write([give(key, early) for key in "abcd"])
    table.write([give("a", late), give("b", early)])
    table.write([give("a", early, True), give("b", late, True), give("c", late, True)])
    content = 1 if version < 4 else 2 if version < 6 else 3
    assert any(f"3 deletes (version {content})" in table.do("log", log)
               for log in table.path.rglob(".*.log.*"))
    wins = version < 4 or kind in ("date", "decimal(10,2)") or kind == "string" and version == 6
    wanted = [] if wins else [give("a", late)]
    assert table.read() == [*wanted, give("d", early)]
    table.write([give("c", early)]) # whatever the delete's ordering value was
    wanted += [give("c", early), give("d", early)]
    assert table.read() == wanted
    table.do("compact", table.path)
    assert table.read("--read-optimized") == wanted
    table.verify()
