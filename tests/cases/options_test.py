# SPDX-License-Identifier: Apache-2.0
"""Options that are taken are followed, and those that cannot be followed are refused."""
import os

import pyarrow.parquet as pq
import pytest

from conftest import Refused

CITIES = "id string\nts long\ncity string\n"


# ---- index.global.enabled ---------------------------------------------------------------------

@pytest.mark.parametrize("options", [{}, {"hoodie.index.type": "BLOOM"},
                                     {"hoodie.index.type": "SIMPLE"},
                                     {"hoodie.index.type": "GLOBAL_SIMPLE"}])
def test_a_global_index_keeps_one_row_of_a_key_that_changes_its_partition(table, options):
    table.create(CITIES, order_by="ts", partition_by="city")
    table.write([{"id": "1", "ts": 1, "city": "a"}, {"id": "2", "ts": 1, "city": "a"}])
    table.write([{"id": "1", "ts": 2, "city": "b"}],
                options={**options, "index.global.enabled": "true"})
    assert table.values("city") == ["b", "a"]
    table.write([{"id": "1", "ts": 3, "city": "a"}], op="delete",
                options={**options, "index.global.enabled": "true"})
    assert table.values("id") == ["2"]
    table.verify()


def test_without_it_a_key_is_unique_in_its_partition(table):
    table.create(CITIES, order_by="ts", partition_by="city")
    table.write([{"id": "1", "ts": 1, "city": "a"}])
    table.write([{"id": "1", "ts": 2, "city": "b"}], options={"index.global.enabled": "false"})
    assert sorted(table.values("city")) == ["a", "b"]


def test_a_global_index_type_is_not_switched_off(table):
    table.create(CITIES, order_by="ts", partition_by="city")
    with pytest.raises(Refused, match="GLOBAL_BLOOM and index.global.enabled=false contradict"):
        table.write([{"id": "1", "ts": 1, "city": "a"}],
                    options={"hoodie.index.type": "GLOBAL_BLOOM", "index.global.enabled": "false"})
    assert table.instants() == []


# ---- hoodie.datasource.overwrite.mode ---------------------------------------------------------

@pytest.mark.parametrize("key", ["hoodie.datasource.overwrite.mode",
                                 "write.partition.overwrite.mode"])
@pytest.mark.parametrize("mode, left", [("STATIC", ["3"]), ("static", ["3"]),
                                        ("DYNAMIC", ["2", "3"]), (None, ["2", "3"])])
def test_the_mode_says_what_insert_overwrite_replaces(table, key, mode, left):
    table.create(CITIES, order_by="ts", partition_by="city")
    table.write([{"id": "1", "ts": 1, "city": "a"}, {"id": "2", "ts": 1, "city": "b"}])
    table.write([{"id": "3", "ts": 1, "city": "a"}], op="insert_overwrite",
                options={key: mode} if mode else {})
    assert table.values("id") == left
    table.verify()


def test_insert_overwrite_table_replaces_the_table_in_either_mode(table):
    table.create(CITIES, order_by="ts", partition_by="city")
    table.write([{"id": "1", "ts": 1, "city": "a"}, {"id": "2", "ts": 1, "city": "b"}])
    table.write([{"id": "3", "ts": 1, "city": "a"}], op="insert_overwrite_table",
                options={"hoodie.datasource.overwrite.mode": "DYNAMIC"})
    assert table.values("id") == ["3"]


# ---- what a table is --------------------------------------------------------------------------

STATED = {"hoodie.datasource.write.recordkey.field": ("id", "city"),
          "hoodie.table.recordkey.fields": ("id", "id,city"),
          "hoodie.datasource.write.partitionpath.field": ("city", "id"),
          "hoodie.table.partition.fields": ("city", "id"),
          "hoodie.datasource.write.precombine.field": ("ts", "id"),
          "hoodie.table.precombine.field": ("ts", "id"),
          "hoodie.payload.ordering.field": ("ts", "id"),
          "hoodie.table.type": ("COPY_ON_WRITE", "MERGE_ON_READ"),
          "hoodie.datasource.write.table.type": ("copy_on_write", "merge_on_read"),
          "table.type": ("COPY_ON_WRITE", "MERGE_ON_READ"),
          "hoodie.table.version": ("6", "5"),
          "hoodie.write.table.version": ("6", "8"),
          "hoodie.table.name": ("t", "u"),
          "hoodie.datasource.write.hive_style_partitioning": ("false", "true"),
          "hoodie.datasource.write.partitionpath.urlencode": ("FALSE", "true"),
          "hoodie.datasource.write.drop.partition.columns": ("false", "true"),
          "hoodie.datasource.write.keygenerator.class":
              ("org.apache.hudi.keygen.SimpleKeyGenerator",
               "org.apache.hudi.keygen.ComplexKeyGenerator"),
          "hoodie.datasource.write.keygenerator.type": ("SIMPLE", "COMPLEX"),
          "hoodie.compaction.payload.class":
              ("DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload"),
          "hoodie.record.merge.mode": ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"),
          "hoodie.populate.meta.fields": ("true", "false"),
          "hoodie.table.timeline.timezone": ("local", "utc"),
          "hoodie.table.cdc.enabled": ("false", "true"),
          "cdc.enabled": ("false", "true")}


