# SPDX-License-Identifier: Apache-2.0
"""`hudi compact` from outside: on tables of the real Hudi, whose rows must stay as the real Hudi reads them, and on
tables of ours."""
import json
import sys
import tarfile

import pyarrow.parquet
import pytest

from cli_test import MISUSED, OK, ROOT, ROWS, done, error, json_lines, lines, run, schema  # noqa: F401

sys.path.insert(0, str(ROOT / "tests" / "golden"))
from compare import difference, read_lines  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
# Pending compactions by their instant, then tables whose log files are to be merged.
PENDING = {"spark-0.15.0-mor-pending-compaction": "20261130142906101",
           "flink010-mor-pending-compaction": "20261130135725573",
           "flink010-mor-clean-archive": "20261130140105590"}
LOGS = ["spark-0.15.0-mor-avro", "spark-0.15.0-mor-parquet-logs", "spark-0.15.0-mor-logs-only",
        "spark-0.15.0-mor-nonpart", "spark-0.15.0-mor-bulk-insert", "spark-0.15.0-mor-bucket",
        "spark-0.15.0-rollback-mor", "spark-0.15.0-failed-mor", "spark-0.15.0-evolve-mor",
        "spark-0.15.0-payload-partial-mor", "spark-0.15.0-payload-default-mor", "spark-0.15.0-payload-latest-mor",
        "spark-0.15.0-no-ordering-mor", "flink010-mor-logs", "flink010-mor-deletes", "flink010-mor-types",
        "flink010-mor-multi-block", "flink010-mor-rollback", "flink010-mor-precombine-off"]


def unpack(name, folder):
    with tarfile.open(GOLDEN / f"{name}.tar.gz") as archive:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safe)
    return folder / name


def rows_of(table, *options):
    return read_lines(done("read", table, "--format", "jsonl", *options))


def without_file(rows):
    return [{name: value for name, value in row.items() if name != "_hoodie_file_name"} for row in rows]


def expected(name):
    return read_lines((GOLDEN / f"{name}.expected.jsonl").read_text(encoding="utf-8"))


def columns_alike(rows, like):
    """Only the columns that the expected rows have, but for the file's name."""
    names = set(like[0]) - {"_hoodie_file_name"}
    return [{name: row.get(name) for name in names} for row in rows]


def check_rows(name, before, table):
    after, wanted = rows_of(table), expected(name)
    assert difference(without_file(before), without_file(after)) == []
    floats = ("f", "c_float") if name == "flink010-mor-types" else ()
    if name != "flink010-mor-types": # its 32-bit floats are told in their shortest form
        assert difference(columns_alike(wanted, wanted), columns_alike(after, wanted), floats) == []
    files = {path.name for path in table.rglob("*.parquet")}
    return [row for row in after if row["_hoodie_file_name"] in files]


@pytest.mark.parametrize("name", PENDING)
def test_a_plan_of_the_real_hudi_is_run_and_rows_stay(tmp_path, name):
    table = unpack(name, tmp_path)
    (pending,) = json_lines(run("compact", table, "--pending", "--json").stdout.decode())
    assert pending["instant"] == PENDING[name]
    before = rows_of(table)
    result = run("compact", table, "--run", "--json")
    assert result.returncode == OK, result.stderr
    (ran,) = json_lines(result.stdout.decode())
    assert (ran["instant"], ran["state"]) == (PENDING[name], "COMPLETED")
    assert ran["files"] == len(ran["slices"]) > 0
    check_rows(name, before, table)
    assert (table / ".hoodie" / f"{PENDING[name]}.commit").exists()
    assert run("compact", table, "--pending").stdout == b""
    assert run("verify", table).returncode == OK


