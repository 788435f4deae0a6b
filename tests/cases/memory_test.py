# SPDX-License-Identifier: Apache-2.0
"""Writes that have less memory than their rows take: the outcome is that of plenty."""
import collections
import json
import pathlib
import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import ENVIRONMENT, PROGRAM, Refused

N = 24_000
TINY = {"libhudi.memory.budget.bytes": 2 << 20}
NOWHERE = {"hoodie.memory.spillable.map.path": "/nonexistent/folder"}
SCHEMA = "id string\npart string\nts long\nv string\nn int\n"


def rows(ids, round_number):
    """A third of the rows have no n; a note of some length, so that few fit into a budget."""
    return pa.table({
        "id": [f"key-{i:08d}" for i in ids],
        "part": [f"p{i % 3}" for i in ids],
        "ts": pa.array([round_number] * len(ids), pa.int64()),
        "v": [f"{round_number}-{i * 7919 % 1000003}-{'x' * (i % 60)}" for i in ids],
        "n": pa.array([None if i % 3 == 0 else i for i in ids], pa.int32())})


def shuffled(n, seed):
    ids = list(range(n))
    random.Random(seed).shuffle(ids)
    return ids


def expected(*tables):
    """The latest of each key."""
    latest = {}
    for table in tables:
        for row in table.to_pylist():
            latest[row["id"]] = row
    return sorted(latest.values(), key=lambda row: row["id"])


