# SPDX-License-Identifier: Apache-2.0
"""Changes (CDC): what the writer logs and the reader gives, held against the snapshots around each commit."""
import json
import random

import pytest

from conftest import META, Refused, run

PLAIN = "id string\nts long\nv string\np string\n"
MODES = ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"]
ENABLED = "hoodie.table.cdc.enabled"
MODE = "hoodie.table.cdc.supplemental.logging.mode"


def logged(table, mode="DATA_BEFORE_AFTER", **options):
    return table.create(PLAIN, order_by="ts", partition_by="p",
                        options={ENABLED: "true", MODE: mode, **options})


MERGE_ON_READ = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}


def changes(table, *words):
    """(instant, op, before, after), the images without meta columns."""
    def image(text):
        row = None if text is None else json.loads(text)
        return None if row is None else {k: v for k, v in row.items() if k not in META}

    text = table.do("read", table.path, "--changes", "--format", "jsonl", *words)
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["ts_ms"], row["op"], image(row["before"]), image(row["after"])) for row in rows]


def of_instant(table, instant):
    """The changes of one commit as (op, before, after), sorted."""
    found = [change[1:] for change in changes(table) if change[0] == instant]
    return sorted(found, key=json.dumps)


def expected(before, after):
    """The changes between two snapshots, by partition and key."""
    old, new = ({(row["p"], row["id"]): row for row in rows} for rows in (before, after))
    found = [("i", None, new[key]) for key in new.keys() - old.keys()]
    found += [("d", old[key], None) for key in old.keys() - new.keys()]
    found += [("u", old[key], new[key]) for key in old.keys() & new.keys() if old[key] != new[key]]
    return sorted(found, key=json.dumps)


def row(key, ts, value, p="x"):
    return {"id": key, "ts": ts, "v": value, "p": p}


def cdc_files(table):
    return sorted(path for path in table.path.rglob("*.cdc"))


# ---- B40: the first write holds a delete and an upsert ----------------------------------------

@pytest.mark.parametrize("mode", MODES)
def test_the_first_write_may_delete_what_never_was(table, mode):
    table.create(PLAIN + "_hoodie_is_deleted boolean\n", order_by="ts", partition_by="p",
                 options={ENABLED: "true", MODE: mode})

    def marked(key, ts, value, deleted):
        return dict(row(key, ts, value), _hoodie_is_deleted=deleted)

    a, b = marked("a", 1, "a1", False), marked("b", 3, "b3", False)
    first = table.write([a, marked("z", 1, None, True), marked("b", 2, None, True), b])["instant"]
    assert of_instant(table, first) == [("i", None, a), ("i", None, b)]
    newer = marked("a", 4, "a4", False)
    second = table.write([newer, marked("b", 4, None, True)])["instant"]
    assert of_instant(table, second) == sorted([("u", a, newer), ("d", b, None)], key=json.dumps)
    third = table.write([{"id": "never", "p": "x"}, {"id": "there", "p": "new"}], op="delete")
    assert of_instant(table, third["instant"]) == []
    assert [change[1] for change in changes(table)] == ["i", "i", *"ud"] or \
        [change[1] for change in changes(table)] == ["i", "i", *"du"]


# ---- every change, and nothing but the changes ------------------------------------------------

def random_write(table, rng, number):
    """One write; its instant."""
    op = rng.choice(["upsert", "upsert", "upsert", "delete", "delete", "insert", "insert_overwrite",
                     "insert_overwrite_table", "delete_partition"])
    rows = [row(f"k{rng.randrange(40):02}", rng.randrange(100), f"v{number}-{i}", rng.choice("xyz"))
            for i in range(rng.randrange(1, 25))]
    rows = list({(r["p"], r["id"]): r for r in rows}.values())
    if op == "insert": # of keys that are not there
        rows = [dict(r, id=f"n{number}-{r['id']}") for r in rows]
    if op == "delete_partition":
        words = ["write", table.path, "--op", op, "--partitions", rng.choice("xyz"), "--json"]
        return op, json.loads(table.do(*words))["instant"]
    if op == "delete":
        rows = [{"id": r["id"], "p": r["p"]} for r in rows]
    return op, table.write(rows, op=op)["instant"]


