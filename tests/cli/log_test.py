# SPDX-License-Identifier: Apache-2.0
"""hudi log from outside: log files that Hudi wrote, against what docs/format/tools/logdump.py reads in
them (a reader of its own, written from docs/format/log-format.md)."""
import importlib.util
import pathlib
import tarfile

import pytest

from cli_test import FAILED, ROOT, done, error, json_lines, run

GOLDEN = ROOT / "tests" / "golden"
# All block types, content versions 1 and 3, Kryo and Avro deletes, an archived timeline.
TABLES = ["flink010-mor-multi-block", "flink010-mor-deletes", "flink010-mor-rollback",
          "flink010-mor-clean-archive", "spark-0.15.0-mor-hfile-logs",
          "spark-0.15.0-mor-parquet-logs", "spark-0.15.0-mor-appended-log", "spark-1.1.1-cdc-cow",
          "spark-1.1.1-mdt-full", "spark-1.1.1-merge-event-time-mor"]


def load_logdump():
    path = ROOT / "docs" / "format" / "tools" / "logdump.py"
    spec = importlib.util.spec_from_file_location("logdump", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


logdump = load_logdump()


def log_files(name, folder):
    with tarfile.open(GOLDEN / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return sorted(path for path in pathlib.Path(folder).rglob(".*")
                  if (".log." in path.name or ".archive." in path.name)
                  and not path.name.endswith(".crc"))


def wanted_deletes(content):
    rows = []
    for record in content["records"]:
        (kind, value), = (record.get("orderingVal") or {"none": None}).items()
        rows.append({"record_key": record["recordKey"],
                     "partition_path": record["partitionPath"], "ordering_type": kind,
                     "ordering_value": None if value is None else str(value)})
    return rows


def expect_block(block, raw, rows):
    described = logdump.describe(dict(raw), True)
    content = described.get("content", {})
    assert block["offset"] == raw["offset"]
    assert block["type"] == raw["type"]
    assert block["bytes"] == raw["size_field"] + 14
    assert block["content_bytes"] == raw["content_len"]
    assert block["header"] == raw["header"]
    assert block.get("version") == content.get("block_version")
    if raw["type"] in ("AVRO_DATA", "CDC_DATA"):
        assert block["records"] == content["record_count"] == len(rows)
        for row, record in zip(rows, content["records"]):
            assert list(row) == list(record)
            for column, value in record.items():
                if value is None or isinstance(value, (str, bool)) and column.startswith("_hoodie"):
                    assert row[column] == value
    elif raw["type"] == "DELETE":
        assert rows == wanted_deletes(content)
    elif raw["type"] == "PARQUET_DATA":
        assert block["records"] == len(content["records"])
        key = "_hoodie_record_key"
        assert [row[key] for row in rows] == [record[key] for record in content["records"]]
    elif raw["type"] == "COMMAND":
        assert "records" not in block and rows == []


@pytest.mark.parametrize("name", TABLES)
def test_blocks_and_records_are_those_of_the_file(tmp_path, name):
    paths = log_files(name, tmp_path)
    assert paths
    for path in paths:
        result = run("log", path, "--records", "--json")
        assert result.returncode == 0, result.stderr
        lines = json_lines(result.stdout.decode())
        for raw in logdump.blocks(path.read_bytes()):
            block = lines.pop(0)
            n_rows = block.get("records", 0)
            expect_block(block, raw, lines[:n_rows])
            del lines[:n_rows]
        assert lines == []


def test_keys_of_hfile_blocks_are_in_their_records(tmp_path):
    blocks = [line for path in log_files("spark-1.1.1-mdt-full", tmp_path)
              if "/metadata/files/" in str(path)
              for line in json_lines(run("log", path, "--records", "--json").stdout.decode())]
    keys = {line["key"] for line in blocks if "key" in line}
    assert "__all_partitions__" in keys and "north" in keys and "" not in keys


def test_fields_of_several_types_are_told_and_left_out(tmp_path):
    path = next(path for path in log_files("spark-1.1.1-mdt-full", tmp_path)
                if "/column_stats/" in str(path) and path.stat().st_size > 2000)
    result = run("log", path, "--records")
    assert result.returncode == 0
    assert b"HoodieMetadataColumnStats.minValue" in result.stderr
    assert b'"nullCount":' in result.stdout and b"minValue" not in result.stdout


def test_text_lists_one_block_a_line(tmp_path):
    path = log_files("flink010-mor-multi-block", tmp_path)[0]
    raw = list(logdump.blocks(path.read_bytes()))
    lines = done("log", path).splitlines()
    assert len(lines) == len(raw)
    for line, block in zip(lines, raw):
        assert line.split()[:2] == [str(block["offset"]), block["type"]]
        assert "INSTANT_TIME=" + block["header"]["INSTANT_TIME"] in line
    assert "6 records (version 1)" in lines[0] and "1 deletes (version 1)" in lines[2]


@pytest.mark.parametrize("name", ["flink010-mor-damaged-tail", "spark-0.15.0-damage-corrupt-middle"])
def test_damage_is_shown_with_its_bytes_and_is_no_failure(tmp_path, name):
    n_corrupt = 0
    for path in log_files(name, tmp_path):
        result = run("log", path, "--json")
        assert result.returncode == 0
        end = 0
        for block in json_lines(result.stdout.decode()):
            assert block["offset"] == end
            end += block["bytes"]
            if block["type"] == "CORRUPT":
                n_corrupt += 1
                assert block["damage"]
                place = f"bytes {block['offset']} to {end}"
                assert place in result.stderr.decode()
        assert end == path.stat().st_size
    assert n_corrupt == 1


def test_a_file_without_a_block_is_corrupt_and_an_empty_one_is_empty(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"no log file at all")
    result = run("log", path, "--json")
    block, = json_lines(result.stdout.decode())
    assert (block["type"], block["offset"], block["bytes"]) == ("CORRUPT", 0, 18)
    path.write_bytes(b"")
    assert done("log", path) == ""


def test_a_content_that_cannot_be_read_fails_and_the_next_block_is_shown(tmp_path):
    path = log_files("flink010-mor-multi-block", tmp_path)[0]
    data = bytearray(path.read_bytes())
    first, second = list(logdump.blocks(bytes(data)))[:2]
    data[first["content_offset"] + 4] = 0x7f  # the number of records
    path.write_bytes(data)
    result = run("log", path, "--json")
    assert result.returncode == FAILED
    assert b"data block at byte 0 says it has" in result.stderr
    assert json_lines(result.stdout.decode())[1]["offset"] == second["offset"]


def test_files_that_are_not_there_and_folders(tmp_path):
    assert "no such file" in error(FAILED, "log", tmp_path / "missing")
    error(FAILED, "log", tmp_path)


def test_a_uri_will_do(tmp_path):
    path = log_files("flink010-mor-multi-block", tmp_path)[0]
    assert done("log", f"file:{path}") == done("log", path)
