# SPDX-License-Identifier: Apache-2.0
"""Standard input, output and error that are closed, full, or that nobody reads."""
import hashlib
import json
import os
import subprocess

import pytest

from cli_test import ENVIRONMENT, FAILED, MISUSED, PROGRAM, done, error

NO_READER = 141


def run(*words, **more):
    return subprocess.run([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, timeout=120,
                          env=ENVIRONMENT, check=False, **more)


def closing(fd):
    return {"preexec_fn": lambda: os.close(fd)}


@pytest.fixture(name="table")
def make_table(tmp_path):
    rows = tmp_path / "rows.csv"
    # more than a pipe holds, in any format
    rows.write_text("id,v\n" + "".join(f"{i},{hashlib.sha512(b'%d' % i).hexdigest()}\n"
                                       for i in range(5000)))
    done("write", tmp_path / "t", rows, "--key", "id", "--type", "mor")
    done("write", tmp_path / "t", rows)
    return tmp_path / "t"


@pytest.mark.parametrize("words", [["--format", "jsonl"], ["--format", "csv"], ["--format", "arrow"],
                                   ["--format", "table"], ["--format", "parquet"]])
def test_a_reader_that_goes_away_ends_it_quietly(table, words):
    with subprocess.Popen([PROGRAM, "read", table, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (NO_READER, b"")


@pytest.mark.parametrize("words", [["read", "t", "--limit", "1"], ["timeline", "t"], ["show", "t"],
                                   ["--options"], ["--help"], ["read", "--help"], ["--version"],
                                   ["show", "t", "files"], ["timeline", "t", "--json"]])
def test_an_output_that_is_full_closed_or_left_is_no_success(table, words):
    words = [table if word == "t" else word for word in words]
    with open("/dev/full", "wb") as full:
        told = run(*words, stdout=full)
    assert told.returncode == FAILED and told.stderr.startswith(b"hudi: standard output")
    told = run(*words, **closing(1))
    assert told.returncode == FAILED and told.stderr.startswith(b"hudi: standard output")
    left, output = os.pipe()
    os.close(left)
    told = run(*words, stdout=output)
    os.close(output)
    assert (told.returncode, told.stderr) == (NO_READER, b"")


def test_a_write_whose_result_nobody_hears_is_committed(table, tmp_path):
    (tmp_path / "more.csv").write_text("id,v\n-1,new\n")
    told = run("write", table, tmp_path / "more.csv", **closing(1))
    assert told.returncode == FAILED and b"standard output could not be written" in told.stderr
    assert '"new"' in done("read", table, "--where", "id = -1", "--format", "jsonl")
    done("verify", table)


def test_a_closed_standard_input_is_no_empty_one(table):
    told = run("write", table, "-", "--format", "jsonl", **closing(0))
    assert told.returncode == FAILED and b"standard input: " in told.stderr


def test_notes_for_a_closed_standard_error_go_into_no_other_file(table, tmp_path):
    log = max(table.glob(".*.log.*"))
    log.write_bytes(log.read_bytes()[:-20])
    out = tmp_path / "out.jsonl"
    told = run("read", table, "--output", out)
    assert told.returncode == 0 and b"hudi: note: " in told.stderr
    whole = out.read_bytes()
    assert subprocess.run([PROGRAM, "read", table, "--output", out], env=ENVIRONMENT, timeout=120,
                          check=False, **closing(2)).returncode == 0
    assert out.read_bytes() == whole
    assert len([json.loads(line) for line in whole.splitlines()]) == 5000


@pytest.mark.parametrize("words, said", [
    (["reed", "t"], 'no command "reed": did you mean read?'),
    (["comapct", "t"], 'no command "comapct": did you mean compact?'),
    (["quite-another", "t"], 'no command "quite-another" (see hudi --help)'),
    (["read", "t", "--limt", "1"], "read has no option --limt: did you mean --limit?"),
    (["write", "t", "--ignore-fail"], "did you mean --ignore-failed?"),
    (["read", "t", "--x"], "read has no option --x (see hudi read --help)")])
def test_a_word_that_is_nearly_right_is_told(words, said):
    assert said in error(MISUSED, *words)


def test_a_write_without_a_table_tells_how_one_is_made(tmp_path):
    (tmp_path / "rows.csv").write_text("id\n1\n")
    said = error(FAILED, "write", tmp_path / "none", tmp_path / "rows.csv")
    assert "no Hudi table at" in said and "(--key F makes one)" in said
