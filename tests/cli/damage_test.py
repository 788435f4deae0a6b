# SPDX-License-Identifier: Apache-2.0
"""Merge-on-read tables whose log files were damaged: what is still read, written and serviced, and what is said."""
import json

import pytest

from cli_test import OK, done, error, run

SCHEMA = "id string not null\nts long\nv string\n"
RECOVER = ["-o", "libhudi.read.recover=true"]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write(table, rows, *options):
    return run("write", table, "-", "--format", "jsonl", *options, stdin=jsonl(rows))


def values(table, *options):
    """ts by id, and what was said."""
    ran = run("read", table, "--columns", "id,ts", *options)
    assert ran.returncode == OK, ran.stderr.decode()
    rows = [json.loads(line) for line in ran.stdout.decode().splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row["ts"] for row in rows}, ran.stderr.decode()


@pytest.fixture
def table(tmp_path):
    """Four blocks of one record each in one log file, over a base file of six rows."""
    path = tmp_path / "t"
    (tmp_path / "s.txt").write_text(SCHEMA)
    done("create", path, "--schema", tmp_path / "s.txt", "--key", "id", "--order-by", "ts", "--type", "mor")
    assert write(path, [{"id": key, "ts": 1, "v": "b"} for key in "abcdef"]).returncode == OK
    assert write(path, [{"id": key, "ts": 2, "v": "u"} for key in "abcd"],
                 "-o", "hoodie.logfile.data.block.max.size=1").returncode == OK
    return path


def log_of(table):
    (log,) = table.glob(".*.log.*")
    return log


ALL = {**dict.fromkeys("abcd", 2), **dict.fromkeys("ef", 1)}


def damage_schema(table):
    """One bit of the first block's header."""
    log = log_of(table)
    data = bytearray(log.read_bytes())
    data[data.index(b'"fields"') + 1] ^= 1
    log.write_bytes(data)
    return log.name


def test_a_damaged_header_costs_its_block(table):
    assert values(table) == (ALL, "")
    name = damage_schema(table)
    rows, said = values(table)
    assert rows == {**ALL, "a": 1}
    assert name in said and "the log block at byte 0 is passed over, damaged" in said and "fields" in said


@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert", "insert_overwrite",
                                       "insert_overwrite_table", "delete"])
def test_writes_go_on_beside_a_damaged_block(table, operation):
    damage_schema(table)
    row = {"id": "b", "ts": 5, "v": "w"}
    ran = write(table, [row if operation in ("upsert", "delete") else {**row, "id": "z"}], "--op", operation)
    assert ran.returncode == OK, ran.stderr.decode()
    rows, _ = values(table)
    before = {**ALL, "a": 1}
    del before["b"]
    wanted = {"upsert": {**before, "b": 5}, "delete": before, "insert_overwrite": {"z": 5},
              "insert_overwrite_table": {"z": 5}}
    assert rows == wanted.get(operation, {**before, "b": 2, "z": 5})


@pytest.mark.parametrize("command", ["compact", "cluster"])
def test_nothing_takes_the_place_of_a_damaged_block_before_it_is_told_to(table, command):
    name = damage_schema(table)
    said = error(1, command, table)
    assert name in said and "byte 0" in said and "libhudi.read.recover" in said
    assert values(table)[0] == {**ALL, "a": 1}
    ran = run(command, table, *RECOVER)
    assert ran.returncode == OK and "is passed over" in ran.stderr.decode()
    assert values(table) == ({**ALL, "a": 1}, "")


@pytest.mark.parametrize("options", [[], ["-o", "libhudi.verify.quick=true"]])
def test_a_check_tells_file_byte_and_reason(table, options):
    assert "0 findings" in done("verify", table, *options)
    name = damage_schema(table)
    ran = run("verify", table, *options)
    said = ran.stdout.decode()
    assert ran.returncode == 1 and "1 findings" in said
    assert f"damaged-log-block: {name}: the block at byte 0" in said and "fields" in said