@pytest.mark.parametrize("key", STATED)
def test_an_option_that_says_what_the_table_is_must_be_right(table, key):
    same, other = STATED[key]
    table.create(CITIES, order_by="ts", partition_by="city")
    table.write([{"id": "1", "ts": 1, "city": "a"}], options={key: same})
    before = table.instants(), table.base_files()
    with pytest.raises(Refused) as refused:
        table.write([{"id": "2", "ts": 1, "city": "a"}], options={key: other})
    assert "config conflict: " in str(refused.value)
    assert f"={other.upper() if 'type' in key or 'timezone' in key else other}, and the table has " in str(refused.value)
    assert (table.instants(), table.base_files()) == before
    assert table.values("id") == ["1"]


@pytest.mark.parametrize("word, other", [("--key", "city"), ("--order-by", "id"),
                                         ("--partition-by", "id"), ("--type", "mor")])
def test_so_must_the_words_of_the_program(table, tmp_path, word, other):
    table.create(CITIES, order_by="ts", partition_by="city")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "1", "ts": 1, "city": "a"}\n', encoding="utf-8")
    table.do("write", table.path, rows, "--key", "id", "--order-by", "ts", "--partition-by", "city",
             "--type", "cow")
    with pytest.raises(Refused, match="config conflict"):
        table.do("write", table.path, rows, word, other)
    assert len(table.instants()) == 1


def test_a_table_without_such_fields_does_not_take_them(table):
    table.create("id string\nv long\n")
    for key in ("hoodie.table.partition.fields", "hoodie.datasource.write.precombine.field"):
        with pytest.raises(Refused, match="config conflict.*=v, and the table has none"):
            table.write([{"id": "1", "v": 1}], options={key: "v"})
    assert table.instants() == []


@pytest.mark.parametrize("version", ["3", "6"])
def test_the_older_name_of_the_ordering_field_makes_a_table(table, version):
    table.create("id string\nts long\nv long\n",
                 options={"hoodie.payload.ordering.field": "v",
                          "hoodie.write.table.version": version})
    table.write([{"id": "1", "ts": 1, "v": 5}])
    table.write([{"id": "1", "ts": 2, "v": 4}], options={"hoodie.payload.ordering.field": "v"})
    assert table.values("v") == [5]


def test_two_ordering_fields_are_a_contradiction(table):
    with pytest.raises(Refused, match="hoodie.payload.ordering.field=v, and the table has ts"):
        table.create("id string\nts long\nv long\n", order_by="ts",
                     options={"hoodie.payload.ordering.field": "v"})
    assert not table.path.exists()


@pytest.mark.parametrize("pair", ["hoodie.datasource.write.operation=delete",
                                  "write.operation=delete"])
@pytest.mark.parametrize("pair_first", [True, False])
def test_a_word_and_an_option_that_contradict_it_are_misuse(table, tmp_path, pair, pair_first):
    table.create(CITIES)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "1", "ts": 1, "city": "a"}\n', encoding="utf-8")
    words = [["-o", pair], ["--op", "insert"]]
    words = sum(words if pair_first else reversed(words), [])
    with pytest.raises(Refused, match="--op insert and -o .*=delete contradict each other"):
        table.do("write", table.path, rows, *words)
    assert table.instants() == []
    table.do("write", table.path, rows, "--op", "insert", "-o", "write.operation=INSERT")
    assert table.values("id") == ["1"]
    with pytest.raises(Refused, match="--type and -o hoodie.table.type=MERGE_ON_READ"):
        table.do("write", table.path, rows, "--type", "cow", "-o",
                 "hoodie.table.type=merge_on_read")


# ---- options that change what is written ------------------------------------------------------

def written(table, options):
    table.create("id string\nts long\nv string\n", order_by="ts")
    rows = [{"id": f"{i}", "ts": 1, "v": f"{i * 7919 % 10007} of many"} for i in range(20000)]
    table.write(rows, options=options)
    assert len(table.read()) == len(rows)
    return pq.ParquetFile(table.newest_base_file())


