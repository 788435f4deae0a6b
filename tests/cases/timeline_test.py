# SPDX-License-Identifier: Apache-2.0
"""Faults of the timeline that users met elsewhere: each report as a kind, with its variants."""
import json
import re
import pytest

from conftest import Refused, Table, golden_names, run, unpack_golden

PLAIN = "id string\nts long\nv string\n"


def three_commits(table):
    table.create(PLAIN, order_by="ts")
    times = [table.write([{"id": key, "ts": i, "v": f"v{i}"}])["instant"]
             for i, key in enumerate("aba")]
    return times


# ---- B34: a completed instant of no bytes -----------------------------------------------------

def separate_commits(table):
    """Each in a file group of its own, so that no later one holds an earlier one's rows."""
    table.create(PLAIN, order_by="ts")
    return [table.write([{"id": key, "ts": 1, "v": key}], op="bulk_insert")["instant"]
            for key in "abc"]


def test_an_empty_completed_commit_is_named_everywhere(table):
    times = separate_commits(table)
    (table.path / ".hoodie" / f"{times[1]}.commit").write_bytes(b"")
    before = sorted(path.name for path in (table.path / ".hoodie").iterdir())
    for words in (["read", table.path], ["read", table.path, "--since", times[0]],
                  ["read", table.path, "--as-of", times[2]], ["show", table.path, "files"],
                  ["verify", table.path], ["write", table.path, write_input(table)]):
        result = run(*words)
        text = (result.stdout + result.stderr).decode()
        assert result.returncode == 1, words
        assert times[1] in text and "0 bytes" in text, (words, text)
    listed = run("timeline", table.path)  # the others are told all the same
    assert listed.returncode == 1 and times[1] in listed.stderr.decode()
    assert all(time in listed.stdout.decode() for time in times)
    assert sorted(path.name for path in (table.path / ".hoodie").iterdir()
                  if path.name != ".libhudi.lock") == [n for n in before if n != ".libhudi.lock"]


@pytest.mark.parametrize("content", [b"{", b"null", b"[]", b"\0" * 100])
def test_a_damaged_commit_is_found_by_verify_and_by_who_needs_it(table, content):
    times = separate_commits(table)
    (table.path / ".hoodie" / f"{times[2]}.commit").write_bytes(content)
    for words in (["read", table.path], ["verify", table.path],
                  ["write", table.path, write_input(table)]):
        result = run(*words)
        assert result.returncode == 1, words
        assert times[2] in (result.stdout + result.stderr).decode(), words


def write_input(table):
    path = table.folder / "more.jsonl"
    path.write_text('{"id":"d","ts":1,"v":"d"}\n')
    return path


def test_the_other_commits_can_be_read_when_asked(table):
    times = separate_commits(table)
    (table.path / ".hoodie" / f"{times[1]}.commit").write_bytes(b"")
    assert table.values("id", "-o", "libhudi.read.recover=true") == ["a", "c"]
    assert table.values("id", "--as-of", times[0], "-o", "libhudi.read.recover=true") == ["a"]
    with pytest.raises(Refused) as refused:
        table.read()
    assert times[1] in str(refused.value)


def test_a_pending_instant_of_no_bytes_is_nothing_special(table):
    times = separate_commits(table)
    folder = table.path / ".hoodie"
    (folder / f"{times[2]}.commit").unlink()
    assert (folder / f"{times[2]}.inflight").exists()
    assert table.values("id") == ["a", "b"]
    table.write([{"id": "d", "ts": 1, "v": "d"}])
    assert table.values("id") == ["a", "b", "d"]
    table.verify()


# ---- B39: bounds of incremental reads ---------------------------------------------------------

def changes(table, since, until=None):
    words = ["--since", since] + (["--until", until] if until else [])
    return sorted((row["id"], row["v"]) for row in table.read(*words))


def test_the_begin_is_not_part_of_a_range_and_the_end_is(table):
    first, second, third = three_commits(table)
    assert changes(table, first, third) == [("a", "v2"), ("b", "v1")]
    assert changes(table, first, second) == [("b", "v1")]
    assert changes(table, "0") == [("a", "v2"), ("b", "v1")]
    assert changes(table, third) == []
    assert changes(table, second) == [("a", "v2")]
    assert changes(table, "0", first) == [("a", "v0")]
    assert changes(table, second, second) == []


def test_instants_of_seconds_and_of_milliseconds_compare(table):
    """Hudi wrote 14 digits before 0.10, 17 since: 14 stand for the end of their second."""
    first, second, third = three_commits(table)
    assert changes(table, "20000101000000") == [("a", "v2"), ("b", "v1")]
    assert changes(table, "20000101000000", "29990101000000") == [("a", "v2"), ("b", "v1")]
    assert changes(table, "29990101000000") == []
    assert first < second < third


def test_a_replaced_row_is_no_change_of_later_ranges(table):
    table.create("id string\nts long\nv string\np string\n", order_by="ts", partition_by="p")
    rows = [{"id": key, "ts": 1, "v": "v0", "p": key} for key in "ab"]
    first = table.write(rows)["instant"]
    second = table.write([dict(rows[0], v="v1")], op="insert_overwrite")["instant"]
    third = table.write([{"id": "b", "p": "b"}], op="delete")["instant"]
    assert changes(table, first) == [("a", "v1")]
    assert changes(table, "0") == [("a", "v1")]
    assert changes(table, "0", first) == [("a", "v0"), ("b", "v0")]
    assert changes(table, first, second) == [("a", "v1")]
    assert changes(table, second, third) == []


