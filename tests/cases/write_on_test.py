# SPDX-License-Identifier: Apache-2.0
"""Every copy-on-write table of tests/golden is written to, or refused before a byte is written; every merge-on-read
table of versions 3 to 6 is compacted, clustered, cleaned and written to, but for what REFUSED lists."""
import hashlib
import json
import shutil
import tarfile

import pytest

from conftest import META, ROOT, Refused, Table, golden_names, run, unpack_golden

# Said of tables that this library does not write to.
REFUSALS = ("is not supported", "are not done yet",
            # What a table of Hudi before 1.0 does not say of itself; the message names the option.
            "hoodie.datasource.write.partitionpath.field says which",
            "hoodie.keygen.timebased.timestamp.type is not set")


def content(folder):
    """Digests of all files but those that a reader may make."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file() and path.name != ".libhudi.lock"}


def properties_of(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#")


def properties(path):
    return properties_of((path / ".hoodie" / "hoodie.properties").read_text(encoding="latin-1"))


def multiset(rows, without=META):
    return sorted(json.dumps({k: v for k, v in row.items() if k not in without}, sort_keys=True)
                  for row in rows)


def key_of(config):
    fields = (config.get("hoodie.table.recordkey.fields", "uuid") + "," +
              config.get("hoodie.table.partition.fields", "")).strip(",").split(",")
    return lambda row: tuple(str(row.get(field)) for field in fields)


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
    key = key_of(properties(table.path))
    try:
        done = table.write(rows[::2])
    except Refused as refused:
        assert any(words in str(refused) for words in REFUSALS), refused
        assert content(table.path) == before, "refused, and yet written to"
        pytest.skip(str(refused))
    assert done["inserts"] == 0, "known keys were not found"
    if len({key(row) for row in rows}) == len(rows):  # else they become alike
        assert multiset(table.read()) == multiset(rows)
    table.write(rows[:1], op="delete")
    assert key(rows[0]) not in {key(row) for row in table.read()}
    if is_sound:
        table.verify()


# What is refused of which merge-on-read table, and why.
CHANGELOG = "changelog operations"
EVOLVED = "schema on read"
BUCKETS = "bucket index"
DAMAGED = "its rows may be lost for good"  # log files are cut or gone that commits name
REFUSED = {
    "flink010-mor-damaged-committed": {"compact": DAMAGED, "cluster": DAMAGED},
    "flink010-mor-changelog": {"compact": CHANGELOG, "cluster": CHANGELOG, "write": CHANGELOG},
    "spark-0.15.0-damage-corrupt-middle": {"compact": DAMAGED, "cluster": DAMAGED},
    "spark-0.15.0-damage-truncated-log": {"compact": DAMAGED, "cluster": DAMAGED},
    "spark-0.15.0-evolve-ddl-mor": {"compact": EVOLVED, "cluster": EVOLVED, "write": EVOLVED},
    "spark-0.15.0-mor-appended-log": {"compact": DAMAGED, "cluster": DAMAGED},
    "spark-0.15.0-mor-bucket": {"cluster": BUCKETS, "write": BUCKETS},
    "spark-0.15.0-mor-consistent-bucket": {"cluster": BUCKETS, "write": BUCKETS},
    "spark-0.15.0-mor-logs-only": {"cluster": BUCKETS, "write": BUCKETS},
}


def merge_on_read_names():
    """Golden tables of that type of a version that is written to."""
    found = []
    for name in golden_names():
        with tarfile.open(ROOT / "tests" / "golden" / f"{name}.tar.gz") as archive:
            member = next(one for one in archive if one.name.endswith(".hoodie/hoodie.properties") and
                          ".hoodie/metadata/" not in one.name)
            config = properties_of(archive.extractfile(member).read().decode("latin-1"))
        if config["hoodie.table.type"] == "MERGE_ON_READ" and int(config.get("hoodie.table.version", 6)) <= 6:
            found.append(name)
    return found


def attempt(table, name, what, act):
    """Whether it was done; else it is a refusal that REFUSED lists, and nothing was written."""
    words = REFUSED.get(name, {}).get(what)
    before = content(table.path)
    try:
        act()
    except Refused as refused:
        assert words is not None and words in str(refused), f"{what}: {refused}"
        assert content(table.path) == before, "refused, and yet written to"
        return False
    assert words is None, f"{what} is not refused any more: take it off REFUSED"
    return True


SERVICES = (("compact", ()), ("cluster", ()), ("clean", ("--commits", 1)))


@pytest.mark.parametrize("name", merge_on_read_names())
def test_services_and_writes_leave_the_rows_of_merge_on_read_tables(name, tmp_path):
    table, written = Table(tmp_path), Table(tmp_path)
    table.path = unpack_golden(name, tmp_path / "unpacked")
    written.path = tmp_path / "written"
    shutil.copytree(table.path, written.path)
    is_sound = run("verify", table.path).returncode == 0  # damaged log files that a commit knows stay damaged
    before = table.read(meta=True)
    assert before

    def serve(one, rows, without):
        for what, words in SERVICES:
            done = attempt(one, name, what, lambda: one.do(what, one.path, *words))
            if done and what == "compact":
                now = one.read("--read-optimized", meta=True)
                assert multiset(now, without) == multiset(rows, without), "log files are left"
            assert multiset(one.read(meta=True), without) == multiset(rows, without), f"after {what}"
        if is_sound:
            one.verify()

    serve(table, before, ["_hoodie_file_name"])
    rows = [{k: v for k, v in row.items() if k not in META} for row in before]
    if not attempt(written, name, "write", lambda: written.write(rows[::2])):
        return
    assert multiset(written.read()) == multiset(rows)
    key = key_of(properties(written.path))
    written.write(rows[:1], op="delete")
    kept = [row for row in rows if key(row) != key(rows[0])]
    assert len(kept) == len(rows) - 1 and multiset(written.read()) == multiset(kept)
    serve(written, kept, META)


def test_every_refusal_is_of_a_merge_on_read_table():
    assert set(REFUSED) <= set(merge_on_read_names())
