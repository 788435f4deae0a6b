# SPDX-License-Identifier: Apache-2.0
"""Changes (CDC): the real Hudi reads from our tables what we do, and we from its tables what it does."""
import json

import pytest

from cow_tables import COLUMNS, Table, row, rows
from peers import difference

MODES = ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"]
ENABLED, MODE = "hoodie.table.cdc.enabled", "hoodie.table.cdc.supplemental.logging.mode"
TYPED = {**COLUMNS, "ok": "boolean", "score": "double", "day": "date", "qty": "int"}


def typed(numbers, version):
    """Rows with columns of types whose JSON texts could differ."""
    return [row(i, version, ok=i % 2 == 0, score=i / 4 + version, day="2024-02-29", qty=None if i % 3 == 0 else -i)
            for i in numbers]


# Inserts, updates with inserts, deletes of what is there and what is not, a partition overwritten and one dropped,
# all rows of a file deleted, inserts into a small file.
STEPS = (("insert", typed(range(30), 0)), ("upsert", typed(range(20, 40), 1)),
         ("delete", [{"id": f"id-{i:04}", "p": "abc"[i % 3]} for i in (3, 25, 39, 777)]),
         ("insert_overwrite", typed(range(60, 66, 3), 2)), ("delete_partition", ["b"]),
         ("insert", typed(range(100, 109), 3)),
         ("delete", [{"id": f"id-{i:04}", "p": "a"} for i in (60, 63, 102, 105, 108)]),
         ("upsert", typed(range(0, 110, 10), 4)))


def image(text):
    """A row of an image. What is null in it may be left out; "null" is how some releases write that there is none."""
    held = None if text is None else json.loads(text)
    return None if held is None else {name: value for name, value in held.items() if value is not None}


def images(given):
    return [{name: image(value) if name in ("before", "after") else value for name, value in change.items()}
            for change in given]


def ours(hudi, table, *words):
    return images(hudi.read(table, "--changes", *words))


def theirs(peer, table, since="000", *words):
    return images(peer.read(table, "--incremental-from", since, "--cdc", *words))


def instants_and_actions(hudi, table):
    lines = map(json.loads, hudi.run("timeline", table, "--json").splitlines())
    return [(line["time"], line["action"]) for line in lines]


def instants(hudi, table):
    return [time for time, _ in instants_and_actions(hudi, table)]


def without_replaced(hudi, table, changes):
    """Hudi 0.15 gives for each row of a replaced file group the last one of it: how many counts."""
    replaced = {time for time, action in instants_and_actions(hudi, table) if action == "replacecommit"}
    return [dict(change, before={}) if change["op"] == "d" and change["ts_ms"] in replaced else change
            for change in changes]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reader", ["spark015", "spark11"])
def test_hudi_reads_our_changes(request, hudi, tmp_path, reader, mode):
    peer = request.getfixturevalue(reader)
    table = tmp_path / "t"
    Table(*STEPS, columns=TYPED, options=[f"{ENABLED}=true", f"{MODE}={mode}"]).make(hudi, table, 6)
    assert len(list(table.rglob("*.cdc"))) > 3
    middle = instants(hudi, table)[2]
    for since in ("000", middle):
        wanted, found = theirs(peer, table, since), ours(hudi, table, "--since", since)
        assert {change["op"] for change in found} == {"i", "u", "d"}
        if reader == "spark015":
            wanted, found = without_replaced(hudi, table, wanted), without_replaced(hudi, table, found)
        assert difference(wanted, found) == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("mode", MODES)