@pytest.mark.parametrize("name", [name for name in golden_names() if "mor" not in name])
def test_changes_until_now_are_the_rows_of_later_commits(name, tmp_path):
    """Of tables that Hudi wrote, archived and cleaned ones among them: the rows or an error."""
    table = Table(tmp_path)
    table.path = unpack_golden(name, tmp_path / "unpacked")
    properties = (table.path / ".hoodie" / "hoodie.properties").read_text()
    if re.search(r"^hoodie.table.version=[89]$", properties, re.MULTILINE):
        pytest.skip("from version 8 on ranges go by completion times, which rows do not have")
    try:
        rows = table.read(meta=True)
        times = sorted({row["_hoodie_commit_time"] for row in rows})
    except (Refused, KeyError) as why:
        pytest.skip(f"no commit times to go by: {why}")
    for since in ["0"] + times:
        try:
            found = table.read("--since", since, meta=True)
        except Refused as refused:
            assert "clean" in str(refused) or "archive" in str(refused), refused
            continue
        expected = [row for row in rows if row["_hoodie_commit_time"] > since]
        assert sorted(map(str, found)) == sorted(map(str, expected)), since


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_past_that_was_cleaned_is_an_error(table, kind):
    """Not fewer rows: of groups that are gone altogether, and of versions that others follow."""
    options = {"hoodie.cleaner.commits.retained": 1, "hoodie.parquet.small.file.limit": 1 << 30}
    table.create("id string\nts long\nv string\np string\n", order_by="ts", partition_by="p",
                 options={"hoodie.table.type": kind})
    row = lambda key, p: {"id": key, "ts": 1, "v": "v", "p": p}
    first = table.write([row("a", "x")], options=options)["instant"]
    second = table.write([row("b", "x"), row("c", "y")], options=options)["instant"]
    table.write([row("d", "y")], op="insert_overwrite_table", options=options)
    last = table.write([row("e", "y")], options=options)["instant"]
    for past in (first, second):
        with pytest.raises(Refused, match="was cleaned since"):
            table.read("--as-of", past)
    assert [found["id"] for found in table.read("--as-of", last)] == ["d", "e"]


@pytest.mark.parametrize("logged", [False, True])
def test_what_a_clean_that_died_took_in_part_is_an_error(table, logged):
    """A slice without its base file, or without a log file, reads as other rows."""
    table.create(PLAIN, order_by="ts",
                 options={"hoodie.table.type": "MERGE_ON_READ" if logged else "COPY_ON_WRITE"})
    keep = {"hoodie.clean.automatic": "false"}
    first = table.write([{"id": "a", "ts": 1, "v": "1"}, {"id": "b", "ts": 1, "v": "1"}], options=keep)["instant"]
    last = [{"id": "a", "ts": 2, "v": "2"}, {"id": "b", "ts": 1, "v": "1"}]
    table.write(last[:1], options=keep)
    if logged:
        table.do("compact", table.path)
    table.do("clean", table.path, "--versions", 1, "--schedule")
    assert table.values("ts", "--as-of", first) == [1, 1]
    (plan,) = (table.path / ".hoodie").glob("*.clean.requested")
    plan.with_suffix(".inflight").touch()
    (base,) = table.path.glob(f"*_{first}.parquet")
    base.unlink()
    with pytest.raises(Refused, match="cleaned since"):
        table.read("--as-of", first)
    assert table.read() == last
    table.do("clean", table.path)
    assert table.read() == last


@pytest.mark.parametrize("name,n", [("spark-1.0.2-archived-cow", 12), ("spark-1.2.0-archived-cow", 12),
                                    ("spark-1.1.1-archived-mor", 12)])
def test_the_archive_of_1x_is_listed(name, n, tmp_path):
    table = Table(tmp_path)
    table.path = unpack_golden(name, tmp_path / "unpacked")
    listed = [json.loads(line) for line in table.do("timeline", table.path, "--archived", "--json").splitlines()]
    assert len(listed) == n and listed == sorted(listed, key=lambda one: one["time"])
    for one in listed: # what services did is not read from there: nothing is said of it
        assert ("operation" in one) == ("files" in one) == (one["action"] != "clean")
    active = [json.loads(line)["time"] for line in table.do("timeline", table.path, "--json").splitlines()]
    assert listed[-1]["time"] < active[0]


def test_a_savepointed_commit_does_not_hide_the_archived_ones_behind_it(tmp_path):
    table = Table(tmp_path)
    table.path = unpack_golden("spark-1.1.1-archived-mor", tmp_path / "unpacked")
    wanted = table.do("read", table.path, "--since", "20261130142325963")
    assert len(wanted.splitlines()) == 33
    timeline = table.path / ".hoodie" / "timeline"
    content = next(timeline.glob("*.deltacommit")).read_bytes()
    for name in ("20261130142319273.deltacommit.requested", "20261130142319273.deltacommit.inflight",
                 "20261130142319273.savepoint.inflight"):
        (timeline / name).touch()
    (timeline / "20261130142319273_20261130142325963.deltacommit").write_bytes(content)
    (timeline / "20261130142319273_20261130142325964.savepoint").write_bytes(content)
    assert table.do("read", table.path, "--since", "20261130142325963") == wanted