def test_a_check_finds_damage_in_every_part_of_a_block(table):
    log = log_of(table)
    data = log.read_bytes()
    size = len(data) // 4
    content = size - 8 - 4 # trailer, footer
    length = data.index(b"\0\0\0\3\0\0\0\1") # version and count of records
    for at in (3, 12, length + 7, length + 8, size + content + 5, len(data) - 1):
        flipped = bytearray(data)
        flipped[at] ^= 0x40
        log.write_bytes(flipped)
        said = run("verify", table).stdout.decode()
        assert "damaged-log-block" in said and f"at byte {at // size * size}" in said, (at, said)


def test_a_type_that_is_not_known_is_refused_by_name_and_keeps_no_insert_off(table):
    log = log_of(table)
    data = bytearray(log.read_bytes())
    data[6 + 8 + 4 + 3] = 77
    log.write_bytes(data)
    assert "unknown type 77" in error(1, "read", table)
    assert values(table, *RECOVER)[0] == {**ALL, "a": 1}
    ran = run("verify", table)
    assert ran.returncode == 1 and "unknown-log-block" in ran.stdout.decode() and "77" in ran.stdout.decode()
    ran = write(table, [{"id": "z", "ts": 5, "v": "w"}], "--op", "bulk_insert")
    assert ran.returncode == OK, ran.stderr.decode()
    assert values(table, *RECOVER)[0] == {**ALL, "a": 1, "z": 5}
    assert write(table, [{"id": "y", "ts": 5, "v": "w"}], "--op", "insert_overwrite_table").returncode == OK
    assert values(table) == ({"y": 5}, "")


def test_every_byte_of_a_log_file_cut_or_flipped_costs_its_block_alone(table):
    """Some bytes of each part; the unit tests of engine/slice flip them all."""
    log = log_of(table)
    data = log.read_bytes()
    size = len(data) // 4
    wholes = {key: ts for key, ts in ALL.items() if key in "ef"}
    for at in range(7, len(data), 173):
        flipped = bytearray(data)
        flipped[at] ^= 0x55
        log.write_bytes(flipped)
        rows, _ = values(table, *RECOVER)
        intact = {key: 2 for i, key in enumerate("abcd") if i != at // size}
        assert {**rows, **wholes, **intact} == rows, at
        log.write_bytes(data[:at])
        rows, _ = values(table)
        assert {**rows, **{key: 2 for key in "abcd"[:at // size]}} == rows, at


def take_away(log):
    log.unlink()


def cut_between_blocks(log):
    """What is left looks whole."""
    data = log.read_bytes()
    log.write_bytes(data[:len(data) // 2])


LOST = {take_away: dict.fromkeys("abcdef", 1), cut_between_blocks: {**ALL, "c": 1, "d": 1}}


@pytest.mark.parametrize("damage", LOST)
def test_reads_warn_of_what_is_missing_of_log_files(table, damage):
    log = log_of(table)
    damage(log)
    rows, said = values(table)
    assert rows == LOST[damage]
    instant = done("timeline", table).split()
    assert f"log file {log.name}" in said and any(word in said for word in instant if len(word) == 17)
    assert run("verify", table).returncode == 1
    past, said = values(table, "--as-of", min(word for word in instant if len(word) == 17))
    assert (past, said) == (dict.fromkeys("abcdef", 1), "")


@pytest.mark.parametrize("damage", LOST)
@pytest.mark.parametrize("command", [["compact"], ["cluster"], ["compact", "--logs"]])
def test_nothing_takes_the_place_of_log_files_that_are_missing(table, damage, command):
    for key in "aabbc": # many more, so that there is what to compact
        assert write(table, [{"id": key, "ts": 2, "v": "u"}]).returncode == OK
    log = min(table.glob(".*.log.*"))
    damage(log)
    before, said = values(table)
    assert log.name in said
    words = [command[0], table, *command[1:]]
    timeline = done("timeline", table)
    for step in ([], ["--schedule"], ["--dry-run"]):
        said = error(1, *words, *step)
        assert f"log file {log.name}" in said and "deltacommit" in said and "libhudi.read.recover" in said
        assert done("timeline", table) == timeline # no plan that nobody could run
        assert values(table)[0] == before
    ran = run(*words, *RECOVER)
    assert ran.returncode == OK and log.name in ran.stderr.decode()
    assert values(table)[0] == before
