# SPDX-License-Identifier: Apache-2.0
"""The program from outside: help, exit codes, errors, and output that other programs can read.

HUDI_PROGRAM names the program; without it, build/dev/hudi is run.
"""
import datetime
import decimal
import fcntl
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import time

import fastavro
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HUDI_PROGRAM", str(ROOT / "build" / "dev" / "hudi"))
ENVIRONMENT = {**os.environ, "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp"}
COMMANDS = ["create", "write", "read", "show", "timeline", "log", "rollback", "clean", "compact", "cluster", "archive",
            "savepoint", "restore",
            "verify"]
OK, FAILED, MISUSED = 0, 1, 2
AS_ROOT = os.geteuid() == 0


def run(*words, stdin=b"", **options):
    return subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True,
                          timeout=120, env=ENVIRONMENT, check=False, **options)


def done(*words, stdin=b""):
    """Standard output of a run that must succeed and say nothing else."""
    result = run(*words, stdin=stdin)
    assert (result.returncode, result.stderr.decode()) == (OK, ""), words
    return result.stdout.decode()


def error(exit_code, *words, stdin=b""):
    """The error of a run that must fail: one line "hudi: WHAT", and nothing on standard output."""
    result = run(*words, stdin=stdin)
    text = result.stderr.decode()
    assert result.returncode == exit_code, text
    assert re.fullmatch(r"hudi: [^\n]+\n", text), text
    assert not text.rstrip().endswith("."), text
    assert result.stdout == b""
    return text[len("hudi: "):-1]


def json_lines(text):
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


ROWS = [{"id": i, "name": f"name {i}", "region": "north" if i % 2 else "south", "qty": i * 1.5}
        for i in range(20)]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.txt"
    path.write_text("id long not null\nname string\nregion string\nqty double\n")
    return path


@pytest.fixture
def table(tmp_path, schema):
    path = tmp_path / "table"
    done("create", path, "--schema", schema, "--key", "id", "--order-by", "qty",
         "--partition-by", "region")
    done("write", path, "-", "--format", "jsonl", stdin=lines(ROWS))
    return path


# ---- help and versions --------------------------------------------------------------------------

def test_help_lists_every_command():
    for word in ("--help", "-h", "help"):
        text = done(word)
        for command in COMMANDS:
            assert re.search(rf"^  {command} ", text, re.M), command


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_page(command):
    for word in ("--help", "-h"):
        text = done(command, word)
        assert text.startswith(f"use: hudi {command} ")
        assert "\noptions:\n" in text
        assert "-o KEY=VALUE" in text
        assert all(len(line) <= 100 for line in text.splitlines())


def test_help_goes_before_everything_else():
    assert "options:" in done("read", "/no/such/table", "--unknown", "--help")


def test_words_behind_two_dashes_are_no_options():
    assert "--help" in error(FAILED, "read", "--", "--help")


def test_version_and_options():
    assert re.fullmatch(r"hudi \d+\.\d+\.\d+\n", done("--version"))
    options = [line.split("\t") for line in done("--options").splitlines()]
    assert all(len(fields) == 4 for fields in options)
    assert "hoodie.table.recordkey.fields" in {fields[0] for fields in options}


def test_no_command_is_misuse_and_shows_what_there_is():
    result = run()
    assert result.returncode == MISUSED
    assert result.stdout == b"" and b"verify" in result.stderr


# ---- wrong use ----------------------------------------------------------------------------------

def test_unknown_commands_and_options():
    assert '"reed"' in error(MISUSED, "reed")
    assert "--colums" in error(MISUSED, "read", "t", "--colums", "a")
    assert "-x" in error(MISUSED, "read", "t", "-x")
    for command in COMMANDS:
        assert "--nonsense" in error(MISUSED, command, "t", "--nonsense")


def test_options_with_and_without_value():
    assert "--limit takes" in error(MISUSED, "read", "t", "--limit")
    assert "takes no value" in error(MISUSED, "show", "t", "--json=1")


@pytest.mark.parametrize("command, words", [
    ("read", []), ("read", ["a", "b"]), ("rollback", ["a"]), ("show", []),
    ("show", ["a", "b", "c"]), ("timeline", []), ("verify", []), ("verify", ["a", "b"]),
    ("create", []), ("write", [])])
def test_wrong_number_of_words(command, words):
    assert error(MISUSED, command, *words).startswith(f"use: hudi {command} ")


def test_options_of_hudi():
    for wrong in ("-o",), ("-o", "nothing"), ("-o", "=x"):
        assert "-o takes KEY=VALUE" in error(MISUSED, "read", "t", *wrong)
    assert "hoodie.no.such.key" in error(MISUSED, "read", "t", "-o", "hoodie.no.such.key=1")
    assert "libhudi.threads" in error(MISUSED, "read", "t", "-o", "libhudi.threads=many")
    assert "hoodie.table.type" in error(MISUSED, "create", "t", "--type", "cowboy")


