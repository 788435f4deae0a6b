# SPDX-License-Identifier: Apache-2.0
"""Tables that `hudi write` made: each reader gives exactly the rows that `hudi read` prints."""
import pathlib

import pytest

from cow_tables import TABLES, is_mor
from peers import Failed, difference

READERS = {"spark015": 6, "spark11": 6, "hudi_rs": 6, "flink": 3}  # with the table version they are given
# Those of Java read merge-on-read tables in mor_rounds_test.py.
READS = [(reader, name) for reader in READERS for name in TABLES if reader == "hudi_rs" or not is_mor(name)]


def read_exceptions():
    """{(reader, table): columns that differ, or () for the whole table}"""
    listed = {}
    for line in (pathlib.Path(__file__).parent / "exceptions.txt").read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words:
            listed[tuple(words[:2])] = tuple(word.removeprefix("-") for word in words[2:])
    return listed


EXCEPTIONS = read_exceptions()


@pytest.fixture(scope="session")
def made(hudi, tmp_path_factory):
    """made(name, version): the table's folder, what `hudi read` prints, and what should be in it."""
    folder, done = tmp_path_factory.mktemp("cow"), {}

    def make(name, version):
        if (name, version) not in done:
            path = folder / f"{name}_v{version}"
            expected = TABLES[name].make(hudi, path, version)
            done[name, version] = path, hudi.read(path), expected
        return done[name, version]

    return make


def without(rows, columns):
    return [{key: value for key, value in row.items() if key not in columns} for row in rows]


def data_of(rows):
    return [{key: value for key, value in row.items() if not key.startswith("_hoodie_")} for row in rows]


def filled(rows, columns):
    return [{name: row.get(name) for name in columns} for row in rows]


def floats(name):
    return {column for column, kind in TABLES[name].columns.items() if kind == "float"}


@pytest.mark.parametrize("version", [6, 3])
@pytest.mark.parametrize("name", TABLES)
def test_our_program_reads_what_it_wrote(hudi, made, name, version):
    path, ours, expected = made(name, version)
    columns = list(dict.fromkeys([*TABLES[name].columns, *(key for row in expected for key in row)]))
    assert difference(filled(expected, columns), data_of(ours), floats(name)) == []
    if is_mor(name) and any(op in ("upsert", "delete") for op, _ in TABLES[name].steps[1:]):
        assert [log for log in path.rglob(".*.log.*") if ".hoodie" not in log.relative_to(path).parts]
    hudi.run("verify", path)


@pytest.mark.parametrize("reader,name", READS)
def test_a_reader_gives_the_rows_that_hudi_read_prints(request, made, reader, name):
    peer = request.getfixturevalue(reader)
    path, ours, _ = made(name, READERS[reader])
    try:
        theirs, wrong = peer.read(path), []
    except Failed as failure:
        theirs, wrong = None, [str(failure)]
    if theirs is not None:
        wrong = difference(ours, theirs, floats(name))
    excepted = EXCEPTIONS.get((reader, name))
    if excepted is None:
        assert wrong == []
        return
    assert wrong, f"{reader} reads {name}: take it off exceptions.txt"
    if excepted:
        assert theirs is not None, wrong
        assert difference(without(ours, excepted), without(theirs, excepted), floats(name)) == []


def test_every_exception_is_of_a_read():
    assert [pair for pair in EXCEPTIONS if pair not in READS] == []
