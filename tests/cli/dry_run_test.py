# SPDX-License-Identifier: Apache-2.0
"""Dry runs of `hudi rollback`, `restore` and `savepoint`: they change nothing, and say what the command then does."""
import re
import shutil

import pytest

from cli_test import MISUSED, OK, done, error, json_lines, run, schema  # noqa: F401
from compact_test import unpack
from failed_writes_test import killed_write
from undo_test import GOLDEN, Table

FAILED = ["spark-0.15.0-failed-cow", "spark-0.15.0-rollback-cow", "flink010-cow-failed-inflight",
          "flink010-mor-failed-inflight", "spark-0.15.0-failed-mor", "spark-1.1.1-failed-mor"]


def everything(table):
    """Each file and folder, with its bytes and the time of its last change."""
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
            for path in [table, *table.rglob("*")]}


def data_files(table):
    return {str(path.relative_to(table)) for path in table.rglob("*")
            if path.is_file() and ".hoodie" not in path.relative_to(table).parts
            and ".hoodie_partition_metadata" not in path.name and not path.name.endswith(".crc")}


def instants(table):
    return [(entry["time"], entry["action"], entry["state"]) for entry in json_lines(done("timeline", table, "--json"))]


def names(listed):
    return [f"{path}/{name}" if path else name for path, files in listed.items() for name in files]


def slices(log_files):
    """Partition, file id and base instant of log files, sorted."""
    return sorted(re.fullmatch(r"(.*?)\.([^/]+)_([0-9]+)\.log\.[0-9]+.*", name).groups() for name in log_files)


def dry_run(table, command, instant, *options):
    """The document, or None and the error when it is refused; nothing has changed."""
    before = everything(table)
    result = run(command, table, instant, "--dry-run", "--json", *options)
    text = run(command, table, instant, "--dry-run", *options)
    assert everything(table) == before
    assert text.returncode == result.returncode
    if result.returncode != OK:
        assert result.stdout == b""
        return None, result
    (said,) = json_lines(result.stdout.decode())
    assert (said["instant"], said["dry_run"]) == (instant, True)
    for total in ("files", "bytes", "rollback_blocks"):
        assert said[total] == sum(one[total] for one in said["instants"])
    for one in said["instants"]:
        files, logs = names(one["partitions"]), names(one["log_files"])
        assert (one["files"], one["rollback_blocks"]) == (len(files), len(logs))
        assert one["bytes"] == sum((table / file).stat().st_size for file in files)
        assert set(files + logs) <= data_files(table)
        for file in files:
            assert file in text.stdout.decode().splitlines()
        for log in logs:
            assert f"{log}\trollback block" in text.stdout.decode().splitlines()
    assert len(text.stdout.splitlines()) == said["files"] + said["rollback_blocks"]
    return said, result


def errors(result):
    return [line for line in result.stderr.decode().splitlines() if not line.startswith("hudi: note: ")]


def expect_same(table, command, instant, begun=False):
    """Run it dry, then for good: what was said is what is done, and what is refused is refused. The document."""
    said, refused = dry_run(table, command, instant)
    files, before = data_files(table), instants(table)
    result = run(command, table, instant, "--json")
    assert result.returncode == refused.returncode, result.stderr
    if said is None:
        assert errors(result) == errors(refused)
        assert begun or data_files(table) == files # what was begun is finished before anything is refused
        return None
    listed = [file for one in said["instants"] for file in names(one["partitions"])]
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted(files - data_files(table))
    logs = [log for one in said["instants"] for log in names(one["log_files"])]
    assert slices(logs) == slices(data_files(table) - files)
    gone = {time for time, action, _ in before if action not in ("rollback", "restore")} - \
        {time for time, _, _ in instants(table)}
    assert gone <= {one["instant"] for one in said["instants"]}
    if command == "restore":
        assert {one["instant"] for one in said["instants"] if one["state"]} == gone
    (did,) = json_lines(result.stdout.decode())
    assert (did["command"], did["instant"], did["dry_run"]) == (command, instant, False)
    return said


@pytest.mark.parametrize("name", sorted({*GOLDEN, *FAILED}))
def test_of_tables_of_the_real_hudi_each_instant_is_undone_as_said(tmp_path, name):
    original = unpack(name, tmp_path)
    n_told = 0
    for number, (time, _, _) in enumerate(instants(original)):
        for command in ("rollback", "restore"):
            table = tmp_path / f"{command}{number}" / name
            shutil.copytree(original, table)
            n_told += expect_same(table, command, time) is not None
    assert n_told > 0 or name.startswith("spark-1.")