def test_queries_that_contradict_themselves(table):
    error(MISUSED, "read", table, "--until", "20240101")
    error(MISUSED, "read", table, "--since", "0", "--as-of", "20240101")
    error(MISUSED, "read", table, "--as-of", "yesterday-ish")
    error(MISUSED, "read", table, "--columns", "id,no_such_column")
    error(MISUSED, "read", table, "--where", "id >")
    error(MISUSED, "read", table, "--limit", "-1")
    error(MISUSED, "show", table, "weather")
    error(MISUSED, "rollback", table, "20240101000000000")


# ---- tables that are not there, or not to be written ---------------------------------------------

@pytest.mark.parametrize("words", [["read"], ["show"], ["timeline"], ["verify"],
                                   ["rollback", "20240101000000000"], ["write", "-"]])
def test_a_missing_table_is_named(tmp_path, words):
    path = tmp_path / "none"
    assert str(path) in error(FAILED, words[0], path, *words[1:])
    assert not path.exists()


def test_a_folder_without_table_is_no_table(tmp_path):
    assert str(tmp_path) in error(FAILED, "read", tmp_path)


def test_a_store_that_is_not_carried_is_named():
    assert "nosuch" in error(FAILED, "read", "nosuch://bucket/table")


def test_create_needs_a_schema(tmp_path):
    assert "--schema" in error(MISUSED, "create", tmp_path / "t", "--key", "id")
    assert not (tmp_path / "t").exists()


def test_create_refuses_what_makes_no_table(tmp_path, schema):
    bad = tmp_path / "bad.txt"
    bad.write_text("id long\nname strin\n")
    assert "bad.txt" in error(FAILED, "create", tmp_path / "t", "--schema", bad, "--key", "id")
    assert "none.txt" in error(FAILED, "create", tmp_path / "t", "--schema", tmp_path / "none.txt",
                               "--key", "id")
    assert "nosuch" in error(MISUSED, "create", tmp_path / "t", "--schema", schema,
                             "--key", "nosuch")
    assert not (tmp_path / "t" / ".hoodie" / "hoodie.properties").exists()


def test_create_leaves_a_table_alone(table, schema):
    before = (table / ".hoodie" / "hoodie.properties").read_bytes()
    assert str(table) in error(FAILED, "create", table, "--schema", schema, "--key", "name")
    assert (table / ".hoodie" / "hoodie.properties").read_bytes() == before


@pytest.mark.skipif(AS_ROOT, reason="root may write to every folder")
def test_a_folder_that_cannot_be_written(tmp_path, schema, table):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    error(FAILED, "create", closed / "t", "--schema", schema, "--key", "id")
    os.chmod(table / ".hoodie", 0o500)
    try:
        error(FAILED, "write", table, "-", "--format", "jsonl", stdin=lines(ROWS[:1]))
        assert len(json_lines(done("read", table))) == len(ROWS)
    finally:
        os.chmod(table / ".hoodie", 0o700)


# ---- writing and reading ------------------------------------------------------------------------

def test_rows_come_back(table):
    rows = json_lines(done("read", table))
    assert sorted(({key: row[key] for key in ROWS[0]} for row in rows),
                  key=lambda row: row["id"]) == ROWS


def test_columns_limit_and_filter(table):
    rows = json_lines(done("read", table, "--columns", "name,id", "--where", "id >= 18"))
    assert sorted(rows, key=lambda row: row["id"]) == [{"name": "name 18", "id": 18},
                                                       {"name": "name 19", "id": 19}]
    assert list(rows[0]) == ["name", "id"]
    assert len(json_lines(done("read", table, "--limit", "3"))) == 3
    assert done("read", table, "--limit", "0") == ""


def test_times(table):
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    done("write", table, "-", "--format", "jsonl", stdin=lines([{**ROWS[0], "qty": 1000.0}]))
    assert [row["qty"] for row in json_lines(done("read", table, "--where", "id = 0"))] == [1000.0]
    assert [row["qty"] for row in json_lines(done("read", table, "--where", "id = 0", "--as-of",
                                                  first))] == [0.0]
    assert [row["id"] for row in json_lines(done("read", table, "--since", first))] == [0]


def test_output_to_a_file_and_back(table, tmp_path):
    for ending in ("parquet", "csv", "jsonl", "avro", "arrow"):
        file = tmp_path / f"rows.{ending}"
        assert done("read", table, "--columns", "id,name,region,qty", "--output", file,
                    "--format", ending) == ""
        copy = tmp_path / f"copy-{ending}"
        done("write", copy, file, "--key", "id", "--like", file)
        assert sorted(row["id"] for row in json_lines(done("read", copy))) == \
            [row["id"] for row in ROWS], ending


AVRO_SCHEMA = {"type": "record", "name": "row", "namespace": "test", "fields": [
    {"name": "id", "type": "long"},
    {"name": "name", "type": ["null", "string"], "default": None},
    {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["A", "B"]}},
    {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal",
                                        "precision": 10, "scale": 2}]},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "at", "type": [{"type": "long", "logicalType": "timestamp-micros"}, "null"]},
    {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
    {"name": "counts", "type": {"type": "map", "values": "int"}},
    {"name": "place", "type": ["null", {"type": "record", "name": "place", "fields": [
        {"name": "x", "type": "double"}, {"name": "raw", "type": "bytes"}]}]}]}


