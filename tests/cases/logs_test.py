# SPDX-License-Identifier: Apache-2.0
"""Faults of log files and of merging that users met elsewhere: each report as a kind, with its variants."""
import json

import pytest

from conftest import Refused, run

SCHEMA = "id string not null\nts long\nv string\n_hoodie_is_deleted boolean\n"
EVENT_TIME = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
LATEST = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
RECOVER = ["-o", "libhudi.read.recover=true"]


def row(key, ts, value=None, deleted=None):
    return {"id": key, "ts": ts, "v": value or f"{key}{ts}", "_hoodie_is_deleted": deleted}


def make(table, *, version=6, payload=EVENT_TIME, kind="MERGE_ON_READ"):
    return table.create(SCHEMA, order_by="ts", options={
        "hoodie.table.type": kind, "hoodie.write.table.version": version,
        "hoodie.datasource.write.payload.class": payload})


def log_files(table):
    return sorted((path for path in table.path.glob(".*.log.*") if path.name.count(".log.") == 1),
                  key=lambda path: int(path.name.split(".log.")[1].split("_")[0]))


def move(path, by):
    """To a later log version."""
    head, tail = path.name.split(".log.")
    number, token = tail.split("_", 1)
    path.rename(path.with_name(f"{head}.log.{int(number) + by}_{token}"))


# ---- B25: log files of no bytes ---------------------------------------------------------------

@pytest.mark.parametrize("place", [1, 2, 3])
def test_an_empty_log_file_hides_none_of_the_others(table, place):
    make(table).write([row("a", 1), row("b", 1), row("c", 1)])
    table.write([row("a", 2)])
    table.write([row("b", 2)])
    files = log_files(table)
    assert len(files) == 2
    for path in reversed(files[place - 1:]):
        move(path, 1)
    first = files[0].name.split(".log.")
    (table.path / f"{first[0]}.log.{place}_{first[1].split('_', 1)[1]}").touch()
    wanted = [row("a", 2), row("b", 2), row("c", 1)]
    assert [path.stat().st_size == 0 for path in log_files(table)] == [i == place for i in (1, 2, 3)]
    assert table.read() == wanted
    table.write([row("c", 3)])
    wanted[2] = row("c", 3)
    assert table.read() == wanted
    table.do("compact", table.path, *RECOVER) # files that commits name are not there by these names
    assert table.read() == wanted
    assert table.read("--read-optimized") == wanted


# ---- B27: log files that are cut ---------------------------------------------------------------

@pytest.mark.parametrize("cut", [1, 5, 8, 9, 30, "to 1 byte", "to 3 bytes", "to 6 bytes", "to 7 bytes"])
def test_the_blocks_before_a_cut_are_read(table, cut):
    make(table).write([row(key, 1) for key in "abc"])
    table.write([row("a", 2), row("b", 2)], options={"hoodie.logfile.data.block.max.size": 1})
    (whole,) = log_files(table)
    shown = [json.loads(line) for line in table.do("log", whole, "--json").splitlines()]
    starts = [block["offset"] for block in shown if block.get("type") not in (None, "file")]
    assert len(starts) == 2
    size = whole.stat().st_size
    end = size - cut if isinstance(cut, int) else starts[1] + int(cut.split()[1])
    whole.write_bytes(whole.read_bytes()[:end])
    assert table.read() == [row("a", 2), row("b", 1), row("c", 1)]
    table.write([row("c", 3)]) # behind it, in a file of its own
    wanted = [row("a", 2), row("b", 1), row("c", 3)]
    assert table.read() == wanted
    with pytest.raises(Refused, match=f"{whole.name} has {end} bytes"):
        table.do("compact", table.path)
    assert table.read() == wanted
    table.do("compact", table.path, *RECOVER)
    assert table.read() == wanted
    (commit,) = (table.path / ".hoodie").glob("*.commit")
    stats = json.loads(commit.read_bytes())["partitionToWriteStats"][""]
    tail = end - starts[1]
    assert stats[0]["totalCorruptLogBlock"] == (1 if tail >= 6 else 0)


# ---- B30: deletes that come late ---------------------------------------------------------------