@pytest.mark.parametrize("codec, low, high", [("ZSTD", "-7", "19"), ("GZIP", "1", "9")])
def test_the_level_of_compression_is_followed(tables, codec, low, high):
    sizes = []
    for level in (low, high):
        table = tables()
        written(table, {"hoodie.parquet.compression.codec": codec,
                        "libhudi.parquet.compression.level": level})
        sizes.append(table.newest_base_file().stat().st_size)
    assert sizes[1] < 0.98 * sizes[0]


def test_lz4_is_a_codec(table):
    file = written(table, {"hoodie.parquet.compression.codec": "LZ4",
                           "libhudi.parquet.compression.level": "9"})
    assert file.metadata.row_group(0).column(5).compression == "LZ4"


@pytest.mark.parametrize("codec, level", [("GZIP", "10"), ("SNAPPY", "1"), ("LZ4", "-1"),
                                          ("UNCOMPRESSED", "3")])
def test_a_level_that_the_codec_has_not_is_refused(table, codec, level):
    table.create("id string\nts long\nv string\n")
    with pytest.raises(Refused, match=f"libhudi.parquet.compression.level={level}"):
        table.write([{"id": "1", "ts": 1, "v": ""}],
                    options={"hoodie.parquet.compression.codec": codec,
                             "libhudi.parquet.compression.level": level})
    assert table.instants() == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_base_files_go_without_bloom_filters(table, kind):
    off = {"hoodie.parquet.bloom.filter.enabled": "false"}
    table.create("id string\nts long\n", order_by="ts", options={"hoodie.table.type": kind})
    table.write([{"id": "1", "ts": 1}, {"id": "2", "ts": 1}], options=off)
    keys = pq.ParquetFile(table.newest_base_file()).metadata.metadata
    assert not [key for key in keys if b"bloom" in key or b"record_key" in key]
    table.write([{"id": "1", "ts": 2}], options=off)
    assert len(table.read()) == 2
    table.write([{"id": "2", "ts": 3}, {"id": "3", "ts": 3}])
    table.write([{"id": "1", "ts": 4}], options=off)
    assert table.values("ts") == [4, 3, 3]
    table.verify()


@pytest.mark.parametrize("key", ["hoodie.allow.operation.metadata.field", "changelog.enabled",
                                 "hoodie.write.record.merge.strategy.id"])
def test_what_would_change_rows_and_is_not_there_is_refused(table, key):
    table.create("id string\nts long\n")
    with pytest.raises(Refused, match=f"{key}=true is not supported"):
        table.write([{"id": "1", "ts": 1}], options={key: "true"})
    assert table.instants() == []


# ---- refused writes leave nothing behind ------------------------------------------------------

@pytest.mark.parametrize("option", [
    "hoodie.write.table.version=8", "hoodie.table.version=9", "hoodie.index.type=BUCKET",
    "hoodie.index.type=RECORD_INDEX", "hoodie.index.type=INMEMORY", "index.type=FLINK_STATE",
    "libhudi.parquet.compression.level=23", "hoodie.parquet.compression.codec=LZO",
    "hoodie.datasource.write.operation=delete_partition", "hoodie.write.lock.provider=none.such",
    "hoodie.write.concurrency.mode=optimistic_concurrency_control"])
def test_no_table_is_made_for_a_write_that_is_refused(table, tmp_path, option):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "1"}\n', encoding="utf-8")
    with pytest.raises(Refused):
        table.do("write", table.path, rows, "--key", "id", "-o", option)
    assert not table.path.exists()


@pytest.mark.parametrize("words", [["--op", "delete_partition"], ["-o", "hoodie.index.type=BUCKET"],
                                   ["-o", "libhudi.parquet.compression.level=23"]])
def test_no_instant_begins_for_a_write_that_is_refused(table, tmp_path, words):
    table.create(CITIES, partition_by="city")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "1", "ts": 1, "city": "a"}\n', encoding="utf-8")
    with pytest.raises(Refused):
        table.do("write", table.path, *([] if "--op" in words else [rows]), *words)
    assert table.instants() == []


def test_an_empty_write_that_makes_no_commit_names_none(table, tmp_path):
    table.create("id string\nts long\n")
    off = {"hoodie.allow.empty.commit": "false"}
    done = table.write([], options=off)
    assert (done["instant"], done["inserts"], done["files"]) == (None, 0, 0)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    assert table.do("write", table.path, empty, *table.options(off)) == "nothing was written\n"
    assert table.write([])["instant"] in [one["time"] for one in table.instants()]


@pytest.mark.parametrize("version", ["3", "6"])
def test_tables_of_the_payload_that_deletes_are_made(table, version):
    table.create("id string\nv long\n", options={
        "hoodie.write.table.version": version,
        "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.EmptyHoodieRecordPayload"})
    table.write([{"id": "1", "v": 1}, {"id": "2", "v": 1}], op="bulk_insert")
    table.write([{"id": "1", "v": 2}])
    assert "1" not in table.values("id")
    table.verify()


