# SPDX-License-Identifier: Apache-2.0
"""Every copy-on-write table of tests/golden is written to, or refused before a byte is written."""
import hashlib
import json

import pytest

from conftest import META, Refused, Table, golden_names, run, unpack_golden

# Said of tables that this library does not write to.
REFUSALS = ("is not supported", "are not done yet",
            # What a table of Hudi before 1.0 does not say of itself; the message names the option.
            "hoodie.datasource.write.partitionpath.field says which",
            "hoodie.keygen.timebased.timestamp.type is not set")


def content(folder):
    """Digests of all files but those that a reader may make."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file() and path.name != ".libhudi.lock"}


def properties(path):
    lines = (path / ".hoodie" / "hoodie.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")


def multiset(rows):
    return sorted(json.dumps({k: v for k, v in row.items() if k not in META}, sort_keys=True)
                  for row in rows)


@pytest.mark.parametrize("name", [name for name in golden_names() if "mor" not in name])
def test_rows_upserted_as_they_are_change_nothing(name, tmp_path):
    table = Table(tmp_path)
    table.path = unpack_golden(name, tmp_path / "unpacked")
    before = content(table.path)
    is_sound = run("verify", table.path).returncode == 0  # a damaged log file stays damaged
    try:
        rows = table.read()
    except Refused as refused:
        pytest.skip(f"not read: {refused}")
    config = properties(table.path)
    fields = (config.get("hoodie.table.recordkey.fields", "uuid") + "," +
              config.get("hoodie.table.partition.fields", "")).strip(",").split(",")
    key_of = lambda row: tuple(str(row.get(field)) for field in fields)
    try:
        done = table.write(rows[::2])
    except Refused as refused:
        assert any(words in str(refused) for words in REFUSALS), refused
        assert content(table.path) == before, "refused, and yet written to"
        pytest.skip(str(refused))
    assert done["inserts"] == 0, "known keys were not found"
    if len({key_of(row) for row in rows}) == len(rows):  # else they become alike
        assert multiset(table.read()) == multiset(rows)
    table.write(rows[:1], op="delete")
    assert key_of(rows[0]) not in {key_of(row) for row in table.read()}
    if is_sound:
        table.verify()