@pytest.mark.parametrize("name", LOGS)
def test_log_files_of_the_real_hudi_are_merged_and_rows_stay(tmp_path, name):
    table = unpack(name, tmp_path)
    before = rows_of(table)
    result = run("compact", table, "--json")
    assert result.returncode == OK, result.stderr
    (ran,) = json_lines(result.stdout.decode())
    in_base = check_rows(name, before, table)
    assert len(in_base) >= ran["rows"] > 0
    assert len(rows_of(table, "--read-optimized")) == len(before)
    assert run("verify", table).returncode == OK
    assert run("compact", table).stdout == b""


def test_an_inflight_compaction_of_the_real_hudi_is_run_again(tmp_path):
    name = "spark-0.15.0-mor-pending-compaction"
    table = unpack(name, tmp_path)
    before = rows_of(table)
    instant = PENDING[name]
    (table / ".hoodie" / f"{instant}.compaction.inflight").touch()
    stray = table / "north" / f"3934e0fa-1518-4364-94ad-bd64f813da73-0_7-8-9_{instant}.parquet"
    stray.write_bytes(b"PAR1")
    result = run("compact", table, "--run")
    assert result.returncode == OK, result.stderr
    assert not stray.exists()
    check_rows(name, before, table)
    actions = {entry["action"] for entry in json_lines(done("timeline", table, "--json"))}
    assert "rollback" in actions


@pytest.fixture
def logged(tmp_path, schema):  # noqa: F811
    """A merge-on-read table with a base file and two log files in each of two partitions."""
    path = tmp_path / "table"
    done("create", path, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region",
         "--type", "mor")
    for name in ("one", "two", "three"):
        done("write", path, "-", "--format", "jsonl", stdin=lines([{**row, "name": name} for row in ROWS]))
    return path


def state(table):
    return [(entry["action"], entry["state"]) for entry in json_lines(done("timeline", table, "--json"))]


def test_compact_plans_lists_and_runs(logged):
    before = rows_of(logged)
    (planned,) = json_lines(run("compact", logged, "--dry-run", "--json").stdout.decode())
    assert (planned["instant"], planned["state"], len(planned["slices"])) == ("", "REQUESTED", 2)
    assert {len(slice["log_files"]) for slice in planned["slices"]} == {2}
    assert planned["bytes"] > 0
    assert done("compact", logged, "--pending", "--json") == ""

    instant = done("compact", logged, "--schedule").split("\t")[0]
    (pending,) = json_lines(done("compact", logged, "--pending", "--json"))
    assert (pending["instant"], pending["slices"]) == (instant, planned["slices"])
    assert run("compact", logged, "--schedule").stderr == b"nothing to compact\n"
    assert rows_of(logged) == before

    # Writes go on, and lie on what the compaction will make.
    done("write", logged, "-", "--format", "jsonl", stdin=lines([{**ROWS[0], "name": "while pending"}]))
    assert any(f"_{instant}.log." in path.name for path in logged.rglob(".*.log.*"))
    after = [{**row, "name": "while pending"} if row["id"] == 0 else row for row in before]
    expect_same_values(rows_of(logged), after)

    error(MISUSED, "compact", logged, "--run", "--instant", "20200101000000000")
    (ran,) = json_lines(done("compact", logged, "--run", "--instant", instant, "--json"))
    assert (ran["instant"], ran["state"], ran["files"], ran["rows"]) == (instant, "COMPLETED", 2, 20)
    expect_same_values(rows_of(logged), after)
    assert {row["name"] for row in rows_of(logged, "--read-optimized")} == {"three"}
    assert "0 findings" in done("verify", logged)

    assert "COMPLETED\t1 file slices" in done("compact", logged)
    expect_same_values(rows_of(logged), after)
    expect_same_values(rows_of(logged, "--read-optimized"), after)
    assert run("compact", logged).stderr == b"nothing to compact\n"
    error(MISUSED, "compact", logged, "--run", "--schedule")
    error(MISUSED, "compact", logged, "--instant", instant)


def expect_same_values(rows, wanted):
    def values(of):
        return sorted((row["id"], row["name"], row["region"], row["qty"]) for row in of)
    assert values(rows) == values(wanted)