def test_an_upsert_through_disk_is_the_same(tables):
    first = rows(shuffled(N, 1), 1)
    second = rows(random.Random(2).sample(range(N + N // 2), N), 2)
    for memory in ({}, TINY):
        table = tables().create(SCHEMA, order_by="ts", partition_by="part")
        table.write(first, op="bulk_insert", options={"hoodie.parquet.max.file.size": 300_000})
        # Row groups of few rows: some are copied, some are not.
        told = table.write(second, options={**memory, "hoodie.parquet.block.size": 100_000})
        n_updates = sum(key < f"key-{N:08d}" for key in second.column("id").to_pylist())
        assert (told["updates"], told["inserts"]) == (n_updates, N - n_updates), memory
        assert table.read() == expected(first, second), memory
        deleted = second.select(["id", "part", "ts"]).slice(0, N // 2)
        told = table.write(deleted, op="delete", options=memory)
        assert told["deletes"] == N // 2, memory
        gone = set(deleted.column("id").to_pylist())
        assert table.read() == [row for row in expected(first, second) if row["id"] not in gone]
        table.verify()


def test_records_do_go_through_disk(table):
    table.create(SCHEMA, order_by="ts", partition_by="part")
    table.write(rows(shuffled(N, 1), 1), options=NOWHERE)
    with pytest.raises(Refused, match="/nonexistent/folder"):
        table.write(rows(shuffled(N, 2), 2), options={**TINY, **NOWHERE})


def test_merge_on_read_updates_through_disk(tables):
    first, second = rows(shuffled(N, 1), 1), rows(shuffled(N, 2)[:N // 2], 2)
    for memory in ({}, TINY):
        table = tables()
        try:
            table.create(SCHEMA, order_by="ts", partition_by="part",
                         options={"hoodie.table.type": "MERGE_ON_READ"})
            table.write(first, op="bulk_insert",
                        options={"hoodie.parquet.small.file.limit": 0})
            told = table.write(second, options={**memory, "hoodie.parquet.small.file.limit": 0})
        except Refused as refused:
            pytest.skip(str(refused))
        assert told["updates"] == N // 2, memory
        try:
            assert table.read() == expected(first, second), memory
        except Refused as refused:
            pytest.skip(str(refused))
        gone = second.slice(0, N // 4)
        table.write(gone.select(["id", "part", "ts"]), op="delete", options=memory)
        keys = set(gone.column("id").to_pylist())
        assert table.read() == [row for row in expected(first, second) if row["id"] not in keys]


def test_a_global_sort_through_disk_is_one_order(tables):
    first = rows(shuffled(N, 3), 1)
    options = {"hoodie.bulkinsert.sort.mode": "GLOBAL_SORT", "hoodie.parquet.max.file.size": 60_000,
               "hoodie.parquet.block.size": 30_000}
    for memory in ({}, TINY):
        table = tables().create(SCHEMA, order_by="ts")
        table.write(first, op="bulk_insert", options={**options, **memory})
        assert table.read() == expected(first), memory
        table.verify()
        files = sorted(pq.read_table(path, columns=["_hoodie_record_key"], partitioning=None)
                       .column(0).to_pylist() for path in table.base_files())
        assert memory == {} or len(files) > 1
        keys = [key for file in files for key in file]
        assert keys == sorted(keys), memory
    with pytest.raises(Refused, match="/nonexistent/folder"):
        table.write(first, op="bulk_insert", options={**options, **TINY, **NOWHERE})


def test_partitions_that_come_late_are_written_like_the_others(table):
    """Files are open while further partitions appear, more of them than files may be open."""
    n = 700_000
    ids = pa.array(range(n))
    input_rows = pa.table({"id": ids, "part": pa.array([f"p{i * 90 // n:02d}" for i in range(n)])})
    table.create("id long\npart string\n", partition_by="part")
    told = table.write(input_rows, op="bulk_insert")
    assert told["inserts"] == n
    counts = {}
    for path in table.base_files():
        counts[path.parent.name] = counts.get(path.parent.name, 0) + pq.read_metadata(path).num_rows
    parts = input_rows.column("part").to_pylist()
    assert counts == {part: parts.count(part) for part in sorted(set(parts))}


@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE_AFTER"])
def test_changes_through_disk_are_logged_the_same(tables, mode):
    n = N // 4
    first = rows(shuffled(n, 1), 1)
    second = rows(random.Random(2).sample(range(n + n // 2), n), 2)
    found = []
    for memory in ({}, {"libhudi.memory.budget.bytes": 1 << 20}):
        table = tables().create(SCHEMA, order_by="ts", partition_by="part", options={
            "hoodie.table.cdc.enabled": "true",
            "hoodie.table.cdc.supplemental.logging.mode": mode})
        table.write(first, op="bulk_insert")
        told = table.write(second, options=memory)
        text = table.do("read", table.path, "--changes", "--format", "jsonl")
        changes = [json.loads(line) for line in text.splitlines()]
        assert {change["op"] for change in changes} == {"i", "u"}

        def plain(image):
            row = json.loads(image) if image is not None else {}
            return sorted((k, str(v)) for k, v in row.items() if not k.startswith("_hoodie"))
        found.append(sorted((change["op"], plain(change["before"]), plain(change["after"]))
                            for change in changes if change["ts_ms"] == told["instant"]))
    assert len(found[0]) == n
    assert found[0] == found[1]
    with pytest.raises(Refused, match="/nonexistent/folder"):
        table.write(second, options={"libhudi.memory.budget.bytes": 1 << 20, **NOWHERE})


@pytest.mark.parametrize("memory", [{}, {"hoodie.memory.merge.max.size": 1 << 20}])
def test_combined_inserts_through_disk_fill_a_small_file_once(table, memory):
    first, second = rows(range(500), 1), rows(range(500, N), 2)
    table.create(SCHEMA, order_by="ts", partition_by="part")
    table.write(first, op="insert")
    told = table.write(second, op="insert", options={
        **memory, "hoodie.combine.before.insert": "true", "hoodie.copyonwrite.record.size.estimate": 30_000})
    assert told["inserts"] == N - 500
    assert table.read() == expected(first, second)
    table.verify()


MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(*words):
    """Bytes that the program had resident at most. A small process starts it: a child's peak begins with its
    parent's."""
    command = [sys.executable, "-I", "-S", "-c", MEASURE, PROGRAM, *map(str, words)]
    result = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT)
    return int(result.stdout.split()[-1])


def test_threads_do_not_take_more_than_the_budget_has(table):
    """An upsert of more than the budget into eight files, which eight threads would write at the same time."""
    n, ids = 120_000, range(120_000)

    def given(round_number):
        values = random.Random(round_number)
        return pa.table({
            "id": [f"key-{i * 7919 % n:012d}" for i in ids],
            "part": [f"p{i * 7919 % n % 8}" for i in ids],
            "ts": pa.array([round_number] * n, pa.int64()),
            "v": [values.randbytes(400).hex() for _ in ids]})
    table.create("id string\npart string\nts long\nv string\n", order_by="ts", partition_by="part")
    table.write(given(1), op="bulk_insert")
    path = table.folder / "in.parquet"
    pq.write_table(given(2), path)
    used = peak("write", table.path, path, "-o", "libhudi.memory.budget.bytes=67108864",
                "-o", "libhudi.threads=8")
    if b"__asan_init" not in pathlib.Path(PROGRAM).read_bytes(): # shadow memory counts there
        assert used < 256 << 20
    told = table.do("read", table.path, "--columns", "ts", "--format", "jsonl").split()
    assert collections.Counter(told) == {'{"ts":2}': n}


@pytest.mark.parametrize("op", ["bulk_insert", "upsert"])
@pytest.mark.parametrize("n_partitions", [4, 200])
def test_rows_of_many_partitions_in_turns_are_one_file_each(table, op, n_partitions):
    """More partitions than files may be open, and all of them in every chunk of rows."""
    n = 200_000
    rows_in = pa.table({
        "id": [f"key-{i:012d}" for i in range(n)],
        "part": [f"p{i * 7919 % n_partitions:03d}" for i in range(n)],
        "v": [f"{i * 104729 % 1299709:x}-{i * 7919 % 15485863:x}" for i in range(n)],
        **{f"n{c}": [(i * 7919 + c) % 1000003 for i in range(n)] for c in range(6)}})
    table.create("id string\npart string\nv string\n" + "".join(f"n{c} long\n" for c in range(6)),
                 partition_by="part")
    path = table.folder / "in.parquet"
    pq.write_table(rows_in, path)
    used = peak("write", table.path, path, "--op", op, "-o", "libhudi.memory.budget.bytes=67108864")
    if b"__asan_init" not in pathlib.Path(PROGRAM).read_bytes(): # shadow memory counts there
        assert used < 256 << 20
    counts = {}
    for file in table.base_files():
        assert file.parent.name not in counts
        counts[file.parent.name] = pq.read_metadata(file).num_rows
    parts = rows_in.column("part").to_pylist()
    assert counts == dict(collections.Counter(parts))
    table.verify()


def test_a_merge_of_more_keys_than_fit_gives_the_same_rows(table):
    """Long keys, so that few make many bytes: they are merged in parts, and the log file is not kept."""
    n = 300_000
    ids = [f"{i * 7919 % 1000003:09d}-{'k' * 150}-{i:09d}" for i in range(n)]
    table.create("id string\nts long\nv string\n", order_by="ts", options={"hoodie.table.type": "MERGE_ON_READ"})
    table.write(pa.table({"id": ids, "ts": [1] * n, "v": [f"old {i}" for i in range(n)]}), op="bulk_insert")
    table.write(pa.table({"id": ids[1000:], "ts": [i % 3 for i in range(1000, n)],
                          "v": [f"new {i * 104729 % 1299709:040d}" for i in range(1000, n)]}))
    table.write(pa.table({"id": ids[::50], "ts": [2] * (n // 50)}), op="delete")
    outcome = {}
    for budget in (1 << 30, 64 << 20, 24 << 20):
        path = table.folder / f"{budget}.parquet"
        used = peak("read", table.path, "--columns", "id,ts,v", "--output", path,
                    "-o", f"libhudi.memory.budget.bytes={budget}")
        outcome[budget] = pq.read_table(path).to_pydict()
        if budget < 1 << 30 and b"__asan_init" not in pathlib.Path(PROGRAM).read_bytes():
            assert used < 256 << 20, budget
    whole = outcome[1 << 30]
    assert len(whole["id"]) == n - n // 50
    for budget, rows_out in outcome.items():
        assert sorted(zip(*rows_out.values())) == sorted(zip(*whole.values())), budget
        assert (rows_out["id"] == whole["id"]) == (budget == 1 << 30), "in parts, or not"