@pytest.mark.parametrize("compacts", [False, True])
@pytest.mark.parametrize("version,payload,stays", [(6, EVENT_TIME, True), (3, EVENT_TIME, False),
                                                   (6, LATEST, None)])
def test_a_late_delete_counts_by_its_ordering_value(table, version, payload, stays, compacts):
    """Of versions before 4 it has none, and wins by arrival."""
    make(table, version=version, payload=payload).write([row("a", 1), row("b", 1)])
    table.write([row("a", 10), row("b", 10)])
    table.write([row("a", 5, deleted=True)])
    table.write([row("b", 20, deleted=True)])
    found = table.read()
    if stays is not None:
        assert found == ([row("a", 10)] if stays else [])
    assert all(one["id"] != "b" for one in found)
    if compacts:
        table.do("compact", table.path)
        assert table.read() == found
    table.write([row("b", 30)])
    assert table.read() == [*found, row("b", 30)]
    table.verify()


@pytest.mark.parametrize("payload,stays", [(EVENT_TIME, True), (LATEST, False)])
def test_a_late_delete_of_a_copy_on_write_table(table, payload, stays):
    make(table, payload=payload, kind="COPY_ON_WRITE").write([row("a", 10), row("b", 10)])
    table.write([row("a", 5, deleted=True), row("b", 20, deleted=True)])
    assert table.read() == ([row("a", 10)] if stays else [])


# ---- B33: a key is found after a delete that lost ---------------------------------------------

@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_key_whose_delete_lost_is_updated_and_not_doubled(table, kind, index):
    options = {"hoodie.index.type": index}
    make(table, kind=kind).write([row("a", 1), row("b", 1)], options=options)
    table.write([row("a", 10)], options=options)
    table.write([row("a", 5, deleted=True)], options=options)
    assert table.read() == [row("a", 10), row("b", 1)]
    done = table.write([row("a", 20)], options=options)
    assert (done["inserts"], done["updates"]) == (0, 1)
    assert table.read() == [row("a", 20), row("b", 1)]
    table.verify()


@pytest.mark.parametrize("version", [3, 6])
def test_a_lost_log_file_is_of_the_write_that_made_it(table, version):
    """Not of the base file's, whose time is in its name."""
    make(table, version=version).write([row("a", 1), row("b", 1)])
    table.write([row("a", 10)])
    newest = max(path.name.split(".")[0] for path in (table.path / ".hoodie").glob("*.deltacommit"))
    [log] = table.path.rglob(".*.log.*")
    assert newest not in log.name
    log.unlink()
    told = run("verify", table.path)
    assert told.returncode == 1
    assert f"missing-file: {log.name}: instant {newest} wrote it" in told.stdout.decode()


@pytest.mark.parametrize("damage", ["gone", "cut"])
@pytest.mark.parametrize("number", range(4))
def test_each_lost_log_file_is_told_with_its_commit(table, number, damage):
    """Of the first, of ones between, and of the newest commit; not where the query does not read."""
    table.create("id string\nts long\np string\n", order_by="ts", partition_by="p",
                 options={"hoodie.datasource.write.table.type": "MERGE_ON_READ"})
    both = [{"id": "a", "ts": 1, "p": "x"}, {"id": "b", "ts": 1, "p": "y"}]
    table.write(both)
    instants = [table.write([dict(row, ts=i) for row in both])["instant"] for i in range(2, 6)]
    log, = table.path.glob(f"x/.*.log.{number + 1}_*")
    whole = log.read_bytes()
    log.unlink()
    if damage == "cut":
        log.write_bytes(whole[:-1])

    def warnings(*words):
        told = run("read", table.path, "--format", "jsonl", *words)
        assert told.returncode == 0
        return [line for line in told.stderr.decode().splitlines() if log.name in line and "its rows may be missing" in line]

    for words in ([], ["--where", "p = 'x'"]):
        line, = warnings(*words)
        assert instants[number] in line and str(len(whole)) in line
    assert warnings("--where", "p = 'y'") == []
    if number > 0:
        assert warnings("--as-of", instants[number - 1]) == []
    assert warnings("--read-optimized") == []