@pytest.mark.parametrize("kind", [*MODES, "MERGE_ON_READ"])
@pytest.mark.parametrize("seed", range(2))
def test_changes_lead_from_each_snapshot_to_the_next(table, kind, seed):
    rng = random.Random(seed)
    if kind == "MERGE_ON_READ":
        logged(table, **MERGE_ON_READ)
    else:
        logged(table, kind)
    snapshot, done = [], []
    for number in range(12):
        op, instant = random_write(table, rng, number)
        after = table.read()
        done.append((instant, op, snapshot, after))
        snapshot = after
    every = changes(table)
    assert [change[0] for change in every] == sorted(change[0] for change in every)
    for instant, op, before, after in done:
        found = [change[1:] for change in every if change[0] == instant]
        if "overwrite" in op: # a row that comes back is deleted and inserted
            gone = [change for change in found if change[0] == "d"]
            left = [r for r in before if r not in [change[1] for change in gone]]
            assert sorted(json.dumps(r) for r in left + [c[2] for c in found if c[0] == "i"]) == \
                sorted(json.dumps(r) for r in after), (seed, op, instant)
        else:
            assert sorted(found, key=json.dumps) == expected(before, after), (seed, op, instant)
    middle = done[5][0]
    assert changes(table, "--since", middle) + changes(table, "--until", middle) == \
        [c for c in every if c[0] > middle] + [c for c in every if c[0] <= middle]
    table.verify()


def test_records_that_move_between_partitions_go_and_come(table):
    logged(table, **{"hoodie.index.type": "GLOBAL_BLOOM",
                     "hoodie.bloom.index.update.partition.path": "true"})
    options = {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "true"}
    table.write([row("a", 1, "old", "x"), row("b", 1, "b", "x")], options=options)
    moved = table.write([row("a", 2, "new", "y")], options=options)["instant"]
    assert of_instant(table, moved) == sorted(
        [("d", row("a", 1, "old", "x"), None), ("i", None, row("a", 2, "new", "y"))], key=json.dumps)


@pytest.mark.parametrize("mode", MODES)
def test_row_groups_copied_as_bytes_are_no_changes(table, mode):
    """Small row groups, most of which no record hits."""
    logged(table, mode)
    options = {"hoodie.parquet.block.size": "200000", "hoodie.parquet.compression.codec": "uncompressed"}
    rows = [row(f"k{i:05}", 1, f"{i}" * 150) for i in range(4000)]
    table.write(rows, op="bulk_insert", options=options)
    newer = row("k02000", 2, "new")
    instant = table.write([newer], options=options)["instant"]
    assert of_instant(table, instant) == [("u", rows[2000], newer)]
    gone = table.write([{"id": "k03999", "p": "x"}], op="delete", options=options)["instant"]
    assert of_instant(table, gone) == [("d", rows[3999], None)]
    assert len(table.read()) == 3999


def test_many_changes_come_in_several_blocks(table):
    logged(table)
    rows = [row(f"k{i:05}", 1, "v") for i in range(6000)]
    table.write(rows, op="bulk_insert")
    instant = table.write([dict(r, ts=2, v="w") for r in rows],
                          options={"hoodie.logfile.data.block.max.size": "20000"})["instant"]
    assert cdc_files(table)[0].read_bytes().count(b"#HUDI#") > 3
    found = of_instant(table, instant)
    assert len(found) == 6000 and all(op == "u" for op, _, _ in found)