def row_groups(file):
    """Of each row group: the keys, and the bytes of the chunks of all columns but the file's name."""
    data, read = file.read_bytes(), pyarrow.parquet.ParquetFile(file)
    for number in range(read.num_row_groups):
        chunks = [read.metadata.row_group(number).column(i) for i in range(read.metadata.num_columns)]
        starts = [min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
                  for chunk in chunks]
        yield (read.read_row_group(number, ["_hoodie_record_key"])[0].to_pylist(),
               [data[start:start + chunk.total_compressed_size] for start, chunk in zip(starts, chunks)
                if chunk.path_in_schema != "_hoodie_file_name"])


# Which rows of 400 are changed, whether keys come in order, and what is done to them.
CHANGED = {"one in the midst": ([200], True, "upsert"), "the first ones": (range(20), True, "upsert"),
           "the last ones": (range(380, 400), True, "delete"), "new ones beyond": (range(1000, 1020), True, "upsert"),
           "new ones between": (range(5000, 5010), True, "upsert"), "one of an unordered file": ([7], False, "upsert"),
           "two of an unordered file": ([3, 77], False, "delete"), "all": (range(400), True, "upsert"),
           "none that is there": (range(9000, 9003), False, "delete")}


@pytest.mark.parametrize("name", CHANGED)
def test_row_groups_that_no_log_record_touches_are_copied_as_bytes(tmp_path, schema, name):  # noqa: F811
    ids, ordered, operation = CHANGED[name]
    table, small = tmp_path / "table", ["-o", "hoodie.parquet.block.size=2000"]
    rows = [{"id": i if ordered else i * 331 % 400, "name": f"name {i}", "region": "n", "qty": 1.0}
            for i in range(400)]
    done("create", table, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region",
         "--type", "mor")
    parts = [tmp_path / f"part-{i}.jsonl" for i in range(8)] # a batch of each
    for i, part in enumerate(parts):
        part.write_bytes(lines(rows[50 * i:50 * (i + 1)]))
    done("write", table, *parts, "--op", "insert", *small)
    changes = [{"id": i, "name": "changed", "region": "n", "qty": 2.0} for i in ids]
    done("write", table, "-", "--format", "jsonl", "--op", operation, "-o", "hoodie.parquet.small.file.limit=0",
         stdin=lines(changes))
    before = rows_of(table)
    (old,) = [file for file in table.rglob("*.parquet") if len(pyarrow.parquet.read_table(file)) == 400]
    old_groups = list(row_groups(old))
    assert len(old_groups) > 4
    result = run("compact", table, *small)
    if result.stderr == b"nothing to compact\n": # what is new has gone to a file of its own
        assert name.startswith("new") or name.startswith("none")
        return
    assert result.returncode == OK, result.stderr
    after = rows_of(table)
    assert without_file(after) == without_file(before)
    (new,) = [file for file in table.rglob("*.parquet") if file != old]
    assert {row["_hoodie_file_name"] for row in after} == {new.name}
    content = new.read_bytes()
    copied = [all(chunk in content for chunk in chunks) for _, chunks in old_groups]
    touched = [not {str(i) for i in ids}.isdisjoint(keys) for keys, _ in old_groups]
    assert [a != b for a, b in zip(copied, touched)] == [True] * len(old_groups)
    assert "0 findings" in done("verify", table)


def test_a_copy_on_write_table_is_not_compacted(tmp_path, schema):  # noqa: F811
    table = tmp_path / "cow"
    done("create", table, "--schema", schema, "--key", "id")
    assert "no log files" in error(MISUSED, "compact", table)


