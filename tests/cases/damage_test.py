# SPDX-License-Identifier: Apache-2.0
"""Tables and inputs with something wrong in them: what is said of it, and that nothing is lost by it."""
import json
import shutil

import pyarrow as pa
import pytest

from conftest import Refused, run


def test_verify_finds_two_base_files_of_one_file_group_and_commit(table):
    table.create("id long\nv string\n")
    table.write([{"id": 1, "v": "a"}])
    [base] = table.base_files()
    group, _, instant = base.name.split("_")
    twin = base.with_name(f"{group}_9-0-0_{instant}")
    shutil.copyfile(base, twin)
    commit = table.path / ".hoodie" / f"{table.instants()[0]['time']}.commit"
    metadata = json.loads(commit.read_text())
    [stats] = metadata["partitionToWriteStats"].values()
    stats.append({**stats[0], "path": stats[0]["path"].replace(base.name, twin.name)})
    commit.write_text(json.dumps(metadata))
    told = run("verify", table.path)
    assert told.returncode == 1
    assert f"second-base-file: {twin.name}" in told.stdout.decode()


@pytest.mark.parametrize("quick", [[], ["--quick"]])
@pytest.mark.parametrize("lost, said", [(0, "holds 0 records and 0 deletes of {}, which says 3 and 0"),
                                        (1, "holds 1 records and 0 deletes of {}, which says 1 and 1"),
                                        (2, "holds 0 records and 1 deletes of {}, which says 1 and 1")])
def test_verify_finds_whole_blocks_that_a_log_file_lost(table, lost, said, quick):
    """Another block, whole, in its place: frames and sizes say nothing of it."""
    table.create("id string\nts long\nv string\n_hoodie_is_deleted boolean\n", order_by="ts",
                 options={"hoodie.datasource.write.table.type": "MERGE_ON_READ"})
    options = {"libhudi.log.append.enable": "true"}

    def rows(keys, ts, gone=""):
        return [{"id": key, "ts": ts, "v": "v" * 40, "_hoodie_is_deleted": key in gone} for key in keys]

    table.write(rows("abcdef", 1))
    instants = [table.write(given, options=options)["instant"] for given in (rows("abc", 2), rows("de", 3, gone="e"))]
    log, = table.path.glob(".*.log.*")
    magic = b"#HUDI#"
    blocks = [magic + block for block in log.read_bytes().split(magic)[1:]]
    assert len(blocks) == 3 and run("verify", table.path, *quick).returncode == 0
    order = {0: [1, 2, 1, 2], 1: [0, 1, 0], 2: [0, 2, 0]}[lost]
    log.write_bytes(b"".join(blocks[i] for i in order))
    if log.stat().st_size < sum(map(len, blocks)):
        log.write_bytes(log.read_bytes() + blocks[order[0]])
    told = run("verify", table.path, *quick)
    assert told.returncode == 1
    found, = [line for line in told.stdout.decode().splitlines() if "finding: wrong-row-count" in line]
    instant = instants[0] if lost == 0 else instants[1]
    assert log.name in found and said.format(instant) in found


def test_properties_that_were_cut_anywhere_are_no_table(table):
    table.create("id long\nv string\n")
    table.write([{"id": 1, "v": "a"}])
    properties = table.path / ".hoodie" / "hoodie.properties"
    whole = properties.read_bytes()
    checksum_end = whole.index(b"\n", whole.index(b"hoodie.table.checksum"))
    name_end = whole.index(b"\n", whole.index(b"hoodie.table.name"))
    for n in (0, name_end - 3, name_end + 5, (name_end + checksum_end) // 2, checksum_end - 2):
        properties.write_bytes(whole[:n])
        with pytest.raises(Refused, match="hoodie.properties"):
            table.write([{"id": 2, "v": "b"}])
    properties.write_bytes(whole)
    assert table.values("id") == [1]


def test_no_table_is_made_over_the_timeline_of_one_that_lost_its_properties(table):
    table.create("id long\nv string\n")
    table.write([{"id": 1, "v": "a"}])
    properties = table.path / ".hoodie" / "hoodie.properties"
    whole = properties.read_bytes()
    properties.unlink()
    for words in (["write", table.path, "-", "--key", "v"], ["create", table.path, "--schema", table.folder / "schema"]):
        told = run(*words, stdin=b'{"id": 2, "v": "b"}\n')
        assert told.returncode == 1
        assert "no hoodie.properties" in told.stderr.decode()
    assert not properties.exists()
    properties.write_bytes(whole)
    assert table.values("id") == [1]


TYPES = {"i": ("int", "x"), "l": ("long", "1.5"), "d": ("double", "1,5"), "b": ("boolean", "maybe"), "day": ("date", "2024-02-30"),
         "ms": ("timestamp_millis", "2024-01-01T00:00:00.0001"), "us": ("timestamp_micros", "yesterday"),
         "t": ("time_micros", "25:00"), "dec": ("decimal(5,2)", "1234.5")}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("format_name", ["csv", "jsonl"])
def test_a_value_that_does_not_fit_fails_its_row_alone(table, name, format_name):
    kind, value = TYPES[name]
    table.create(f"id long\n{name} {kind}\n")
    path = table.folder / f"in.{format_name}"
    rows = [(1, ""), (2, value), (3, "")]
    if format_name == "csv":
        path.write_text(f"id,{name}\n" + "".join(f'{i},"{v}"\n' if v else f"{i},\n" for i, v in rows))
    else:
        path.write_text("".join(json.dumps({"id": i, name: v or None}) + "\n" for i, v in rows))
    with pytest.raises(Refused, match=rf"1 record could not be written, first .*(row|line) 2: column \"{name}\"") as refused:
        table.write(path)
    assert value in str(refused.value)
    told = json.loads(table.do("write", table.path, path, "--ignore-failed", "--json"))
    assert (told["inserts"], told["failed"]) == (2, 1)
    assert table.values("id") == [1, 3]


def texts(values):
    """A column of type string with any bytes in it."""
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.array(offsets, pa.int32()).buffers()[1],
                                                            pa.py_buffer(b"".join(values))])


@pytest.mark.parametrize("column", ["v", "id", "p", "l", "s"])
def test_texts_that_are_no_utf8_fail_their_row_alone(table, column):
    """Also where two halves of a character end one text and begin the next."""
    bad = [b"a", b"\xff\xfe", "ü".encode(), b"x\xc3", b"\xbcy", b"z"]
    good = [f"k{i}".encode() for i in range(6)]
    columns = {name: texts(bad if name == column else good) for name in ("id", "p", "v", "s")}
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4, 5, 6], pa.int32()), texts(bad if column == "l" else good))
    columns["l"] = lists
    columns["s"] = pa.StructArray.from_arrays([columns["s"]], names=["t"])
    table.create("id string\np string\nv string\n", partition_by="p")
    rows = pa.table(columns)
    with pytest.raises(Refused, match=rf'3 records could not be written, first .* row 2: column "{column}": "\\xff\\xfe" is no UTF-8'):
        table.write(rows)
    told = json.loads(table.do("write", table.path, table.folder / "in1.parquet", "--ignore-failed", "--json"))
    assert (told["inserts"], told["failed"]) == (3, 3)
    assert len(table.read()) == 3