def test_changes_of_log_files_are_inferred(table):
    """Nothing is logged for them: the slices before and after each commit say it, whatever came later."""
    logged(table, **MERGE_ON_READ)
    table.write([row("a", 1, "a1"), row("b", 1, "b1"), row("c", 1, "c1")])
    instants = [table.write([row("a", 2, "a2"), row("b", 0, "late")])["instant"],
                table.write([{"id": "b", "p": "x"}], op="delete")["instant"],
                table.write([row("a", 3, "a3")])["instant"]]
    assert list(table.path.rglob("*.log.*")) != [] and cdc_files(table) == []
    assert of_instant(table, instants[0]) == [("u", row("a", 1, "a1"), row("a", 2, "a2"))]
    assert of_instant(table, instants[1]) == [("d", row("b", 1, "b1"), None)]
    assert of_instant(table, instants[2]) == [("u", row("a", 2, "a2"), row("a", 3, "a3"))]


# ---- table services ---------------------------------------------------------------------------

KEEP = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
SERVICES = (("cluster", "--sort", "id"), ("compact",), ("compact", "--logs", "--blocks", "2"),
            ("compact", "--schedule"), ("compact", "--run"))


def by_instant(found):
    """In one instant their order is that of the file groups' names."""
    return sorted(found, key=lambda change: (change[0], json.dumps(change)))


def serve(table, words, **options):
    return table.do(words[0], table.path, *words[1:], *table.options({**KEEP, **options}))


@pytest.mark.parametrize("kind, seed", [*((mode, 1) for mode in MODES), ("MERGE_ON_READ", 1),
                                        ("MERGE_ON_READ", 6)])
def test_services_change_no_rows_and_leave_the_changes(table, kind, seed):
    """Between the writes the table is compacted, clustered, planned for; what is changed stays told."""
    rng = random.Random(seed)
    if kind == "MERGE_ON_READ":
        logged(table, **MERGE_ON_READ)
    else:
        logged(table, kind)
    done, snapshot, ran = [], [], set()
    for number in range(14):
        rows = {(r["p"], r["id"]): r for r in (
            row(f"k{rng.randrange(30):02}", number, f"v{number}-{i}", rng.choice("xyz")) for i in range(12))}
        keys = [{"id": r["id"], "p": r["p"]} for r in rng.sample(list(rows.values()), 4)]
        op = rng.choice(["upsert", "upsert", "upsert", "delete"])
        instant = table.write(keys if op == "delete" else list(rows.values()), op=op, options=KEEP)["instant"]
        after = table.read()
        done.append((instant, expected(snapshot, after)))
        snapshot, before = after, by_instant(changes(table))
        words = rng.choice(SERVICES if kind == "MERGE_ON_READ" else SERVICES[:1])
        if serve(table, words):
            ran.add(words)
        assert expected(table.read(), snapshot) == []
        assert by_instant(changes(table)) == before, words
    assert ran == set(SERVICES if kind == "MERGE_ON_READ" else SERVICES[:1])
    for instant, wanted in done:
        assert of_instant(table, instant) == wanted
    table.verify()


def ranges(table, instants):
    """By instant its changes, or that they were cleaned."""
    found = {}
    for since, until in zip(["000", *instants], instants):
        try:
            found[until] = by_instant(changes(table, "--since", since, "--until", until))
        except Refused as refused:
            assert f"changes of {until} in file group" in str(refused) and "were cleaned" in str(refused)
            found[until] = "cleaned"
    return found


@pytest.mark.parametrize("kind", [*MODES, "MERGE_ON_READ"])
def test_after_a_clean_changes_are_whole_or_an_error(table, kind):
    if kind == "MERGE_ON_READ":
        logged(table, **MERGE_ON_READ)
    else:
        logged(table, kind)
    instants = []
    for number in range(8):
        rows = [row(f"k{i:02}", number, f"v{number}-{i}", "xy"[i % 2]) for i in range(number, number + 10)]
        instants.append(table.write(rows, options=KEEP)["instant"])
        if number in (2, 5):
            assert serve(table, SERVICES[1 if kind == "MERGE_ON_READ" else 0])
    before = ranges(table, instants)
    assert "cleaned" not in before.values() and all(before.values())
    table.do("clean", table.path, "--versions", "1")
    after = ranges(table, instants)
    assert [instant for instant in instants if after[instant] not in (before[instant], "cleaned")] == []
    assert after[instants[0]] == "cleaned"
    if kind in ("DATA_BEFORE_AFTER", "MERGE_ON_READ"):  # other modes look up what was before
        assert after[instants[-1]] == before[instants[-1]]
    with pytest.raises(Refused) as refused:
        changes(table)
    assert "were cleaned" in str(refused.value)