@pytest.mark.parametrize("version, operation", [(3, "UNKNOWN"), (4, "COMPACT"), (6, "COMPACT")])
def test_a_compaction_says_its_operation_as_the_release_of_the_table_does(tmp_path, schema, version,  # noqa: F811
                                                                          operation):
    table = tmp_path / "t"
    done("create", table, "--schema", schema, "--key", "id", "--type", "mor",
         "-o", f"hoodie.write.table.version={version}")
    for _ in range(2):
        done("write", table, "-", stdin=lines(ROWS))
    done("compact", table)
    [commit] = (path.read_text() for path in (table / ".hoodie").glob("*.commit"))
    assert json.loads(commit)["operationType"] == operation


def test_compact_waits_until_it_is_time_when_told_so(logged):
    assert run("compact", logged, "--commits", 4).stderr == b"nothing to compact\n"
    assert "COMPLETED" in done("compact", logged, "--commits", 3)


def test_a_write_compacts_when_it_is_time(logged):
    inline = ["-o", "hoodie.compact.inline=true", "-o", "hoodie.compact.inline.max.delta.commits=4"]
    one = lines([{**ROWS[0], "name": "x"}])
    done("write", logged, "-", "--format", "jsonl", *inline, stdin=one)
    assert [one for one in state(logged) if one[0] in ("commit", "compaction")] == [("commit", "COMPLETED")]
    done("write", logged, "-", "--format", "jsonl", *inline, stdin=one)
    assert sum(action == "commit" for action, _ in state(logged)) == 1
    assert len(rows_of(logged)) == 20


def test_services_that_are_switched_off_do_not_run(logged):
    inline = ["-o", "hoodie.compact.inline=true", "-o", "hoodie.compact.inline.max.delta.commits=1",
              "-o", "hoodie.table.services.enabled=false"]
    before = state(logged)
    done("write", logged, "-", "--format", "jsonl", *inline, stdin=lines([{**ROWS[0], "name": "x"}]))
    assert state(logged) == [*before, ("deltacommit", "COMPLETED")]


def test_a_compaction_that_fails_behind_a_write_is_told_and_the_write_stays(logged):
    inline = ["-o", "hoodie.compact.inline=true", "-o", "hoodie.compact.inline.max.delta.commits=1",
              "-o", "hoodie.compaction.strategy=org.acme.Nothing"]
    write = ["write", logged, "-", "--format", "jsonl", *inline]
    before = state(logged)
    result = run(*write, stdin=lines([{**ROWS[0], "id": 100}]))
    assert result.returncode == 1
    message = result.stderr.decode()
    assert "the write is committed, but the compaction after it is not: " in message and "org.acme.Nothing" in message
    assert b": 1 inserted" in result.stdout
    assert state(logged) == [*before, ("deltacommit", "COMPLETED")]
    assert len(rows_of(logged)) == 21

    result = run(*write, "-o", "hoodie.fail.writes.on.inline.table.service.exception=false",
                 stdin=lines([{**ROWS[0], "id": 101}]))
    assert result.returncode == OK and b": 1 inserted" in result.stdout and b"org.acme.Nothing" in result.stderr
    assert len(rows_of(logged)) == 22


def test_a_write_plans_a_compaction_when_it_is_time(logged):
    plans = ["-o", "hoodie.compact.schedule.inline=true", "-o", "hoodie.compact.inline.max.delta.commits=2"]
    one = lines([{**ROWS[0], "name": "x"}])
    for _ in range(2):
        done("write", logged, "-", "--format", "jsonl", *plans, stdin=one)
        assert [one for one in state(logged) if one[0] == "compaction"] == [("compaction", "REQUESTED")]
    assert done("compact", logged, "--run").count("COMPLETED") == 1
    assert len(rows_of(logged)) == 20


# ---- log compaction -----------------------------------------------------------------------------

def log_versions(table):
    return sorted(int(path.name.split(".log.")[1].split("_")[0]) for path in table.rglob(".*.log.*"))


def blocks_of(table):
    """Headers of all blocks of the newest log file of each slice."""
    newest = {}
    for path in table.rglob(".*.log.*"):
        slice_name, version = path.name.split(".log.")
        newest[slice_name] = max(newest.get(slice_name, (0, None)), (int(version.split("_")[0]), path))
    return [block for _, path in newest.values() for block in json_lines(done("log", path, "--json"))]


