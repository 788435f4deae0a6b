# SPDX-License-Identifier: Apache-2.0
"""Rows from standard input: every format, into tables that are there and tables that are not."""
import subprocess

import pytest

from cli_test import ENVIRONMENT, FAILED, MISUSED, PROGRAM, done, error, json_lines

META = "_hoodie_"


def rows_of(table):
    text = done("read", table, "--format", "jsonl")
    rows = [{k: v for k, v in row.items() if not k.startswith(META)} for row in json_lines(text)]
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.parametrize("format_name", ["csv", "jsonl", "avro", "arrow", "parquet"])
def test_a_new_table_takes_its_columns_from_what_is_piped_in(tmp_path, format_name):
    """What another table gives, meta columns and all; more rows than the guesses look at."""
    source, target = tmp_path / "source", tmp_path / "target"
    text = "id,name,qty\n" + "".join(f"{i},name {i},{i * 0.5}\n" for i in range(3000))
    told = done("write", source, "-", "--format", "csv", "--key", "id", stdin=text.encode())
    assert ": 3000 inserted" in told
    given = done_bytes("read", source, "--format", format_name)
    done("write", target, "-", "--format", format_name, "--key", "id", stdin=given)
    assert rows_of(target) == rows_of(source)
    assert rows_of(target)[7] == {"id": 7, "name": "name 7", "qty": 3.5}
    done("write", target, "-", "--format", format_name, stdin=given)
    assert len(rows_of(target)) == 3000


def done_bytes(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, check=True, timeout=120,
                          env=ENVIRONMENT).stdout


@pytest.mark.parametrize("format_name, marked", [
    ("csv", b"id,ts,_hoodie_is_deleted,_hoodie_commit_time\na,2,true,1\n"),
    ("jsonl", b'{"id":"a","ts":2,"_hoodie_is_deleted":true,"_hoodie_commit_time":"1"}\n')])
def test_a_mark_of_deleted_rows_counts_though_the_table_has_no_such_column(tmp_path, format_name, marked):
    """Of the names that begin with `_hoodie_` only the meta columns are not the rows'."""
    table = tmp_path / "t"
    done("write", table, "-", "--format", "jsonl", "--key", "id", "--order-by", "ts",
         stdin=b'{"id":"a","ts":1}\n{"id":"b","ts":1}\n')
    assert "1 deleted" in done("write", table, "-", "--format", format_name, stdin=marked)
    assert [(row["id"], row["ts"]) for row in rows_of(table)] == [("b", 1)]


def test_a_member_that_is_no_meta_column_is_not_dropped(tmp_path):
    table = tmp_path / "t"
    early = b"".join(b'{"id":%d}\n' % i for i in range(1000))
    said = error(FAILED, "write", table, "-", "--format", "jsonl", "--key", "id",
                 stdin=early + b'{"id":0,"_hoodie_is_deleted":true}\n')
    assert 'line 1001: there is no column "_hoodie_is_deleted"' in said


def test_a_redirected_file_is_read_in_its_place(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,name\n1,a\n2,b\n")
    with path.open("rb") as file:
        subprocess.run([PROGRAM, "write", tmp_path / "t", "-", "--format", "csv", "--key", "id"], stdin=file, check=True,
                       timeout=120, env=ENVIRONMENT)
    assert rows_of(tmp_path / "t") == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


@pytest.mark.parametrize("text, words", [
    (b"", []), (b"id,name\n1,a\n", []), (b"{}\n", []), (b"_hoodie_record_key,_hoodie_file_name\n1,2\n", ["--format", "csv"])])
def test_no_columns_make_no_table(tmp_path, text, words):
    said = error(FAILED, "write", tmp_path / "t", "-", "--key", "id", *words, stdin=text)
    assert said.startswith("standard input: no columns to make a table of")
    assert not (tmp_path / "t").exists()


def test_what_is_wrong_with_it_names_standard_input(tmp_path):
    table = tmp_path / "t"
    done("write", table, "-", "--format", "csv", "--key", "id", stdin=b"id,name\n1,a\n")
    said = error(FAILED, "write", table, "-", "--format", "csv", stdin=b"id,name\n2,b\n3,c,d\n")
    assert "standard input row 2: has 3 columns, not 2" in said
    assert "standard input: " in error(FAILED, "write", table, "-", "--format", "avro", stdin=b"id,name\n")
    assert "standard input line 2: " in error(FAILED, "write", table, "-", stdin=b'{"id":2}\n{"id":\n')
    assert "named 2 times" in error(MISUSED, "write", table, "-", "-", stdin=b"")
    assert rows_of(table) == [{"id": 1, "name": "a"}]