def avro_row(i):
    """A row as fastavro takes it, and as JSON lines have it."""
    full = i % 3 != 0
    at = datetime.datetime(2024, 2, 29, 1, 2, 3, i, datetime.timezone.utc)
    return ({"id": i, "name": f"n\u00e4me {i}" if full else None, "kind": "AB"[i % 2],
             "price": decimal.Decimal(-i) / 100 if full else None,
             "day": datetime.date(1970, 1, 1) + datetime.timedelta(days=i - 50),
             "at": at if full else None, "tags": ["a", None] if full else [],
             "counts": {"k": i} if full else {},
             "place": {"x": i / 4, "raw": b"\x00\xff"} if full else None},
            {"id": i, "name": f"n\u00e4me {i}" if full else None, "kind": "AB"[i % 2],
             "price": f"{decimal.Decimal(-i) / 100:.2f}" if full else None,
             "day": str(datetime.date(1970, 1, 1) + datetime.timedelta(days=i - 50)),
             "at": f"2024-02-29T01:02:03.{i:06}Z" if full else None,
             "tags": ["a", None] if full else [], "counts": {"k": i} if full else {},
             "place": {"x": i / 4, "raw": "AP8="} if full else None})


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_avro_files_of_fastavro_are_rows(tmp_path, codec):
    rows = [avro_row(i) for i in range(2000)]
    file = tmp_path / "rows.avro"
    with open(file, "wb") as out:
        fastavro.writer(out, AVRO_SCHEMA, [row for row, _ in rows], codec=codec, sync_interval=8000)
    done("write", tmp_path / "table", file, "--key", "id")
    found = sorted(json_lines(done("read", tmp_path / "table")), key=lambda row: row["id"])
    assert [{k: v for k, v in row.items() if not k.startswith("_hoodie")} for row in found] == \
        [json for _, json in rows]
    (tmp_path / "rows").write_bytes(file.read_bytes())
    copy = tmp_path / "copy.avro"
    done("read", tmp_path / "table", "--columns", ",".join(rows[0][1]), "--output", copy,
         "--format", "avro")
    with open(copy, "rb") as written:
        assert sorted(fastavro.reader(written), key=lambda row: row["id"]) == \
            [row for row, _ in rows]
    assert "0 inserted, 2000 updated" in done("write", tmp_path / "table", tmp_path / "rows",
                                              "--format", "avro")

    cut = tmp_path / "cut.avro"
    cut.write_bytes(file.read_bytes()[:-20])
    before = done("timeline", tmp_path / "table")
    assert "Avro block at byte" in error(FAILED, "write", tmp_path / "table", cut)
    assert len(json_lines(done("read", tmp_path / "table"))) == 2000
    assert before.count("COMPLETED") == \
        sum("rollback" not in line for line in done("timeline", tmp_path / "table").splitlines())


def test_bad_rows_are_refused_as_a_whole(table):
    def commits():
        return [instant for instant in json_lines(done("timeline", table, "--json"))
                if instant["action"] != "rollback"]

    before = commits()
    for bad in (b'{"id":1,"name":2', b'{"id":"x","region":"north"}\n', b'{"name":"no key"}\n',
                b'{"id":1,"region":"north"}\nnonsense\n', b"[1]\n", b'\xff\xfe\n'):
        error(FAILED, "write", table, "-", "--format", "jsonl", stdin=lines(ROWS[:1]) + bad)
    assert commits() == before
    assert done("verify", table).splitlines()[-1] == "2 files, 20 rows, 0 findings"


@pytest.mark.parametrize("time", ["20261301", "20260230", "2026010124", "20261301000000000"])
def test_digits_that_are_no_date_are_no_time(table, time):
    for words in (("read", table, "--as-of"), ("read", table, "--since"), ("show", table, "files", "--as-of")):
        said = error(MISUSED, *words, time)
        assert f'"{time}" is no time: want an instant or its first digits (yyyyMMddHHmmssSSS)' in said


def test_formats_are_told_that_are_possible(table, tmp_path):
    written = "table, jsonl, csv, parquet, avro, arrow"
    assert f'format "xml" is none of {written}' in error(MISUSED, "read", table, "--format", "xml")
    assert f"rows are not written as orc, but as one of {written}" in error(FAILED, "read", table, "--format", "orc")
    assert 'format "xml" is none of parquet, orc, csv, jsonl, avro, arrow' in \
        error(MISUSED, "write", table, "-", "--format", "xml", stdin=b"")