@pytest.fixture
def many_logs(logged):
    """Six log files in each of two partitions: updates, deletes, and a row that came back."""
    for i, operation in enumerate(("upsert", "delete", "upsert", "delete")):
        rows = [{**row, "name": f"round {i}", "qty": 100.0 + i} for row in ROWS if row["id"] % 5 <= i]
        done("write", logged, "-", "--format", "jsonl", "--op", operation, stdin=lines(rows[:4 + i]))
    assert log_versions(logged) == sorted([1, 2, 3, 4, 5, 6] * 2)
    return logged


def test_log_files_become_one_and_rows_stay(many_logs):
    before = rows_of(many_logs)
    assert 0 < len(before) < 20
    bases = {path.name for path in many_logs.rglob("*.parquet")}
    (planned,) = json_lines(run("compact", many_logs, "--logs", "--dry-run", "--json").stdout.decode())
    assert [len(slice["log_files"]) for slice in planned["slices"]] == [6, 6]
    instant = done("compact", many_logs, "--logs", "--schedule").split("\t")[0]
    assert (many_logs / ".hoodie" / f"{instant}.logcompaction.requested").exists()
    assert rows_of(many_logs) == before
    (ran,) = json_lines(done("compact", many_logs, "--logs", "--run", "--json"))
    assert (ran["instant"], ran["state"], ran["files"]) == (instant, "COMPLETED", 2)
    assert (many_logs / ".hoodie" / f"{instant}.deltacommit").exists()
    assert rows_of(many_logs) == before
    assert {path.name for path in many_logs.rglob("*.parquet")} == bases
    assert log_versions(many_logs) == sorted([1, 2, 3, 4, 5, 6, 7] * 2)
    headers = [block["header"] for block in blocks_of(many_logs)]
    assert {len(header["COMPACTED_BLOCK_TIMES"].split(",")) for header in headers} == {6}
    assert {header["INSTANT_TIME"] for header in headers} == {instant}
    # What came before is the same, and what comes later lies on top.
    assert run("compact", many_logs, "--logs", "--blocks", 100).stderr == b"nothing to compact\n"
    done("write", many_logs, "-", "--format", "jsonl", stdin=lines([{**ROWS[4], "name": "later", "qty": 200.0}]))
    after = [{**row, "name": "later", "qty": 200.0} if row["id"] == 4 else row for row in before]
    expect_same_values(rows_of(many_logs), after)
    assert "0 findings" in done("verify", many_logs)
    # The blocks that were compacted are compacted again, and at last go into base files.
    (again,) = json_lines(done("compact", many_logs, "--logs", "--json"))
    assert again["files"] == 2
    expect_same_values(rows_of(many_logs), after)
    assert "COMPLETED\t2 file slices" in done("compact", many_logs)
    expect_same_values(rows_of(many_logs), after)
    expect_same_values(rows_of(many_logs, "--read-optimized"), after)


def test_a_log_compaction_is_rolled_back_and_the_blocks_count_again(many_logs):
    before = rows_of(many_logs)
    instant = done("compact", many_logs, "--logs").split("\t")[0]
    done("rollback", many_logs, instant)
    assert rows_of(many_logs) == before
    assert not (many_logs / ".hoodie" / f"{instant}.deltacommit").exists()
    assert "COMPLETED" in done("compact", many_logs, "--logs")
    assert rows_of(many_logs) == before


def test_a_log_compaction_that_did_not_end_is_planned_anew(many_logs):
    before = rows_of(many_logs)
    instant = done("compact", many_logs, "--logs", "--schedule").split("\t")[0]
    (many_logs / ".hoodie" / f"{instant}.logcompaction.inflight").touch()
    result = run("compact", many_logs, "--logs")
    assert result.returncode == OK and b"rolled back" in result.stderr
    assert not (many_logs / ".hoodie" / f"{instant}.logcompaction.requested").exists()
    assert result.stdout.startswith(b"2") and instant.encode() not in result.stdout
    assert rows_of(many_logs) == before


