# SPDX-License-Identifier: Apache-2.0
"""`hudi cluster` from outside: on tables of the real Hudi, and on tables of ours."""
import datetime
import re

import pytest

from cli_test import FAILED, MISUSED, OK, ROWS, base_files, done, error, json_lines, lines, run, schema  # noqa: F401
from compact_test import difference, expect_same_values, row_groups, rows_of, state, unpack, without_file

SMALL = ["-o", "hoodie.parquet.small.file.limit=0"]


@pytest.fixture
def scattered(tmp_path, schema):  # noqa: F811
    """A copy-on-write table with three base files in each of two partitions."""
    path = tmp_path / "table"
    done("create", path, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region")
    for start in range(3):
        done("write", path, "-", "--format", "jsonl", "--op", "insert", *SMALL, stdin=lines(ROWS[start::3]))
    return path


def files_of(rows):
    return {row["_hoodie_file_name"] for row in rows}


@pytest.mark.parametrize("name,options", [
    ("spark-0.15.0-cow-part", ["--sort", "qty"]),
    ("spark-0.15.0-mor-avro", []),
    ("spark-0.15.0-mor-avro", ["--sort", "city,qty", "--layout", "hilbert"]),
    ("flink010-cow-append-insert", []),
    ("flink010-mor-logs", ["--sort", "age", "--layout", "z-order"]),
    ("spark-0.15.0-bulk-insert-modes", ["--sort", "qty"]),
])
def test_files_of_the_real_hudi_are_clustered_and_rows_stay(tmp_path, name, options):
    table = unpack(name, tmp_path)
    before = rows_of(table)
    result = run("cluster", table, "--json", *options)
    assert result.returncode == OK, result.stderr
    (ran,) = json_lines(result.stdout.decode())
    assert ran["state"] == "COMPLETED" and ran["rows"] > 0
    after = rows_of(table)
    assert difference(without_file(before), without_file(after)) == []
    assert len({slice["partition"] for slice in ran["slices"]}) <= ran["files"]
    assert run("verify", table).returncode == OK


def test_cluster_plans_lists_and_runs(scattered):
    before = rows_of(scattered)
    (planned,) = json_lines(run("cluster", scattered, "--dry-run", "--json").stdout.decode())
    assert len(planned["slices"]) == 6 and {slice["group"] for slice in planned["slices"]} == {0, 1}
    instant = done("cluster", scattered, "--schedule", "--sort", "qty").split("\t")[0]
    (pending,) = json_lines(done("cluster", scattered, "--pending", "--json"))
    assert (pending["instant"], pending["state"]) == (instant, "REQUESTED")
    assert run("cluster", scattered, "--schedule").stderr == b"nothing to cluster\n"

    # New rows may come meanwhile, updates may not.
    refused = run("write", scattered, "-", "--format", "jsonl", stdin=lines([{**ROWS[0], "name": "x"}]))
    assert refused.returncode == FAILED and b"pending clustering" in refused.stderr
    done("write", scattered, "-", "--format", "jsonl", stdin=lines([{**ROWS[0], "id": 100}]))
    (ran,) = json_lines(done("cluster", scattered, "--run", "--json"))
    assert (ran["instant"], ran["state"], ran["files"], ran["rows"]) == (instant, "COMPLETED", 2, 20)
    after = rows_of(scattered)
    assert difference(without_file(before), without_file([row for row in after if row["id"] != 100])) == []
    assert len(files_of(after)) == 3
    for name in {row["_hoodie_file_name"] for row in after}:
        quantities = [row["qty"] for row in after if row["_hoodie_file_name"] == name]
        assert quantities == sorted(quantities)
    assert "0 findings" in done("verify", scattered)
    done("write", scattered, "-", "--format", "jsonl", stdin=lines([{**row, "name": "after"} for row in ROWS]))
    assert sum(row["name"] == "after" for row in rows_of(scattered)) == 20
    error(MISUSED, "cluster", scattered, "--run", "--schedule")
    error(MISUSED, "cluster", scattered, "--run", "--instant", "20200101000000000")
    error(MISUSED, "cluster", scattered, "--sort", "nothing")
    error(MISUSED, "cluster", scattered, "--layout", "sideways")


@pytest.mark.parametrize("kind,one_file", [("cow", True), ("mor", True), ("mor", False)])
def test_row_groups_that_stay_in_order_are_copied_as_bytes(tmp_path, schema, kind, one_file):  # noqa: F811
    table, small = tmp_path / "table", ["-o", "hoodie.parquet.block.size=2000"]
    done("create", table, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region",
         "--type", kind)
    for first in (0, 400):
        parts = [tmp_path / f"part-{i}.jsonl" for i in range(8)] # a batch of each
        for i, part in enumerate(parts):
            part.write_bytes(lines([{"id": first + 50 * i + n, "name": f"name {first + n}", "region": "n", "qty": 1.0}
                                    for n in range(50)]))
        done("write", table, *parts, "--op", "insert", *small, *SMALL)
    old = list(table.rglob("*.parquet"))
    if kind == "mor": # one row group of the second file is touched
        done("write", table, "-", "--format", "jsonl", stdin=lines([{"id": 600, "name": "new", "region": "n", "qty": 2}]))
    before = rows_of(table)
    result = run("cluster", table, "--json", *small, "--target", 10**8 if one_file else 12000,
                 "-o", "hoodie.parquet.compression.ratio=0")
    assert result.returncode == OK, result.stderr
    (ran,) = json_lines(result.stdout.decode())
    assert (ran["rows"], ran["files"] > 1) == (800, not one_file)
    assert without_file(sorted(rows_of(table), key=lambda row: row["id"])) == \
        without_file(sorted(before, key=lambda row: row["id"]))
    content = b"".join(file.read_bytes() for file in table.rglob("*.parquet") if file not in old)
    old_groups = [group for file in old for group in row_groups(file)]
    assert len(old_groups) > 8
    copied = [all(chunk in content for chunk in chunks) for _, chunks in old_groups]
    assert copied == [kind == "cow" or "600" not in keys for keys, _ in old_groups]
    assert "0 findings" in done("verify", table)
    done("write", table, "-", "--format", "jsonl", stdin=lines([{"id": i, "name": "found", "region": "n", "qty": 3}
                                                                for i in range(0, 800, 10)]))
    assert len(rows_of(table)) == 800


def test_a_clustering_that_was_begun_is_run_again(scattered):
    before = rows_of(scattered)
    instant = done("cluster", scattered, "--schedule").split("\t")[0]
    (scattered / ".hoodie" / f"{instant}.replacecommit.inflight").touch()
    stray = scattered / "region=north" / f"00000000-aaaa-4fff-8fff-000000000000-0_0-0-0_{instant}.parquet"
    stray = stray if stray.parent.exists() else scattered / "north" / stray.name
    stray.write_bytes(b"PAR1")
    done("write", scattered, "-", "--format", "jsonl", *SMALL, stdin=lines([{**ROWS[0], "id": 100}]))
    result = run("cluster", scattered, "--run")
    assert result.returncode == OK and b"run again" in result.stderr
    assert not stray.exists()
    assert difference(without_file(before), without_file(row for row in rows_of(scattered) if row["id"] != 100)) == []
    assert "rollback" in {action for action, _ in state(scattered)}


def test_memory_that_is_too_small_does_not_change_the_order(scattered):
    rows = [{"id": i + 1000, "name": f"{i * 7919 % 5000:05}", "region": "north", "qty": 1.0} for i in range(5000)]
    done("write", scattered, "-", "--format", "jsonl", "--op", "insert", *SMALL, stdin=lines(rows))
    done("cluster", scattered, "--sort", "name", "-o", "libhudi.memory.budget.bytes=4194304")
    names = [row["name"] for row in rows_of(scattered, "--where", "region = 'north'")]
    assert names == sorted(names) and len(names) == 5010
    assert re.search(r"0 findings", done("verify", scattered))


def test_a_write_clusters_when_it_is_time(scattered):
    inline = ["-o", "hoodie.clustering.inline=true", "-o", "hoodie.clustering.inline.max.commits=5"]
    before = base_files(scattered)
    for i in range(2):
        done("write", scattered, "-", "--format", "jsonl", "--op", "insert", *SMALL, *inline,
             stdin=lines([{**ROWS[0], "id": 100 + i}]))
        assert ("replacecommit", "COMPLETED") in state(scattered) or i == 0
    rows = rows_of(scattered)
    assert len(rows) == 22 and len(files_of(rows)) == 2 and len(base_files(scattered)) > len(before)
    expect_same_values([row for row in rows if row["id"] < 100], ROWS)


def partitions_planned(table, *options):
    words = [word for option in options for word in ("-o", "hoodie.clustering.plan." + option)]
    result = run("cluster", table, "--dry-run", "--json", "--sort", "name", *words)
    assert result.returncode == OK, result.stderr
    return sorted({slice["partition"] for plan in json_lines(result.stdout.decode()) for slice in plan["slices"]})


def test_partitions_are_chosen_as_hudi_does(tmp_path, schema):  # noqa: F811
    table = tmp_path / "t"
    done("create", table, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region")
    names = [f"day={20240101 + i}" for i in range(30)]
    done("write", table, "-", "--format", "jsonl",
         stdin=lines([{"id": i, "name": "x", "region": name, "qty": 1.0} for i, name in enumerate(names)]))
    assert partitions_planned(table) == names
    assert partitions_planned(table, "strategy.partition.regex.pattern=day=2024010\\d") == names[:9]
    assert partitions_planned(table, "strategy.partition.regex.pattern=2024") == []
    listed = f"strategy.partition.selected={names[7]},none,{names[3]},{names[9]}"
    assert partitions_planned(table, listed) == [names[3], names[7], names[9]]
    assert partitions_planned(table, listed, "strategy.partition.regex.pattern=x") == [names[3], names[7], names[9]]
    recent = ["partition.filter.mode=RECENT_DAYS", "strategy.daybased.lookback.partitions=2",
              "strategy.daybased.skipfromlatest.partitions=1"]
    assert partitions_planned(table, *recent) == names[27:29]
    assert partitions_planned(table, *recent, "strategy.partition.regex.pattern=day=2024010.") == names[6:8]
    assert partitions_planned(table, *recent, listed) == [names[7], names[9]]  # of those listed, "none" is the latest
    between = ["partition.filter.mode=SELECTED_PARTITIONS", f"strategy.cluster.begin.partition={names[4]}"]
    assert partitions_planned(table, *between, f"strategy.cluster.end.partition={names[6]}") == names[4:7]
    assert partitions_planned(table, *between) == names[4:]
    hours, found = set(), None
    while len(hours) != 1:  # not while it strikes
        hours = {datetime.datetime.now().hour}
        found = partitions_planned(table, "partition.filter.mode=DAY_ROLLING")
        hours.add(datetime.datetime.now().hour)
    assert found == names[hours.pop()::24]
    assert "none of NONE" in error(MISUSED, "cluster", table, "-o",
                                   "hoodie.clustering.plan.partition.filter.mode=WEEKLY")
    assert "not understood" in error(FAILED, "cluster", table, "-o",
                                     "hoodie.clustering.plan.strategy.partition.regex.pattern=(?=a)")