def test_we_read_hudis_changes_and_add_to_them(hudi, spark015, tmp_path, mode, kind):
    table = tmp_path / "t"
    options = [f"{ENABLED}=true", f"{MODE}={mode}", "hoodie.metadata.enable=false"]
    schema = "id string, p string, v string, n long, ts long"
    new = ["--key", "id", "--partition", "p", "--ordering", "ts", "--name", "t", "--table-type", kind,
           "--schema", schema]
    spark015.write(table, rows(range(30)), "insert", *new, "--options", *options)
    spark015.write(table, rows(range(20, 40), 1), "upsert", "--options", *options)
    spark015.write(table, rows([3, 25, 39], 1), "delete", "--options", *options)
    assert difference(theirs(spark015, table), ours(hudi, table)) == []
    hudi.write(table, rows(range(0, 50, 5), 2))
    hudi.write(table, [{"id": "id-0010", "p": "b"}, {"id": "id-0777", "p": "a"}], "--op", "delete")
    assert difference(theirs(spark015, table), ours(hudi, table)) == []
    spark015.write(table, rows(range(0, 20), 3), "upsert", "--options", *options)
    assert difference(theirs(spark015, table), ours(hudi, table)) == []


SERVED = [("COPY_ON_WRITE", "DATA_BEFORE_AFTER"), ("COPY_ON_WRITE", "OP_KEY_ONLY"), ("MERGE_ON_READ", "DATA_BEFORE_AFTER")]
NEW_FILES = "hoodie.parquet.small.file.limit=0"  # inserts to files of their own: something to cluster


def services_of(kind):
    return ["compact", "cluster"] if kind == "MERGE_ON_READ" else ["cluster"]


@pytest.mark.parametrize("kind, mode", SERVED)
@pytest.mark.parametrize("maker, server", [("ours", "spark"), ("spark", "ours")])
def test_compactions_and_clusterings_leave_the_changes(hudi, spark015, tmp_path, maker, server, kind, mode):
    """One side writes, the other compacts and clusters, both write on: each tells the changes that it told before."""
    table = tmp_path / "t"
    options = [f"{ENABLED}=true", f"{MODE}={mode}", f"hoodie.datasource.write.table.type={kind}"]
    if maker == "ours":
        Table(columns=COLUMNS, options=options).make(hudi, table, 6)
    new = [] if maker == "ours" else ["--key", "id", "--partition", "p", "--ordering", "ts", "--name", "t",
                                      "--table-type", kind, "--schema", "id string, p string, v string, n long, ts long"]

    def write(who, given, op):
        if who == "ours":
            hudi.write(table, given, "--op", op, "-o", NEW_FILES)
        else:
            spark015.write(table, given, op, *new, "--options", *options, NEW_FILES, "hoodie.metadata.enable=false")
            new.clear()

    def serve(what):
        count = len(instants(hudi, table))
        if server == "ours":
            hudi.run(what, table, *(["--sort", "id"] if what == "cluster" else []))
        else:
            spark015.do("service", table, what)
        assert len(instants(hudi, table)) == count + 1, f"nothing to {what}"

    write(maker, rows(range(30)), "insert")
    write(maker, rows(range(30, 45)), "insert")
    for number, service in enumerate(services_of(kind)):  # later rows only: Hudi 0.15 tells late ones as changes
        write(maker, rows(range(number, 40, 2), 1 + 9 * number), "upsert")
        write(maker, rows([3 + number, 25, 39], 1 + 9 * number), "delete")
        before = theirs(spark015, table)
        assert {change["op"] for change in before} == {"i", "u", "d"}
        assert difference(before, ours(hudi, table)) == []
        last = instants(hudi, table)[-1]
        serve(service)
        for now in (theirs(spark015, table), ours(hudi, table)):
            assert difference(before, now) == []
        assert theirs(spark015, table, last) == ours(hudi, table, "--since", last) == []
        write(server, rows(range(number, 50, 5), 4 + 9 * number), "upsert")
        write(maker, rows([5, 10], 5 + 9 * number), "delete")
        assert difference(theirs(spark015, table), ours(hudi, table)) == []
        since = instants(hudi, table)[-1 - 2]
        assert ours(hudi, table, "--since", since) != []
        assert difference(theirs(spark015, table, since), ours(hudi, table, "--since", since)) == []
    assert difference(spark015.read(table), hudi.read(table)) == []