def test_a_slice_that_was_written_to_after_the_plan_is_left_as_it_is(many_logs):
    done("compact", many_logs, "--logs", "--schedule")
    done("write", many_logs, "-", "--format", "jsonl", stdin=lines([{**ROWS[4], "name": "later", "qty": 200.0}]))
    before = rows_of(many_logs)
    result = run("compact", many_logs, "--logs", "--run", "--json")
    (ran,) = json_lines(result.stdout.decode())
    assert (ran["state"], ran["files"]) == ("COMPLETED", 1)
    assert rows_of(many_logs) == before
    assert "0 findings" in done("verify", many_logs)


def test_blocks_count_where_log_files_are_few(logged):
    append = ["-o", "libhudi.log.append.enable=true"]
    for i in range(3):
        done("write", logged, "-", "--format", "jsonl", *append, stdin=lines([{**row, "name": f"{i}"} for row in ROWS]))
    before = rows_of(logged)
    assert len(log_versions(logged)) < 10
    assert run("compact", logged, "--logs", "--blocks", 6).stderr == b"nothing to compact\n"
    assert "2 log files written" in done("compact", logged, "--logs", "--blocks", 5)
    assert rows_of(logged) == before


def test_a_write_compacts_log_files_when_it_is_time(many_logs):
    before = rows_of(many_logs)
    done("write", many_logs, "-", "--format", "jsonl", "-o", "hoodie.log.compaction.inline=true",
         stdin=lines([{**ROWS[4], "name": "later", "qty": 200.0}]))
    assert max(log_versions(many_logs)) == 8
    after = [{**row, "name": "later", "qty": 200.0} if row["id"] == 4 else row for row in before]
    expect_same_values(rows_of(many_logs), after)


def test_log_files_of_tables_that_have_none_are_not_compacted(tmp_path, schema):  # noqa: F811
    table = tmp_path / "cow"
    done("create", table, "--schema", schema, "--key", "id")
    assert "no log files" in error(MISUSED, "compact", table, "--logs")


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("spark")] +
                         ["spark-0.15.0-mor-pending-compaction"])
def test_log_files_of_the_real_hudi_become_one_and_rows_stay(tmp_path, name):
    table = unpack(name, tmp_path)
    before = rows_of(table)
    result = run("compact", table, "--logs", "--blocks", 1, "--json")
    assert result.returncode == OK, result.stderr
    for ran in json_lines(result.stdout.decode()):
        assert ran["state"] == "COMPLETED"
    assert rows_of(table) == before
    assert run("verify", table).returncode == OK
    assert run("compact", table).returncode == OK
    assert difference(without_file(before), without_file(rows_of(table))) == []


def test_writers_of_several_processes_go_on_while_a_log_compaction_is_planned(many_logs):
    several = ["-o", "hoodie.write.concurrency.mode=optimistic_concurrency_control", "-o",
               "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"]
    before = rows_of(many_logs)
    instant = done("compact", many_logs, "--logs", "--schedule", *several).split("\t")[0]
    done("write", many_logs, "-", "--format", "jsonl", *several,
         stdin=lines([{**ROWS[4], "name": "later", "qty": 200.0}]))
    after = [{**row, "name": "later", "qty": 200.0} if row["id"] == 4 else row for row in before]
    expect_same_values(rows_of(many_logs), after)
    (ran,) = json_lines(run("compact", many_logs, "--logs", "--run", "--json", *several).stdout.decode())
    assert (ran["instant"], ran["state"], ran["files"]) == (instant, "COMPLETED", 1)
    expect_same_values(rows_of(many_logs), after)
    assert "0 findings" in done("verify", many_logs)