@pytest.mark.parametrize("name", ["spark-0.15.0-failed-mor", "spark-0.15.0-mor-pending-compaction", "spark-0.15.0-cluster-cow"])
@pytest.mark.parametrize("command", ["rollback", "restore"])
def test_what_was_begun_and_killed_is_part_of_it(tmp_path, name, command):
    original = unpack(name, tmp_path)
    n_begun = 0
    for number, (time, _, _) in enumerate(instants(original)):
        other = tmp_path / f"done{number}" / name
        shutil.copytree(original, other)
        before = {path.name for path in (other / ".hoodie").iterdir()}
        if run(command, other, time).returncode != OK:
            continue
        begun = [path for path in (other / ".hoodie").iterdir()
                 if path.name not in before and path.name.endswith((f".{command}.requested", f".{command}.inflight"))]
        for again in ("rollback", "restore"):
            for target, (of, _, _) in enumerate(instants(original)[-3:]):
                table = tmp_path / f"begun{number}{again}{target}" / name
                shutil.copytree(original, table)
                for path in begun: # the plan, and nothing of it done
                    shutil.copy(path, table / ".hoodie")
                expect_same(table, again, of, begun=True)
                shutil.rmtree(table) # there are many
        n_begun += bool(begun)
    assert n_begun > 0


@pytest.fixture
def logged(tmp_path, schema):  # noqa: F811
    return Table(tmp_path / "t", schema, "mor")


def test_a_restore_over_compactions_a_clustering_and_a_dead_writer(logged, tmp_path):
    targets = [logged.write(), logged.write(every=2)]
    logged.run("compact")
    targets.append(logged.write(every=3))
    logged.run("compact", "--schedule")
    targets.append(logged.write(every=2))
    dead = killed_write(logged.path)
    told = []
    for number, target in enumerate(targets):
        copy = tmp_path / str(number) / "t"
        shutil.copytree(logged.path, copy)
        told.append(expect_same(copy, "restore", target))
    assert all(dead in [one["instant"] for one in said["instants"]] for said in told[:-1])
    assert [len(said["instants"]) for said in told] == sorted((len(said["instants"]) for said in told), reverse=True)
    assert told[0]["files"] > 0
    assert told[-1]["files"] == 0 or dead in [one["instant"] for one in told[-1]["instants"]]

    assert expect_same(logged.path, "rollback", dead)["instants"][0]["instant"] == dead
    said = expect_same(logged.path, "rollback", targets[-1])
    assert [one["instant"] for one in said["instants"]] == [targets[-1]]


def test_a_rollback_block_is_told_by_its_log_file(logged):
    first = logged.write()
    second = logged.write(every=2)
    (one,) = expect_same(logged.path, "rollback", second)["instants"]
    assert (one["instant"], one["action"], one["state"]) == (second, "deltacommit", "COMPLETED")
    assert one["files"] + one["rollback_blocks"] > 0
    nothing = run("restore", logged.path, first, "--dry-run")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (OK, b"", b"nothing to undo\n")
    assert expect_same(logged.path, "restore", first)["instants"] == []


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_a_savepoint_keeps_what_its_dry_run_lists(tmp_path, schema, kind):  # noqa: F811
    table = Table(tmp_path / "t", schema, kind)
    target = table.write()
    table.write(every=2)
    for options in [], ["--delete"]:
        said, refused = dry_run(table.path, "savepoint", target, *options)
        if options: # none yet
            assert said is None
            assert "is not savepointed" in refused.stderr.decode()
            continue
        (one,) = said["instants"]
        assert (one["instant"], one["action"], one["state"]) == (target, "savepoint", "")
    (did,) = json_lines(done("savepoint", table.path, target, "--json"))
    assert did == {"command": "savepoint", "instant": target, "dry_run": False}
    kept, _ = dry_run(table.path, "savepoint", target, "--delete")
    assert kept["command"] == "savepoint --delete"
    assert kept["instants"] == [{**one, "state": "COMPLETED"}]
    assert "is savepointed already" in refusal(table.path, "savepoint", target)
    assert run("clean", table.path, "--versions", 1).returncode == OK
    assert set(names(one["partitions"])) <= data_files(table.path)
    result = run("savepoint", table.path, target, "--delete", "--dry-run")
    assert result.stderr.decode().endswith("would be kept by it no longer\n")
    (did,) = json_lines(done("savepoint", table.path, target, "--delete", "--json"))
    assert did["command"] == "savepoint --delete"
    assert "is not savepointed" in refusal(table.path, "savepoint", target, "--delete")


def refusal(table, command, instant, *options):
    """The one error of a dry run, which is that of the run."""
    said, dry = dry_run(table, command, instant, *options)
    real = run(command, table, instant, *options)
    assert said is None and (dry.returncode, dry.stderr) == (real.returncode, real.stderr)
    return real.stderr.decode()


def test_refusals_are_those_of_the_run(logged):
    times = [logged.write(), logged.write(every=2)]
    planned = logged.run("compact", "--schedule").split("\t")[0]
    assert "planned only" in refusal(logged.path, "rollback", planned)
    assert "is not the newest" in refusal(logged.path, "rollback", times[0])
    assert "there is no write" in refusal(logged.path, "rollback", "20200101000000000")
    assert "no completed write" in refusal(logged.path, "restore", "20200101000000000")
    assert "no completed write" in refusal(logged.path, "savepoint", "20200101000000000")
    logged.run("savepoint", times[1])
    assert "is savepointed" in refusal(logged.path, "rollback", times[1])
    assert "drop that savepoint first" in refusal(logged.path, "restore", times[0])
    assert "no option" in error(MISUSED, "rollback", logged.path, times[1], "--delete")