# ---- hoodie.combine.before.upsert -------------------------------------------------------------

NEW_FILES, FILL = {"hoodie.parquet.small.file.limit": 0}, {}
# Through disk: the map of the keys takes a fifth of it.
SPOOLED = {"hoodie.memory.merge.max.size": 1 << 20, "libhudi.memory.budget.bytes": 1 << 20}
THRICE = [("1", 3), ("1", 2), ("2", 5), ("2", 4), ("1", 2)]


@pytest.mark.parametrize("way", [{}, SPOOLED])
@pytest.mark.parametrize("kind, combine, files, wanted", [
    ("COPY_ON_WRITE", True, FILL, [("1", 3), ("2", 5)]), ("COPY_ON_WRITE", True, NEW_FILES, [("1", 3), ("2", 5)]),
    # A file that is rewritten takes the last row of a key, a new file takes all.
    ("COPY_ON_WRITE", False, FILL, [("1", 2), ("2", 4)]),
    ("COPY_ON_WRITE", False, NEW_FILES, [("1", 2), ("2", 4), ("2", 5)]),
    # A log file takes all, and they are merged when it is read.
    ("MERGE_ON_READ", False, FILL, [("1", 2), ("2", 4)]),
    ("MERGE_ON_READ", False, NEW_FILES, [("1", 3), ("2", 4), ("2", 5)])])
def test_without_combining_each_row_of_a_key_goes_where_hudi_puts_it(table, kind, combine, files, wanted, way):
    # The many rows beside them are of another partition, and spilled.
    table.create("id string\np string\nts long\n", order_by="ts", partition_by="p",
                 options={"hoodie.table.type": kind})
    table.write([{"id": "1", "p": "a", "ts": 1}])
    many = [{"id": f"m{i}", "p": "b", "ts": 1} for i in range(20_000 if way else 1)]
    table.write(many + [{"id": i, "p": "a", "ts": ts} for i, ts in THRICE],
                options={"hoodie.combine.before.upsert": combine, **files, **way})
    rows = table.read()
    assert sorted((row["id"], row["ts"]) for row in rows if row["p"] == "a") == wanted
    assert sorted(row["id"] for row in rows if row["p"] == "b") == sorted(one["id"] for one in many)


@pytest.mark.parametrize("index", ["GLOBAL_BLOOM", "GLOBAL_SIMPLE"])
def test_a_global_index_keeps_one_row_of_a_key_without_combining(table, index):
    table.create("id string\np string\nts long\n", order_by="ts", partition_by="p")
    table.write([{"id": "1", "p": "a", "ts": 3}, {"id": "1", "p": "b", "ts": 2}],
                options={"hoodie.combine.before.upsert": False, "hoodie.index.type": index})
    assert table.read() == [{"id": "1", "p": "b", "ts": 2}]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_tables_of_the_first_value_keep_it_until_a_greater_ordering_value_comes(table, kind):
    table.create("id string\nts long\nv string\n", order_by="ts", options={
        "hoodie.table.type": kind,
        "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.FirstValueAvroPayload"})
    table.write([{"id": "1", "ts": 1, "v": "first"}, {"id": "1", "ts": 1, "v": "second"}])
    assert table.values("v") == ["first"]
    for ts, v, wanted in ((1, "tie", "first"), (0, "late", "first"), (2, "greater", "greater"),
                          (2, "tie", "greater")):
        table.write([{"id": "1", "ts": ts, "v": v}])
        assert table.values("v") == [wanted]
    table.verify()


def test_releases_before_the_first_value_payload_get_no_table_of_it(table):
    with pytest.raises(Refused, match="version 5 does not know payload class FirstValueAvroPayload"):
        table.create("id string\nts long\n", order_by="ts", options={
            "hoodie.write.table.version": "5",
            "hoodie.datasource.write.payload.class": "FirstValueAvroPayload"})
    assert not table.path.exists()


# ---- hoodie.common.spillable.diskmap.type -----------------------------------------------------

@pytest.mark.parametrize("store", ["BITCASK", "ROCKS_DB"])
def test_the_store_of_spilled_records_is_chosen_or_refused_by_a_build_without_it(table, store):
    table.create("id string\nts long\n", order_by="ts")
    rows = [{"id": f"{i:05}", "ts": i} for i in range(5000)]
    options = {"hoodie.common.spillable.diskmap.type": store, "hoodie.memory.merge.max.size": 1 << 20}
    if store == "ROCKS_DB" and os.environ.get("HUDI_WITHOUT") == "RocksDB":
        with pytest.raises(Refused, match="this build is without RocksDB"):
            table.write(rows, options=options)
        assert table.read() == []
        return
    table.write(rows, options=options)
    assert table.read() == rows