def test_options_with_a_prefix_are_extra_metadata_of_the_commit(table):
    def written(*options):
        told = done("write", table, "-", "--format", "jsonl", *[word for one in options for word in ("-o", one)],
                    stdin=b'{"id":1,"region":"north"}\n')
        path = table / ".hoodie" / f"{told.split(':')[0]}.commit"
        return {key: value for key, value in json.loads(path.read_text())["extraMetadata"].items() if key != "schema"}
    prefix = "hoodie.datasource.write.commitmeta.key.prefix"
    assert written("_batch=7", "_topic=a,0:5") == {"_batch": "7", "_topic": "a,0:5"}
    assert written(f"{prefix}=streamer.", "streamer.checkpoint=x", "_batch=8") == {"streamer.checkpoint": "x"}
    assert written() == {}
    assert "unknown option streamer.checkpoint" in error(MISUSED, "write", table, "-", "-o", "streamer.checkpoint=x")


BAD_LINES = (
    b'{"id":"x","region":"north"}\n',          # 1
    b'{"id":100,"region":"north","qty":1}\n',
    b'{"id":101,"region":"north"\n',           # 3
    b'{"name":"no key","region":"north"}\n',   # 4
    b'{"id":102,"region":"north","qty":"7"}\n',  # 5
    b'[1]\n',                                  # 6
    b'{"id":103,"region":"south","qty":true}\n',  # 7
    b'{"id":104,"region":"south","qty":2}\n')


def test_records_that_fail_alone(table, tmp_path):
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"".join(BAD_LINES))
    sampled = ("-o", "hoodie.memory.writestatus.failure.fraction=1")
    said = error(FAILED, "write", table, file, *sampled)
    assert said.startswith(f'6 records could not be written, first {file} line 1: '
                           'column "id": "x" is no integer; ')
    assert said.count("; ") == 5 and f"{file} line 3: " in said
    assert len(json_lines(done("read", table))) == len(ROWS)

    result = run("write", table, file, "--ignore-failed", "--json", *sampled)
    assert result.returncode == OK
    told = json.loads(result.stdout)
    assert (told["inserts"], told["failed"]) == (2, 6)
    noted = result.stderr.decode().splitlines()
    assert noted[0] == "hudi: note: 6 records were left out, among them"
    for number, reason in ((1, 'column "id": "x" is no integer'), (4, 'column "id" is null'),
                           (5, 'column "qty": "7" is no number'), (6, "is no JSON object"),
                           (7, 'column "qty": true is no number')):
        assert any(line.startswith(f"  {file} line {number}: {reason}") for line in noted), noted
    assert sorted(row["id"] for row in json_lines(done("read", table))) == \
        [*range(len(ROWS)), 100, 104]


@pytest.mark.parametrize("format_name, text", [
    ("jsonl", '{"ts":1}\n{"ts":2}\n{"id":"d","ts":4}\n{"id":"e","ts":"x"}\n[]\n{"ts":3}\n'),
    ("csv", "id,ts\n,1\n,2\nd,4\nf,1,2\ne,x\n,3\n")])
def test_failures_are_named_in_the_order_of_the_input(tmp_path, format_name, text):
    """Lines are read before rows are looked at; ten are shown whatever the sample is."""
    table, file = tmp_path / "t", tmp_path / f"bad.{format_name}"
    file.write_text(text)
    done("create", table, "--schema", _schema(tmp_path, "id string\nts long\n"), "--key", "id")
    said = error(FAILED, "write", table, file)
    assert said.startswith(f"5 records could not be written, first {file} row 1: ")
    result = run("write", table, file, file, "--ignore-failed")
    assert result.returncode == OK
    places = [line.split(": ")[0].split()[-1] for line in result.stderr.decode().splitlines()[1:]]
    assert places == ["1", "2", "4", "5", "4"] * 2
    commits = [json.loads(path.read_text()) for path in (table / ".hoodie").glob("*.commit")]
    counts = [stat["totalWriteErrors"] for commit in commits
              for stats in commit["partitionToWriteStats"].values() for stat in stats]
    assert counts == [10]


def test_rows_of_csv_and_columnar_files_that_fail_alone(table, tmp_path):
    csv = tmp_path / "bad.csv"
    csv.write_text("id,region,qty\n200,north,1\nx,north,1\n201,south\n202,south,2.5\n203,,3\n")
    result = run("write", table, csv, "--ignore-failed", "--json",
                 "-o", "hoodie.memory.writestatus.failure.fraction=1")
    assert result.returncode == OK, result.stderr
    told = json.loads(result.stdout)
    assert told["failed"] == 2 and told["inserts"] == 3, result.stderr
    assert f'{csv} row 2: column "id": "x" does not fit' in result.stderr.decode()
    assert f"{csv} row 3: has 2 columns, not 3" in result.stderr.decode()
    strict = tmp_path / "strict"
    done("create", strict, "--schema", _schema(tmp_path, "id long\nn string not null\n"), "--key", "id")
    text = tmp_path / "text"
    done("create", text, "--schema", _schema(tmp_path, "id long\nn string\n"), "--key", "id")
    done("write", text, "-", "--format", "jsonl",
         stdin=lines([{"id": i, "n": None if i == 2 else str(i)} for i in range(4)]))
    parquet = tmp_path / "text.parquet"
    done("read", text, "--output", parquet, "--format", "parquet")
    assert f'1 record could not be written, first {parquet} row ' in \
        error(FAILED, "write", strict, parquet)
    assert run("write", strict, parquet, "--ignore-failed").returncode == OK
    assert sorted((row["id"], row["n"]) for row in json_lines(done("read", strict))) == \
        [(0, "0"), (1, "1"), (3, "3")]


