# SPDX-License-Identifier: Apache-2.0
"""Inserts into small files that may hold their keys."""
import pytest

from conftest import run

MERGE = {"hoodie.merge.allow.duplicate.on.inserts": "false"}
SCHEMA = "id long\npart string\nts long\nv string\n_hoodie_is_deleted boolean\n"


def row(i, ts, v=None, gone=False):
    return {"id": i, "part": f"p{i % 2}", "ts": ts, "v": v or f"{ts}-{i}", "_hoodie_is_deleted": gone}


def by_id(rows):
    return sorted(rows, key=lambda one: (str(one["id"]), one["ts"]))


# Collected by key first, as they come, and through disk.
WAYS = {"streamed": {}, "combined": {"hoodie.combine.before.insert": "true"},
        "spooled": {"hoodie.combine.before.insert": "true", "hoodie.memory.merge.max.size": 1 << 20,
                    "libhudi.memory.budget.bytes": 1 << 20}}


@pytest.mark.parametrize("kind", ["cow", "mor"])
@pytest.mark.parametrize("way", WAYS)
def test_known_keys_are_merged_or_stay_twice(tables, way, kind):
    n = 20_000 if way == "spooled" else 200
    first = [row(i, 5) for i in range(100)]
    second = [row(i, 6) for i in range(50, 50 + n)]
    second[1] = row(51, 4, "late")
    second[2] = row(52, 6, gone=True)
    second[-1]["_hoodie_is_deleted"] = True # of a key that is not there
    merged = {one["id"]: one for one in first} | {one["id"]: one for one in second[:-1]}
    merged[51] = first[51]
    del merged[52]
    beside = first + [one for one in second if not one["_hoodie_is_deleted"]]
    for options, wanted in ((MERGE, list(merged.values())), ({}, beside)):
        table = tables().create(SCHEMA, order_by="ts", partition_by="part",
                                options={"hoodie.table.type": kind == "mor" and "MERGE_ON_READ" or "COPY_ON_WRITE"})
        # DefaultHoodieRecordPayload compares ordering values
        ordered = {"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"}
        table.write(first, op="insert", options=ordered)
        told = table.write(second, op="insert", options={**WAYS[way], **options, **ordered})
        assert by_id(table.read()) == by_id(wanted)
        assert len(table.base_files()) == 4
        table.verify()
        if options:
            assert (told["updates"], told["deletes"]) == (48, 2) # the late one changes nothing, as in an upsert


def test_only_the_file_that_is_filled_is_looked_at_and_rows_of_one_key_become_one(table):
    table.create(SCHEMA, partition_by="part")
    table.write([row(0, 1), row(2, 1)], op="insert", options={"hoodie.parquet.small.file.limit": 0})
    table.write([row(4, 1)], op="insert", options={"hoodie.parquet.small.file.limit": 0})
    table.write([row(i, 2, v) for v in ("a", "b") for i in (0, 4, 6)], op="insert", options=MERGE)
    rows = table.read()
    ids = [one["id"] for one in rows]
    assert sorted(ids) in ([0, 0, 2, 4, 6], [0, 2, 4, 4, 6]) # one of the two files was filled
    assert {one["v"] for one in rows if one["ts"] == 2} == {"b"}


def test_rows_beyond_a_small_file_make_new_files(table):
    table.create(SCHEMA, partition_by="part")
    table.write([row(0, 1), row(2, 1)], op="insert")
    told = table.write([row(i, 2) for i in range(0, 2000, 2)], op="insert", options={
        **MERGE, "hoodie.parquet.max.file.size": 500_000, "hoodie.copyonwrite.record.size.estimate": 5_000})
    assert (told["updates"], told["inserts"], told["files"]) == (2, 998, 2)
    assert [one["ts"] for one in table.read()] == [2] * 1000
    assert run("verify", table.path).returncode == 0


def test_changes_of_merged_inserts_are_logged(table):
    table.create(SCHEMA, partition_by="part", options={"hoodie.table.cdc.enabled": "true"})
    table.write([row(0, 1), row(2, 1)], op="insert")
    table.write([row(2, 2), row(4, 2)], op="insert", options=MERGE)
    text = table.do("read", table.path, "--changes", "--format", "csv")
    assert sorted(line.split(",")[0].strip("\"") for line in text.splitlines()) == ["i", "i", "i", "op", "u"]
