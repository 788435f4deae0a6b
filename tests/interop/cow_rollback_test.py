# SPDX-License-Identifier: Apache-2.0
"""A write that died is undone by whoever writes next: ours by the real Hudi, the real Hudi's by us."""
import json
import signal
import subprocess
import time

import pytest

from cow_tables import Table, row, rows
from peers import difference


def data_of(got):
    return [{key: value for key, value in one.items() if not key.startswith("_hoodie_")} for one in got]


def pending(table):
    """Instants of the timeline that did not complete."""
    names = [path.name for path in (table / ".hoodie").iterdir() if path.name[:4].isdigit()]
    done = {name.partition(".")[0] for name in names if name.count(".") == 1 and not name.endswith(".inflight")}
    return {name.partition(".")[0] for name in names} - done


def base_files(table, instant):
    return [path for path in table.rglob(f"*_{instant}.parquet") if not path.name.startswith(".")]


def kill_a_write(hudi, table, given, *options, files="*.parquet"):
    """Run a write and kill it when it has made the first of its files, base files if not said; the instant it
    leaves."""
    source = table.with_name("killed.jsonl")
    source.write_text("".join(json.dumps(one) + "\n" for one in given), encoding="utf-8")
    before = set(table.rglob(files))
    process = subprocess.Popen([hudi.program, "write", table, source, *options], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while process.poll() is None and not set(table.rglob(files)) - before:
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = pending(table)
    assert len(left) == 1, "the write was done before it could be killed"
    assert set(table.rglob(files)) - before
    return left.pop()


def many(numbers, version):
    """Rows over 100 partitions, so that a write makes 100 files."""
    return [row(i, version, p=f"p{i % 100:02}") for i in numbers]


@pytest.mark.parametrize("reader,op", [("spark015", "insert"), ("spark015", "upsert"), ("spark11", "bulk_insert")])
def test_hudi_undoes_our_killed_write(request, hudi, tmp_path, reader, op):
    peer = request.getfixturevalue(reader)
    table = tmp_path / "t"
    Table().make(hudi, table, 6)
    first = many(range(5), 1)
    hudi.write(table, first, "--op", "insert")
    killed = many(range(0 if op == "upsert" else 5, 20000), 2)
    instant = kill_a_write(hudi, table, killed, "--op", op)
    assert base_files(table, instant)
    assert difference(first, data_of(peer.read(table))) == []
    last = [row(500, 3, p="p00")]
    peer.write(table, last, "upsert")
    assert pending(table) == set()
    assert base_files(table, instant) == []
    assert difference(first + last, data_of(peer.read(table))) == []
    assert difference(peer.read(table), hudi.read(table)) == []
    hudi.write(table, [row(501, 3, p="p01")])
    hudi.run("verify", table)
    assert difference(hudi.read(table), peer.read(table)) == []


def test_we_undo_a_failed_write_of_hudi(spark015, hudi, golden):
    table = golden("spark-0.15.0-failed-cow")
    before = hudi.read(table)
    (instant,) = pending(table)
    changed = {key: value for key, value in before[0].items() if not key.startswith("_hoodie_")}
    changed.update(name="changed by us", ts=changed["ts"] + 10**9)
    hudi.write(table, [changed], "--op", "upsert")
    assert pending(table) == set()
    assert base_files(table, instant) == []
    ours = hudi.read(table)
    assert difference([changed] + data_of(before[1:]), data_of(ours)) == []
    assert difference(ours, spark015.read(table)) == []
    spark015.write(table, [{**changed, "name": "changed by Spark", "ts": changed["ts"] + 1}], "upsert")
    ours = hudi.read(table)
    assert [one["name"] for one in ours if one["id"] == changed["id"]] == ["changed by Spark"]
    assert difference(ours, spark015.read(table)) == []
    hudi.run("verify", table)


def test_we_undo_our_own_killed_write(hudi, tmp_path):
    table = tmp_path / "t"
    Table().make(hudi, table, 6)
    first = rows(range(30), 1)
    hudi.write(table, first, "--op", "insert")
    instant = kill_a_write(hudi, table, many(range(20000), 2), "--op", "insert")
    last = [row(40, 3)]
    hudi.write(table, last)
    assert pending(table) == set()
    assert base_files(table, instant) == []
    assert difference(first + last, data_of(hudi.read(table))) == []