def _schema(tmp_path, text):
    path = tmp_path / "other_schema.txt"
    path.write_text(text)
    return path


def test_a_file_that_is_not_what_its_name_says(table, tmp_path):
    for ending in ("parquet", "arrow", "orc", "avro"):
        file = tmp_path / f"bad.{ending}"
        file.write_bytes(b"nonsense")
        assert f"bad.{ending}" in error(FAILED, "write", table, file)
    assert "none.parquet" in error(FAILED, "write", table, tmp_path / "none.parquet")
    assert "rows.xyz" in error(MISUSED, "write", table, tmp_path / "rows.xyz")


def test_write_tells_what_it_did(table):
    told = json.loads(done("write", table, "-", "--format", "jsonl", "--json",
                           stdin=lines([{**ROWS[0], "qty": 1e6}, {**ROWS[1], "id": 99}])))
    assert (told["inserts"], told["updates"], told["deletes"], told["failed"]) == (1, 1, 0, 0)
    assert re.fullmatch(r"\d{17}", told["instant"])


def test_delete(table):
    done("write", table, "-", "--format", "jsonl", "--op", "delete", stdin=lines(ROWS[:5]))
    assert len(json_lines(done("read", table))) == 15


def test_rollback_takes_the_newest_write_back(table):
    told = json.loads(done("write", table, "-", "--format", "jsonl", "--json",
                           stdin=lines([{**ROWS[0], "id": 99}])))
    assert len(json_lines(done("read", table))) == 21
    done("rollback", table, told["instant"])
    assert len(json_lines(done("read", table))) == 20
    assert done("verify", table).splitlines()[-1].endswith(", 0 findings")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_that_cannot_be_written_is_a_failure(table):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([PROGRAM, "read", table], stdout=full, stderr=subprocess.PIPE,
                                timeout=120, env=ENVIRONMENT, check=False)
    assert result.returncode == FAILED
    assert re.fullmatch(rb"hudi: [^\n]+\n", result.stderr)


