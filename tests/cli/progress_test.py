# SPDX-License-Identifier: Apache-2.0
"""The progress line: on a terminal alone, gone before anything else is printed."""
import os
import pty
import re
import subprocess

import pytest

from cli_test import PROGRAM, ROWS, done, run, schema  # noqa: F401

ERASE = "\r\x1b[K"


def on_terminal(*words):
    """What a run prints on standard output, and on a terminal that is its standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=theirs, text=True)
    os.close(theirs)
    shown = b""
    try:
        while True:
            piece = os.read(ours, 4096)
            if not piece:
                break
            shown += piece
    except OSError: # the last one to have it open is gone
        pass
    os.close(ours)
    told, _ = process.communicate(timeout=60)
    return process.returncode, told, shown.decode()


def lines_of(shown):
    """What was shown one after the other; the line must be gone at the end."""
    assert shown.startswith(ERASE) and shown.endswith(ERASE), shown
    return shown.split(ERASE)[1:-1]


def rows(tmp_path, name, numbers, v):
    path = tmp_path / name
    path.write_text("".join(f'{{"id": "{i:05}", "v": {v}}}\n' for i in numbers), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    """A merge-on-read table with log files, and several versions of them."""
    path = tmp_path / "t"
    done("write", path, rows(tmp_path, "a", range(500), 1), "--format", "jsonl", "--key", "id", "--type", "mor")
    for v in (2, 3):
        done("write", path, rows(tmp_path, "b", range(0, 500, 5), v), "--format", "jsonl",
             "-o", "hoodie.clean.automatic=false")
    return path


def test_a_write_shows_the_rows_that_it_read(tmp_path):
    given = rows(tmp_path, "a.jsonl", range(500), 1)
    code, told, shown = on_terminal("write", tmp_path / "t", given, "--key", "id")
    assert code == 0 and "500 inserted" in told
    assert re.fullmatch(re.escape(str(given)) + r": 500 rows, \d+ rows/s", lines_of(shown)[0])


SERVICES = {"compaction": ["compact"], "log compaction": ["compact", "--logs", "--blocks", "2"], "clustering": ["cluster"]}


@pytest.mark.parametrize("name", SERVICES)
def test_what_rewrites_shows_file_slices(table, name):
    code, told, shown = on_terminal(*SERVICES[name][:1], table, *SERVICES[name][1:])
    assert code == 0 and "COMPLETED" in told
    assert re.fullmatch(name + r" \d{17}: 0 of 1 file slices", lines_of(shown)[0])


def test_a_clean_shows_files(table, tmp_path):
    for v in (4, 5):
        done("compact", table)
        done("write", table, rows(tmp_path, "c", range(0, 500, 5), v), "--format", "jsonl",
             "-o", "hoodie.clean.automatic=false")
    code, told, shown = on_terminal("clean", table, "--versions", 1)
    assert code == 0 and "deleted" in told
    assert re.fullmatch(r"clean \d{17}: 0 of [1-9]\d* files", lines_of(shown)[0])


def test_a_service_behind_a_write_shows_its_own_line(table, tmp_path):
    given = rows(tmp_path, "d.jsonl", range(0, 500, 5), 4)
    code, _, shown = on_terminal("write", table, given, "-o", "hoodie.compact.inline=true",
                                 "-o", "hoodie.compact.inline.max.delta.commits=1")
    assert code == 0
    assert any(re.fullmatch(r"compaction \d{17}: 0 of 1 file slices", line) for line in lines_of(shown))


def test_an_error_stands_on_a_line_of_its_own(tmp_path):
    given = tmp_path / "a.jsonl"
    given.write_text('{"id": "1"}\n{"id": null}\n', encoding="utf-8")
    code, _, shown = on_terminal("write", tmp_path / "t", given, "--key", "id")
    assert code == 1
    assert shown.split(ERASE)[-1].startswith("hudi: ")


@pytest.mark.parametrize("words", [["compact"], ["cluster"], ["clean", "--versions", "1"]])
def test_without_a_terminal_there_is_none(table, words):
    result = run(words[0], table, *words[1:])
    assert result.returncode == 0
    assert b"\x1b" not in result.stderr + result.stdout and b"\r" not in result.stderr + result.stdout
