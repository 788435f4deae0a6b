# SPDX-License-Identifier: Apache-2.0
"""The runner, with programs that answer rightly and wrongly from a table of two rows."""
import json
import pathlib
import subprocess
import sys
import tarfile

import pytest

RUN = pathlib.Path(__file__).parent / "run.py"
ROWS = [{"_hoodie_record_key": "a", "qty": 1}, {"_hoodie_record_key": "b", "qty": 2}]

# Answers as the facts of the case below say. FAULT is replaced by one line that spoils an answer.
PROGRAM = """#!{python}
import json, os, sys
table, options = sys.argv[2], sys.argv[5:]
rows, error = {rows}, None
if "--as-of" in options:
    rows = rows[:1] if options[1] == "1" else rows
    error = "cleaned" if options[1] == "0" else None
if "--since" in options:
    rows = rows[1:]
{fault}
if error:
    print("hudi: " + error, file=sys.stderr)
    sys.exit(1)
for row in rows:
    print(json.dumps(row))
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with one case, "one": two rows, three as-of reads (one refused), one incremental read."""
    table = tmp_path / "one"
    table.mkdir()
    (table / "data").write_text("x")
    cases = tmp_path / "cases"
    cases.mkdir()
    with tarfile.open(cases / "one.tar.gz", "w:gz") as archive:
        archive.add(table, "one")
    (cases / "one.expected.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    facts = {
        "as_of": [{"instant": "1", "rows": 1}, {"instant": "2", "rows": 2},
                  {"instant": "0", "error": "Cleaner cleaned up the timestamp"}],
        "incremental": [{"from": "1", "rows": 1}, {"from": "000", "error": "Hudi fails"}],
    }
    (cases / "one.json").write_text(json.dumps(facts))
    return cases


def run(folder, fault="", not_yet=""):
    program = folder.parent / "hudi"
    program.write_text(PROGRAM.format(python=sys.executable, rows=ROWS, fault=fault))
    program.chmod(0o755)
    (folder / "not_yet.txt").write_text(not_yet)
    done = subprocess.run([sys.executable, RUN, "--program", program, "--folder", folder],
                          capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_right_answers_pass(folder):
    assert run(folder) == (0, ["pass one", "1 passed, 0 failed, 0 not yet"])


FAULTS = {
    "a wrong value": ("rows = [dict(rows[0], qty=9), *rows[1:]]", "qty: 9, not 1"),
    "a row too few": ("rows = rows[1:]", "snapshot: 1 rows, not 2"),
    "a row twice": ("rows = rows + rows[:1]", "snapshot: 3 rows, not 2"),
    "a wrong number as of": ("rows = ROWS if '--as-of' in options else rows".replace("ROWS", repr(ROWS)),
                             "as of 1: 2 rows, not 1"),
    "a wrong number since": ("rows = [] if '--since' in options else rows", "since 1: 0 rows, not 1"),
    "rows instead of a refusal": ("error = None", "instead of an error"),
    "an error": ("error = 'disk on fire'", "exit code 1: hudi: disk on fire"),
    "a crash": ("os.kill(os.getpid(), 11)", "exit code -11"),
    "no JSON": ("print('oops')", "line 1 is not JSON"),
    "a changed table": ("open(table + '/stray', 'w').close()", "reading changed its files"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails(folder, fault):
    code, lines = run(folder, FAULTS[fault][0])
    assert code == 1
    assert lines[0] == "fail one" and lines[-1] == "0 passed, 1 failed, 0 not yet"
    assert FAULTS[fault][1] in "\n".join(lines)


def test_a_listed_case_that_is_wrong_is_not_yet(folder):
    assert run(folder, "error = 'no'", "one # soon") == (0, ["not yet one", "0 passed, 0 failed, 1 not yet"])


def test_a_listed_case_that_is_right_fails(folder):
    code, lines = run(folder, "", "one")
    assert code == 1 and lines[0] == "fail one" and "take it off" in lines[1]


def test_a_listed_read_excuses_itself_alone(folder):
    fault = FAULTS["a wrong number since"][0]
    assert run(folder, fault, "one: since 1")[0] == 0
    assert run(folder, fault + "; rows = rows[:1]", "one: since 1")[0] == 1
    code, lines = run(folder, "", "one: since 1")
    assert code == 1 and "take it off" in lines[1]


def test_a_listed_case_or_read_that_there_is_not_fails(folder):
    assert run(folder, "", "two")[0] == 1
    assert run(folder, "", "one: since 7")[0] == 1