# ---- writes that fail -------------------------------------------------------------------------

def test_rolling_back_takes_the_files_of_changes_along(table):
    logged(table)
    table.write([row("a", 1, "v1")])
    before = changes(table)
    instant = table.write([row("a", 2, "v2")])["instant"]
    assert len(cdc_files(table)) == 1
    table.do("rollback", table.path, instant)
    assert cdc_files(table) == []
    assert changes(table) == before
    table.write([row("a", 3, "v3")])
    assert [(c[1], c[2] and c[2]["v"]) for c in changes(table)] == [("i", None), ("u", "v1")]
    table.verify()


def test_a_write_that_was_not_committed_leaves_no_changes(table):
    """As after a writer that died: the commit is gone, its files are there."""
    logged(table)
    table.write([row("a", 1, "v1")])
    before = changes(table)
    instant = table.write([row("a", 2, "v2")])["instant"]
    (table.path / ".hoodie" / f"{instant}.commit").unlink()
    assert changes(table) == before
    table.write([row("b", 3, "b")])
    assert all(instant not in path.name for path in table.path.rglob("*.cdc"))
    assert [change[1] for change in changes(table)] == ["i", "i"]
    table.verify()


# ---- refusals ---------------------------------------------------------------------------------

def test_what_was_cleaned_or_never_logged_is_an_error(table):
    logged(table, "OP_KEY_ONLY")
    table.write([row("a", 1, "v1")])
    table.write([row("a", 2, "v2")])
    min(table.base_files(), key=lambda path: path.name.rsplit("_", 1)[1]).unlink()
    with pytest.raises(Refused) as refused:
        changes(table)
    assert "cleaned" in str(refused.value)


def test_changes_of_log_files_need_the_base_file_below(table):
    """A clean that died between the two: without the base file each update would be told as an insert."""
    logged(table, **MERGE_ON_READ)
    table.write([row("a", 1, "a1")])
    first = table.instants()[-1]["time"]
    table.write([row("a", 2, "a2")])
    gone, = table.base_files()
    gone.unlink()
    with pytest.raises(Refused) as refused:
        changes(table, "--since", first)
    assert "were cleaned" in str(refused.value) and f"{gone.name} is gone" in str(refused.value)


def test_changes_that_were_archived_are_an_error_and_later_ones_are_not(table):
    logged(table)
    options = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    times = [table.write([row("a", i, f"v{i}")], options=options)["instant"] for i in range(8)]
    table.do("archive", table.path, "-o", "hoodie.keep.min.commits=2", "-o", "hoodie.keep.max.commits=3",
             "-o", "hoodie.cleaner.commits.retained=1")
    archived = [time for time in times if not (table.path / ".hoodie" / f"{time}.commit").exists()]
    assert archived
    with pytest.raises(Refused) as refused:
        changes(table)
    assert f"changes up to {archived[-1]} were archived" in str(refused.value)
    assert [change[0] for change in changes(table, "--since", archived[-1])] == times[len(archived):]


def test_changes_of_a_table_that_does_not_log_them_are_refused(table):
    table.create(PLAIN, order_by="ts")
    table.write([row("a", 1, "v1")])
    with pytest.raises(Refused) as refused:
        changes(table)
    assert ENABLED in str(refused.value)
    for words in (["--as-of", "20240101"], ["--read-optimized"], ["--where", "v = 'a'"]):
        assert run("read", table.path, "--changes", *words).returncode == 2
