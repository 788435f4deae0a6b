# SPDX-License-Identifier: Apache-2.0
"""Damage that an operator meets: hudi verify says what to do, and doing it helps."""
import json

import pytest

from cli_test import FAILED, done, error, json_lines, run

ROWS = "id,p,v\n1,x,a\n2,y,b\n3,x,c\n"


@pytest.fixture(name="table", params=["cow", "mor"])
def make_table(tmp_path, request):
    for _ in range(3):
        done("write", tmp_path / "t", "-", "--format", "csv", "--key", "id", "--partition-by", "p",
             "--type", request.param, stdin=ROWS.encode())
    return tmp_path / "t"


def instants(table):
    return [line["time"] for line in json_lines(done("timeline", table, "--json"))]


def newest_file(table):
    return max((table / "x").iterdir(), key=lambda path: (instants(table)[-1] in path.name,
                                                          ".log." in path.name, path.name))


def advice(table):
    """Findings' kinds, and what is said about them."""
    result = run("verify", table)
    assert result.returncode == FAILED
    lines = result.stdout.decode().splitlines()
    assert lines[-1].endswith(" findings")
    assert all(line.startswith("{") for line in
               run("verify", table, "--json").stdout.decode().splitlines())
    return ({line.split(": ")[1] for line in lines if line.startswith("finding: ")},
            [line for line in lines if line.startswith("what to do: ")])


def sound(table):
    assert done("verify", table).splitlines()[-1].endswith(", 0 findings")
    assert len(json_lines(done("read", table))) == 3


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_damaged_file_is_put_back_or_gone_back_behind(table, damage):
    path = newest_file(table)
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(whole[:-40])
    kinds, said = advice(table)
    assert kinds & {"missing-file", "wrong-size"}
    assert len(said) == 1 and "Put back a copy" in said[0] and "hudi restore TABLE INSTANT" in said[0]
    path.write_bytes(whole)
    sound(table)
    path.unlink()
    done("restore", table, instants(table)[1])
    sound(table)


@pytest.mark.parametrize("way", ["copy", "remove"])
def test_an_empty_instant_is_put_back_or_undone(table, way):
    newest = instants(table)[-1]
    (path,) = (path for path in (table / ".hoodie").iterdir()
               if path.name in (f"{newest}.commit", f"{newest}.deltacommit"))
    whole = path.read_bytes()
    path.write_bytes(b"")
    kinds, said = advice(table)
    assert "damaged-instant" in kinds
    assert any("--repair undoes it" in line for line in said)
    if way == "copy":
        path.write_bytes(whole)
    else:
        path.unlink()
        run("verify", table, "--repair")
    sound(table)


def test_a_missing_metafile_is_made(table):
    (table / "x" / ".hoodie_partition_metadata").unlink()
    kinds, said = advice(table)
    assert kinds == {"missing-metafile"} and "hudi verify TABLE --repair makes it" in said[0]
    done("verify", table, "--repair")
    sound(table)


def test_a_table_without_its_properties_is_not_made_anew(table, tmp_path):
    properties = table / ".hoodie" / "hoodie.properties"
    whole = properties.read_bytes()
    properties.unlink()
    (tmp_path / "rows.csv").write_text(ROWS)
    said = error(FAILED, "write", table, tmp_path / "rows.csv")
    assert said.endswith("hoodie.properties: put back a copy of it")
    assert "there is a timeline at" in error(FAILED, "write", table, tmp_path / "rows.csv", "--key", "id")
    assert not properties.exists()
    properties.write_bytes(whole.replace(b"hoodie.table.name=t\n", b"hoodie.table.name=u\n"))
    assert "a name changed by hand" in error(FAILED, "read", table)
    properties.write_bytes(whole)
    sound(table)


def test_findings_of_one_kind_are_advised_once(table):
    for partition in ("x", "y"):
        (table / partition / ".hoodie_partition_metadata").unlink()
    _, said = advice(table)
    assert len(said) == 1
    lines = [json.loads(line) for line in
             run("verify", table, "--json").stdout.decode().splitlines()]
    assert [line["level"] for line in lines].count("finding") == 2