def test_output_to_a_named_pipe(table, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    done("read", table, "--output", pipe, "--format", "jsonl")
    assert len(json_lines(reader.communicate(timeout=60)[0].decode())) == 20
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


# ---- JSON ---------------------------------------------------------------------------------------

def test_everything_that_lists_has_json(table):
    for what in ("config", "files", "partitions", "stats"):
        assert json_lines(done("show", table, what, "--json")), what
    assert json.loads(done("show", table, "schema"))["type"] == "record"
    commit, = json_lines(done("timeline", table, "--json"))
    assert (commit["action"], commit["state"], commit["inserts"]) == ("commit", "COMPLETED", 20)
    stats, = json_lines(done("show", table, "stats", "--json"))
    assert (stats["name"], stats["partitions"], stats["file_groups"]) == ("table", 2, 2)
    assert json_lines(done("verify", table, "--json")) == [
        {"level": "sum", "files": 2, "rows": 20, "findings": 0}]


def test_json_of_names_that_need_escapes(tmp_path, schema):
    path = tmp_path / 'quo"te\\'
    done("create", path, "--schema", schema, "--key", "id", "--name", 'a "b" \\ c',
         "--partition-by", "region")
    done("write", path, "-", "--format", "jsonl",
         stdin=lines([{**ROWS[0], "region": 'no"r\\t\u00fc'}]))
    partition, = json_lines(done("show", path, "partitions", "--json"))
    assert partition["partition"] == 'no"r\\t\u00fc'
    assert json_lines(done("show", path, "stats", "--json"))[0]["name"] == 'a "b" \\ c'
    (path / 'no"r\\t\u00fc' / "tab\tfile.parquet").write_bytes(b"x")
    (path / os.fsdecode(b"latin1-\xe9.parquet")).write_bytes(b"x")
    result = run("verify", path, "--json")
    assert result.returncode == FAILED
    found = [entry.get("where") for entry in json_lines(result.stdout.decode())]
    assert 'no"r\\t\u00fc/tab\tfile.parquet' in found
    assert "latin1-\ufffd.parquet" in found


# ---- verify -------------------------------------------------------------------------------------

def test_verify_fails_on_findings_alone(table):
    file = next((table / "north").glob("*.parquet"))
    (table / "north" / "readme.txt").write_text("x")
    noted = done("verify", table)
    assert noted.startswith("note: unknown-file: north/readme.txt: ")
    file.rename(table / "north" / "taken-away")
    result = run("verify", table)
    assert result.returncode == FAILED and result.stderr == b""
    text = result.stdout.decode()
    assert f"finding: missing-file: north/{file.name}: " in text
    assert text.endswith(", 1 findings\n")


def test_verify_in_a_hurry_sees_the_same_files(table):
    assert done("verify", table, "--quick") == done("verify", table)


def base_files(table):
    return sorted(str(path.relative_to(table)) for path in table.rglob("*.parquet"))


def planned_files(clean):
    return sorted(f"{partition}/{name}" for partition, names in clean["partitions"].items() for name in names)


def test_clean_plans_lists_and_runs(table):
    for _ in range(3):
        done("write", table, "--format", "jsonl", "-", stdin=lines(ROWS))
    files, before = base_files(table), done("read", table)

    (planned,) = json_lines(run("clean", table, "--commits", 1, "--dry-run", "--json").stdout.decode())
    assert (planned["instant"], planned["state"], planned["deleted"]) == ("", "REQUESTED", 0)
    assert planned["files"] == len(planned_files(planned)) > 0
    assert done("clean", table, "--pending", "--json") == ""
    assert base_files(table) == files

    instant = done("clean", table, "--commits", 1, "--schedule").split("\t")[0]
    (pending,) = json_lines(done("clean", table, "--pending", "--json"))
    assert (pending["instant"], pending["state"]) == (instant, "REQUESTED")
    assert planned_files(pending) == planned_files(planned)
    assert base_files(table) == files

    (ran,) = json_lines(done("clean", table, "--run", "--json"))
    assert (ran["instant"], ran["state"], ran["deleted"]) == (instant, "COMPLETED", ran["files"])
    assert base_files(table) == sorted(set(files) - set(planned_files(planned)))
    assert done("read", table) == before
    assert "0 findings" in done("verify", table)
    result = run("clean", table, "--commits", 1)
    assert (result.returncode, result.stdout, result.stderr) == (OK, b"", b"nothing to clean\n")
    error(MISUSED, "clean", table, "--run", "--schedule")


def test_a_write_cleans_when_it_is_done(table):
    keep = ["-o", "hoodie.cleaner.commits.retained=1"]
    for _ in range(4):
        done("write", table, "--format", "jsonl", "-", *keep, stdin=lines(ROWS))
    actions = [entry["action"] for entry in json_lines(done("timeline", table, "--json"))]
    assert "clean" in actions
    n_files = len(base_files(table))
    done("write", table, "--format", "jsonl", "-", *keep, "-o", "hoodie.clean.automatic=false", stdin=lines(ROWS))
    assert len(base_files(table)) > n_files


def test_archive_shortens_the_timeline_alone(table):
    for _ in range(5):
        done("write", table, "--format", "jsonl", "-", stdin=lines(ROWS))
    before, listed = done("read", table), json_lines(done("timeline", table, "--json"))
    (planned,) = json_lines(done("archive", table, "--min", 2, "--max", 3, "--dry-run", "--json"))
    assert (planned["instants"], planned["first"]) == (4, listed[0]["time"])
    assert json_lines(done("timeline", table, "--json")) == listed
    (did,) = json_lines(done("archive", table, "--min", 2, "--max", 3, "--json"))
    assert did == planned
    assert json_lines(done("timeline", table, "--json")) == listed[4:]
    archived = json_lines(done("timeline", table, "--archived", "--json"))
    for one in listed[:4]: # how long they took is not archived
        one.pop("duration_ms")
    assert [one for one in archived if one["state"] == "COMPLETED"] == listed[:4]
    assert done("read", table) == before
    assert "0 findings" in done("verify", table)
    result = run("archive", table)
    assert (result.returncode, result.stdout, result.stderr) == (OK, b"", b"nothing to archive\n")
    assert "keep.max" in error(MISUSED, "archive", table, "--min", 3, "--max", 3)


def test_a_savepoint_is_restored(table):
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    before = done("read", table)
    done("savepoint", table, first, "--comment", "the first rows")
    assert "already" in error(FAILED, "savepoint", table, first)
    assert "savepointed" in error(MISUSED, "rollback", table, first)
    changed = [{**row, "qty": row["qty"] + 1000} for row in ROWS]
    for _ in range(3):
        done("write", table, "--format", "jsonl", "-", "-o", "hoodie.cleaner.commits.retained=1",
             "-o", "hoodie.keep.min.commits=1", "-o", "hoodie.keep.max.commits=2", stdin=lines(changed))
    assert done("read", table) != before
    assert done("restore", table, first) == f"{first}: restored, 3 later writes undone\n"
    assert done("read", table) == before
    assert "0 findings" in done("verify", table)
    assert done("restore", table, first) == f"{first}: restored, 0 later writes undone\n"
    done("savepoint", table, first, "--delete")
    assert "not savepointed" in error(MISUSED, "savepoint", table, first, "--delete")
    done("write", table, "--format", "jsonl", "-", stdin=lines(changed))
    assert done("read", table) != before


def test_the_timeline_tells_what_services_did(table):
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    for _ in range(3):
        done("write", table, "--format", "jsonl", "-", stdin=lines(ROWS))
    commits = [one["time"] for one in json_lines(done("timeline", table, "--json"))]
    done("savepoint", table, commits[2], "--comment", "before it all", "--user", "ada")
    done("clean", table, "--commits", 1)
    done("rollback", table, commits[3])
    # a restore takes rollbacks after what it goes back to off the timeline
    (rollback,) = [one for one in json_lines(done("timeline", table, "--json"))
                   if one["action"] == "rollback"]
    assert rollback["rolled_back"] == commits[3] and rollback["files"] == 2
    assert f"undid {commits[3]}" in done("timeline", table)
    done("restore", table, commits[2])
    done("write", table, "--format", "jsonl", "-", stdin=lines(ROWS))
    done("restore", table, commits[2])
    told = {}
    for one in json_lines(done("timeline", table, "--json")):
        told.setdefault(one["action"], []).append(one)
    (clean,), (savepoint,), (restore,) = told["clean"], told["savepoint"], told["restore"]
    assert (clean["files"], clean["failed"], clean["earliest_retained"]) == (4, 0, commits[3])
    assert (savepoint["files"], savepoint["comment"], savepoint["by"]) == (2, "before it all", "ada")
    assert (restore["restored"], restore["undone"]) == (commits[2], 1)
    assert all(one["duration_ms"] >= 0 for one in [clean, restore, rollback, *told["commit"]])
    text = done("timeline", table)
    assert "4 files deleted, readable from" in text and f"back to {commits[2]}, 1 instants undone" in text
    assert "keeps 2 files, made by ada: before it all" in text and first in text


def test_what_was_cleaned_is_neither_savepointed_nor_restored(table):
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    for _ in range(3):
        done("write", table, "--format", "jsonl", "-", "-o", "hoodie.cleaner.commits.retained=1", stdin=lines(ROWS))
    assert "clean" in error(MISUSED, "savepoint", table, first)
    assert "clean" in error(MISUSED, "restore", table, first)
    assert "no completed write" in error(MISUSED, "restore", table, "20200101000000000")


def test_repair_puts_right_what_loses_no_row(table):
    meta, old = table / ".hoodie", 1_000_000_000
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    done("write", table, "--format", "jsonl", "-", stdin=lines(ROWS))
    before = done("read", table)
    hung, plan = str(int(first) + 1), str(int(first) + 2)
    for name in (f"{hung}.commit.requested", f"{hung}.inflight", f"{plan}.compaction.requested"):
        (meta / name).touch()
        os.utime(meta / name, (old, old))
    (table / "north" / f"stray-0_0-0-0_{hung}.parquet").touch()
    (meta / ".temp" / hung / "north").mkdir(parents=True)
    (meta / ".temp" / hung / "north" / f"stray-0_0-0-0_{hung}.parquet.marker.CREATE").touch()
    (meta / ".temp" / first / "south").mkdir(parents=True)
    (meta / ".heartbeat").mkdir()
    (meta / ".heartbeat" / first).touch()
    os.utime(meta / ".heartbeat" / first, (old, old))
    metafile = (table / "south" / ".hoodie_partition_metadata").read_text()
    (table / "south" / ".hoodie_partition_metadata").unlink()

    found = json_lines(run("verify", table, "--json").stdout.decode())
    kinds = {one["kind"] for one in found if "kind" in one}
    assert {"hung-instant", "damaged-instant", "missing-metafile", "leftover-markers", "dead-heartbeat"} <= kinds
    planned = [(one["kind"], one["where"]) for one in
               json_lines(run("verify", table, "--repair", "--dry-run", "--json").stdout.decode())
               if one["level"] == "to repair"]
    assert sorted(planned) == [("deleted-heartbeat", f".hoodie/.heartbeat/{first}"),
                               ("deleted-markers", f".hoodie/.temp/{first}"), ("dropped-plan", plan),
                               ("made-metafile", "south"), ("rolled-back", hung)]
    assert (meta / f"{hung}.inflight").exists() and not (table / "south" / ".hoodie_partition_metadata").exists()
    result = run("verify", table, "--repair", "--json")
    told = json_lines(result.stdout.decode())
    assert [(one["kind"], one["where"]) for one in told if one["level"] == "repaired"] == planned
    assert [one for one in told if one["level"] in ("finding", "note")] == [] and result.returncode == OK
    assert (table / "south" / ".hoodie_partition_metadata").read_text().count("partitionDepth=1") == 1
    assert "partitionDepth=1" in metafile
    assert not list(table.rglob("stray*"))
    assert done("read", table) == before
    assert run("verify", table, "--repair").stdout.decode() == done("verify", table)
    error(MISUSED, "verify", table, "--dry-run")


SHARED = ["-o", "hoodie.write.concurrency.mode=optimistic_concurrency_control", "-o",
          "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
          "-o", "libhudi.write.lock.wait.ms=0"]


def test_writers_of_hudi_share_the_table_by_its_lock_file(table):
    write = ["write", table, "--format", "jsonl", "-"]
    done(*write, *SHARED, stdin=lines(ROWS))
    lock, beats = table / ".hoodie" / "lock", table / ".hoodie" / ".heartbeat"
    assert not lock.exists() and list(beats.iterdir()) == []
    lock.touch() # somebody commits
    assert "lock file" in error(FAILED, *write, *SHARED, stdin=lines(ROWS))
    assert "lock file" in error(FAILED, "clean", table, *SHARED)
    os.utime(lock, (1_000_000_000, 1_000_000_000))
    assert "lock file" in error(FAILED, *write, *SHARED, stdin=lines(ROWS))
    result = run(*write, *SHARED, "-o", "hoodie.write.lock.filesystem.expire=1", stdin=lines(ROWS))
    assert result.returncode == OK and b"left behind" in result.stderr and not lock.exists()
    assert "lock.provider" in error(MISUSED, *write, *SHARED[:2], stdin=lines(ROWS))


def is_locked(table):
    """Whether a process holds the kernel's lock."""
    with open(table / ".hoodie" / ".libhudi.lock", "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def halted_write(table, tmp_path, rows, *words):
    """A write that has begun, holds no lock, and is stopped."""
    path = tmp_path / "halted.jsonl"
    path.write_bytes(lines(rows) * (100_000 // len(rows)))
    lock, begun = table / ".hoodie" / "lock", set((table / ".hoodie").glob("*.requested"))
    process = subprocess.Popen([PROGRAM, "write", table, path, *SHARED[:4], *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=ENVIRONMENT)
    while set((table / ".hoodie").glob("*.requested")) == begun or lock.exists():
        assert process.poll() is None
    process.send_signal(signal.SIGSTOP)
    while is_locked(table): # it was about to give the lock back
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
    assert not lock.exists() and process.poll() is None
    return process


def go_on(process):
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("retries", [0, 1])
def test_a_write_that_lost_a_race_is_tried_again_when_asked_for(table, tmp_path, retries):
    halted = halted_write(table, tmp_path, ROWS[:5], "-o", f"hoodie.write.num.retries.on.conflict.failures={retries}")
    done("write", table, "--format", "jsonl", "-", *SHARED[:4], stdin=lines(ROWS))
    status, out, err = go_on(halted)
    assert status == (OK if retries else FAILED)
    assert "the same file group" in err and ("written again" in err) == bool(retries)
    assert ("5 updated" in out) == bool(retries)


# What the halted write and another have as columns beside the table's; both insert into new file groups. Readers go
# by the schema of the newest instant, which is the other's.
@pytest.mark.parametrize("halted,other,status", [("", "b int", OK), ("a int", "", FAILED), ("a int", "b int", FAILED),
                                                 ("a int", "a int", OK)])
def test_columns_that_others_add_meanwhile_are_kept(table, tmp_path, halted, other, status):
    def rows(first, column):
        more = {column.split()[0]: 7} if column else {}
        return [{**row, "id": row["id"] + first, **more} for row in ROWS[:5]]

    bulk = ["--op", "bulk_insert"]
    process = halted_write(table, tmp_path, rows(100, halted), *bulk)
    done("write", table, "--format", "jsonl", "-", *SHARED[:4], *bulk, stdin=lines(rows(200, other)))
    got, _, err = go_on(process)
    assert got == status and (status == OK or "columns" in err), err
    columns = done("show", table, "schema")
    for column in (halted if status == OK else "", other):
        assert not column or re.search(rf"\b{column.split()[0]}\b", columns), columns
    found = json_lines(done("read", table))
    assert {row["id"] for row in found if row.get("b") == 7} == ({200, 201, 202, 203, 204} if other == "b int" else set())
    assert any(row["id"] == 100 for row in found) == (status == OK)


def test_a_writer_that_beats_is_left_alone(table):
    write = ["write", table, "--format", "jsonl", "-", *SHARED]
    first = json_lines(done("timeline", table, "--json"))[0]["time"]
    other = str(int(first) + 1)
    (table / ".hoodie" / f"{other}.commit.requested").touch()
    (table / ".hoodie" / f"{other}.inflight").touch()
    (table / ".hoodie" / ".heartbeat").mkdir()
    beat = table / ".hoodie" / ".heartbeat" / other
    beat.touch()
    done(*write, stdin=lines(ROWS))
    assert (table / ".hoodie" / f"{other}.inflight").exists()
    assert "writer-at-work" in run("verify", table).stdout.decode()
    os.utime(beat, (1_000_000_000, 1_000_000_000))
    result = run(*write, stdin=lines(ROWS))
    assert result.returncode == OK and other in result.stderr.decode()
    assert not (table / ".hoodie" / f"{other}.inflight").exists()


@pytest.mark.parametrize("new,key", [("true", "1"), ("false", "id:1")])
def test_the_first_write_chooses_the_form_of_complex_keys_of_one_field(tmp_path, schema, new, key):
    table = tmp_path / "t"
    done("create", table, "--schema", schema, "--key", "id", "--partition-by", "region", "-o",
         "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen.ComplexKeyGenerator")
    option = "hoodie.write.complex.keygen.new.encoding="
    done("write", table, "-", "--format", "jsonl", "-o", option + new, stdin=lines(ROWS[1:2]))
    done("write", table, "-", "--format", "jsonl", stdin=lines([{**ROWS[1], "name": "again"}]))
    assert [(row["_hoodie_record_key"], row["name"]) for row in json_lines(done("read", table))] == [(key, "again")]
