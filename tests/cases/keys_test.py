# SPDX-License-Identifier: Apache-2.0
"""Faults of keys, partitions and names that users met elsewhere: each as a kind with variants."""
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Refused

PLAIN = "id string\nts long\nv string\n"


# ---- B10: a file without statistics is not a file of nulls ------------------------------------

def test_long_values_are_found_though_they_have_no_statistics(table):
    table.create("id string\nts long\ns string\n", order_by="ts")
    table.write([{"id": "1", "ts": 1, "s": "a"}, {"id": "2", "ts": 1, "s": "z" * 5000},
                 {"id": "3", "ts": 1, "s": None}])
    assert table.values("id", "--where", "s = 'a'") == ["1"]
    assert table.values("id", "--where", "s IS NOT NULL") == ["1", "2"]
    assert table.values("id", "--where", "s IS NULL") == ["3"]
    assert table.values("id", "--where", f"s = '{'z' * 5000}'") == ["2"]


@pytest.mark.parametrize("text", ["ä" * 40, "日本" * 60, "a" * 31 + "\U0001F600" * 20,
                                  "\uffff" * 30, "x" * 100 + "é"])
def test_bounds_of_long_texts_of_many_bytes_hide_no_row(table, text):
    table.create("id string\nts long\ns string\n", order_by="ts")
    table.write([{"id": "1", "ts": 1, "s": text}, {"id": "2", "ts": 1, "s": text + "!"}])
    assert table.values("id", "--where", f"s = '{text}'") == ["1"]
    assert table.values("id", "--where", f"s > '{text}'") == ["2"]
    assert table.values("id", "--where", f"s <= '{text}!'") == ["1", "2"]


def test_files_without_any_statistics_are_read(table):
    table.create("id string\nts long\ns string\n", order_by="ts")
    table.write([{"id": "1", "ts": 1, "s": "a"}, {"id": "2", "ts": 1, "s": None}])
    path = table.base_files()[0]
    pq.write_table(pq.read_table(path), path, write_statistics=False)
    assert table.values("id", "--where", "s = 'a'") == ["1"]
    assert table.values("id", "--where", "s IS NOT NULL") == ["1"]
    assert table.values("id", "--where", "ts >= 1") == ["1", "2"]


# ---- B12: both forms of a complex key of one field --------------------------------------------

NEW_ENCODING = "hoodie.write.complex.keygen.new.encoding"
COMPLEX = {"hoodie.datasource.write.keygenerator.type": "COMPLEX"}


def record_keys(table):
    return [row["_hoodie_record_key"] for row in table.read(meta=True)]


@pytest.mark.parametrize("bare", ["true", "false"])
@pytest.mark.parametrize("version", ["3", "6"])
@pytest.mark.parametrize("index", ["BLOOM", "SIMPLE"])
def test_keys_go_on_in_the_form_found_in_the_table(table, bare, version, index):
    table.create(PLAIN, order_by="ts",
                 options={**COMPLEX, "hoodie.write.table.version": version})
    rows = [{"id": f"{i}", "ts": 1, "v": "old"} for i in range(100)]
    table.write(rows, options={NEW_ENCODING: bare})
    expected = sorted(row["id"] if bare == "true" else f"id:{row['id']}" for row in rows)
    assert sorted(record_keys(table)) == expected
    done = table.write([dict(row, ts=2, v="new") for row in rows],
                       options={"hoodie.index.type": index})
    assert (done["inserts"], done["updates"]) == (0, 100)
    assert sorted(record_keys(table)) == expected
    assert table.values("v") == ["new"] * 100
    table.write(rows[:10], op="delete")
    assert len(table.read()) == 90
    table.verify()


def test_separators_in_values_do_not_confuse_keys(table):
    table.create("a string\nb string\nts long\n", key="a,b", order_by="ts")
    pairs = [("1", "2"), ("1,b:2", ""), ("1", "b:2"), ("1,b", "2"), ("a:1", "b:2"), (":", ","),
             ("1,b:2", "3"), ("1", "2,b:3")]
    rows = [{"a": a, "b": b, "ts": 1} for a, b in pairs]
    table.write(rows)
    assert len(table.read()) == len(pairs) - 1 or len(table.read()) == len(pairs)
    read = {(row["a"], row["b"]) for row in table.read()}
    # "1,b:2"+"3" and "1"+"2,b:3" make the same key text, as in Hudi: one of them is the row.
    assert read | {("1,b:2", "3"), ("1", "2,b:3")} == set(pairs)
    done = table.write([dict(row, ts=2) for row in rows])
    assert done["inserts"] == 0


@pytest.mark.parametrize("value", ["a:b", "a,b", "id:7", "id:", ":", "x,id:y"])
def test_separators_in_a_single_complex_key(table, value):
    table.create(PLAIN, order_by="ts", options=COMPLEX)
    table.write([{"id": value, "ts": 1, "v": "old"}, {"id": "other", "ts": 1, "v": "old"}])
    done = table.write([{"id": value, "ts": 2, "v": "new"}])
    assert (done["inserts"], done["updates"]) == (0, 1)
    assert len(table.read()) == 2


# ---- B14: the key range of a footer ----------------------------------------------------------

def key_range(path):
    footer = pq.read_metadata(path).metadata
    return (footer[b"hoodie_min_record_key"].decode(), footer[b"hoodie_max_record_key"].decode())


@pytest.mark.parametrize("op", ["bulk_insert", "insert", "upsert"])
def test_the_footer_has_the_least_and_the_greatest_key(table, op):
    table.create(PLAIN, order_by="ts")
    table.write([{"id": key, "ts": 1, "v": "old"} for key in ("k010", "k002", "k100")], op=op)
    assert key_range(table.base_files()[0]) == ("k002", "k100")
    done = table.write([{"id": key, "ts": 2, "v": "new"} for key in ("k002", "k100")],
                       options={"hoodie.index.type": "BLOOM",
                                "hoodie.bloom.index.prune.by.ranges": "true"})
    assert (done["inserts"], done["updates"]) == (0, 2)
    assert table.values("v") == ["old" if i == 0 else "new" for i in (1, 0, 1)]
    table.write([{"id": "k001", "ts": 1, "v": "small"}, {"id": "k999", "ts": 1, "v": "big"}])
    assert key_range(table.newest_base_file()) == ("k001", "k999")
    table.verify()


def test_keys_beyond_the_basic_plane_are_found(table):
    """U+1F600 comes behind U+FF5E by bytes, before it in UTF-16, which Java's strings compare by:
    Hudi prunes by the one or the other, so neither may hide a key."""
    table.create(PLAIN, order_by="ts")
    keys = ["\U0001F600", "\uff5e", "z", "ä"]
    table.write([{"id": key, "ts": 1, "v": "old"} for key in keys], op="bulk_insert")
    least, greatest = key_range(table.base_files()[0])
    assert (least, greatest) == (min(keys), max(keys, key=lambda key: key.encode("utf-16-be")))
    for key in keys:
        done = table.write([{"id": key, "ts": 2, "v": "new"}],
                           options={"hoodie.index.type": "BLOOM"})
        assert (done["inserts"], done["updates"]) == (0, 1)
    path = table.newest_base_file()  # as a writer that goes by bytes says it
    whole = pq.read_table(path)
    footer = {**whole.schema.metadata, b"hoodie_max_record_key": max(keys).encode()}
    footer.update({key: value for key, value in pq.read_metadata(path).metadata.items()
                   if key != b"hoodie_max_record_key"})
    pq.write_table(whole.replace_schema_metadata(footer), path)
    for key in keys:
        done = table.write([{"id": key, "ts": 3, "v": "newer"}],
                           options={"hoodie.index.type": "BLOOM"})
        assert (done["inserts"], done["updates"]) == (0, 1)


def test_a_file_whose_rows_are_all_gone_can_be_written_to(table):
    table.create(PLAIN, order_by="ts")
    table.write([{"id": "a", "ts": 1, "v": "x"}, {"id": "b", "ts": 1, "v": "x"}])
    table.write([{"id": "a"}, {"id": "b"}], op="delete")
    assert table.read() == []
    table.verify()
    table.write([{"id": "b", "ts": 1, "v": "y"}, {"id": "a", "ts": 1, "v": "y"}])
    assert table.values("id") == ["a", "b"]
    assert key_range(table.newest_base_file()) == ("a", "b")
    table.verify()


# ---- B16: null ordering values ----------------------------------------------------------------

def test_a_null_ordering_value_ranks_lowest(table):
    table.create(PLAIN, order_by="ts")
    table.write([{"id": "a", "ts": None, "v": "v1"}, {"id": "b", "ts": 5, "v": "v1"},
                 {"id": "c", "ts": None, "v": "v1"}])
    table.write([{"id": "a", "ts": 5, "v": "v2"}, {"id": "b", "ts": None, "v": "v2"},
                 {"id": "c", "ts": None, "v": "v2"}])
    assert table.values("v") == ["v2", "v1", "v2"]


def test_within_one_write_too(table):
    table.create(PLAIN, order_by="ts")
    table.write([{"id": "a", "ts": 5, "v": "v1"}, {"id": "a", "ts": None, "v": "v2"},
                 {"id": "b", "ts": None, "v": "v1"}, {"id": "b", "ts": 1, "v": "v2"},
                 {"id": "b", "ts": None, "v": "v3"}])
    assert table.values("v") == ["v1", "v2"]


def test_the_ordering_column_may_widen(table):
    table.create("id string\nts int\nv string\n", order_by="ts")
    table.write([{"id": "a", "ts": 5, "v": "v1"}, {"id": "b", "ts": 5, "v": "v1"}])

    def wide(key, ts, value):
        return pa.table({"id": [key], "ts": pa.array([ts], pa.int64()), "v": [value]})
    table.write(wide("a", 1 << 40, "v2"))
    table.write(wide("b", 4, "v2"))
    assert table.values("v") == ["v2", "v1"]
    table.write([{"id": "a", "ts": 6, "v": "v3"}])
    assert table.values("ts") == [1 << 40, 5]
    table.verify()


# ---- B17: partition values that are no plain names --------------------------------------------

VALUES = ["with space", "with-dash", "eq=", "pct%", "plain", "tail/", "a/b",
          "2007-09-26 13:14:35.981"]
ODD = ["..", ".", ".hidden", "/lead", "a//b", "%2F", "p=x", "ä/ö", "a\\b", "*?[x]", "#", "a:b",
       "'q'", '"q"', "a\tb", "\U0001F600"]


def partitioned(table, encode, hive):
    return table.create("id string\nts long\np string\n", order_by="ts", partition_by="p",
                        options={"hoodie.datasource.write.partitionpath.urlencode": encode,
                                 "hoodie.datasource.write.hive_style_partitioning": hive})


@pytest.mark.parametrize("hive", ["true", "false"])
def test_encoded_partition_values_come_back_exactly(table, hive):
    partitioned(table, "true", hive)
    # Below a dot there would be a hidden folder; with the column's name in front there is none.
    values = [value for value in VALUES + ODD if hive == "true" or value[0] != "."]
    rows = [{"id": f"{i:02}", "ts": 1, "p": value} for i, value in enumerate(values)]
    table.write(rows)
    assert table.read() == rows
    assert len(table.folders()) == len(values)
    done = table.write([dict(row, ts=2) for row in rows])
    assert (done["inserts"], done["updates"]) == (0, len(rows))
    for row in rows:
        text = row["p"].replace("'", "''")
        assert table.values("id", "--where", f"p = '{text}'") == [row["id"]]
    table.verify()


@pytest.mark.parametrize("hive", ["true", "false"])
@pytest.mark.parametrize("value", VALUES + ODD)
def test_without_encoding_a_value_survives_or_is_refused_before_writing(table, hive, value):
    partitioned(table, "false", hive)
    row = {"id": "1", "ts": 1, "p": value}
    try:
        table.write([row])
    except Refused as refused:
        assert table.base_files() == []
        assert "partition" in str(refused) or "path" in str(refused)
        table.write([row, {"id": "2", "ts": 1, "p": "plain"}],
                    options={"libhudi.write.ignore.failed": "true"})
        assert table.values("id") == ["2"]
        return
    assert value not in ("tail/", "2007-09-26 13:14:35.981", "/lead", "a//b")
    assert value[0] != "." or hive == "true"
    assert table.read() == [row]
    assert table.write([dict(row, ts=2)])["updates"] == 1
    assert table.values("id", "--where", "p = '" + value.replace("'", "''") + "'") == ["1"]
    assert all(table.path in path.resolve().parents for path in table.base_files())
    table.verify()


# ---- B19: null partition values ---------------------------------------------------------------

def test_null_dates_go_to_the_default_partition_and_read_as_null(tables):
    for version, folder in ((6, "__HIVE_DEFAULT_PARTITION__"), (3, "default"), (5, None)):
        table = tables().create("id string\nts long\nd date\n", order_by="ts", partition_by="d",
                                options={"hoodie.write.table.version": version})
        rows = [{"id": "1", "ts": 1, "d": "2000-01-01"}, {"id": "2", "ts": 1, "d": None},
                {"id": "3", "ts": 1, "d": None}]
        table.write(rows)
        assert table.read() == rows
        if folder is not None:
            assert folder in table.folders()
        assert table.values("id", "--where", "d IS NULL") == ["2", "3"]
        assert table.values("id", "--where", "d = '2000-01-01'") == ["1"]
        assert table.write([dict(rows[1], ts=2)])["updates"] == 1
        table.verify()


@pytest.mark.parametrize("version", [3, 6])
def test_the_text_default_is_a_value_like_any_other(table, version):
    table.create("id string\nts long\np string\n", order_by="ts", partition_by="p",
                 options={"hoodie.write.table.version": version})
    rows = [{"id": "1", "ts": 1, "p": "default"}, {"id": "2", "ts": 1, "p": "x"}]
    table.write(rows)
    assert table.read() == rows
    assert table.values("id", "--where", "p = 'default'") == ["1"]
    assert table.values("id", "--where", "p IS NULL") == []


# ---- B22: timestamp key generator -------------------------------------------------------------

GENERATOR = "hoodie.keygen.timebased."


def by_time(table, column_type, version=6, **settings):
    options = {"hoodie.datasource.write.keygenerator.type": "TIMESTAMP",
               "hoodie.write.table.version": version,
               GENERATOR + "output.dateformat": "yyyy/MM/dd"}
    options |= {GENERATOR + key.replace("_", "."): value for key, value in settings.items()}
    return table.create(f"id string\nts long\nat {column_type}\n", order_by="ts",
                        partition_by="at", options=options)


@pytest.mark.parametrize("zone, folder", [("GMT", "2021/12/31"), ("GMT+8:00", "2022/01/01"),
                                          ("America/New_York", "2021/12/31")])
def test_a_filter_on_the_column_finds_its_row_whatever_the_folder_says(table, zone, folder):
    by_time(table, "long", timestamp_type="EPOCHMILLISECONDS", timezone=zone)
    table.write([{"id": "a", "ts": 1, "at": 1640995199000}, {"id": "b", "ts": 1, "at": 0}])
    assert folder in table.folders()
    assert table.values("id", "--where", "at = 1640995199000") == ["a"]
    assert table.values("at", "--where", "at > 1000") == [1640995199000]
    assert table.values("id", "--where", "at < 1000") == ["b"]
    assert table.write([{"id": "a", "ts": 2, "at": 1640995199000}])["updates"] == 1
    assert len(table.read()) == 2
    table.verify()


def test_summer_time_is_of_the_zone_at_that_moment(table):
    by_time(table, "long", timestamp_type="EPOCHMILLISECONDS", timezone="America/New_York")
    table.write([{"id": "winter", "ts": 1, "at": 1705291200000 + 1800000},
                 {"id": "summer", "ts": 1, "at": 1721016000000 + 1800000}])
    # 04:30 UTC is still the day before in winter, and 00:30 of the day in summer.
    folders = {row["id"]: row["_hoodie_partition_path"] for row in table.read(meta=True)}
    assert folders == {"winter": "2024/01/14", "summer": "2024/07/15"}


@pytest.mark.parametrize("kind, value, extra", [
    ("EPOCHMICROSECONDS", 1640995199000000, {}),
    ("UNIX_TIMESTAMP", 1640995199, {}),
    ("SCALAR", 18992, {"timestamp_scalar_time_unit": "days"}),
    ("SCALAR", 1640995199, {"timestamp_scalar_time_unit": "seconds"}),
])
def test_other_units_of_the_time_generator(table, kind, value, extra):
    by_time(table, "long", timestamp_type=kind, timezone="GMT", **extra)
    table.write([{"id": "a", "ts": 1, "at": value}])
    assert table.folders() == ["2021/12/31"]
    assert table.values("id", "--where", f"at = {value}") == ["a"]
    assert table.values("at") == [value]


def test_a_null_time_goes_to_the_day_of_the_epoch(table):
    by_time(table, "long", timestamp_type="EPOCHMILLISECONDS", timezone="GMT")
    table.write([{"id": "a", "ts": 1, "at": None}])
    assert table.folders() == ["1970/01/01"]
    assert table.values("at") == [None]
    assert table.values("id", "--where", "at IS NULL") == ["a"]


# ---- B24: names that Avro forbids -------------------------------------------------------------

@pytest.mark.parametrize("bad", [["1Min"], ["$c"], ["1Min", "$c"], ["ä"], ["a-b"], ["a b"],
                                 ["a.b"], [""]])
def test_bad_column_names_are_refused_before_any_file_exists(table, bad):
    rows = pa.table({"id": ["a"], "order": [1]} | {name: [1] for name in bad})
    like = table.folder / "like.parquet"
    pq.write_table(rows, like)
    with pytest.raises(Refused) as refused:
        table.do("create", table.path, "--like", like, "--key", "id")
    for name in bad:
        assert name in str(refused.value)
    assert not table.path.exists()
    with pytest.raises(Refused):
        table.do("write", table.path, like, "--key", "id")
    assert not table.path.exists()


@pytest.mark.parametrize("bad", ["1Min", "$c", "ä"])
def test_bad_names_are_refused_in_later_inputs_too(table, bad):
    table.create(PLAIN, order_by="ts")
    table.write([{"id": "a", "ts": 1, "v": "x"}])
    before = [row["time"] for row in table.instants() if row["action"] == "commit"]
    with pytest.raises(Refused) as refused:
        table.write([{"id": "b", "ts": 1, "v": "y", bad: 1}])
    assert bad in str(refused.value)
    assert len(table.read()) == 1
    assert [row["time"] for row in table.instants() if row["action"] == "commit"] == before
    table.verify()


def test_words_of_sql_are_names_like_any_other(table):
    table.create("id string\norder long\nselect string\nwhere string\n", order_by="order")
    row = {"id": "a", "order": 1, "select": "x", "where": "y"}
    table.write([row])
    assert table.read() == [row]
    assert table.read("--columns", "order,select") == [{"order": 1, "select": "x"}]


def test_names_that_differ_in_case_alone(table):
    """Two columns, as in Avro and Parquet; or refused by name, as catalogs would."""
    try:
        table.create("id string\nName string\nname string\n")
    except Refused as refused:
        assert "Name" in str(refused) and "name" in str(refused)
        assert not table.path.exists()
        return
    row = {"id": "a", "Name": "N", "name": "n"}
    table.write([row])
    assert table.read() == [row]
    assert table.read("--columns", "name") == [{"name": "n"}]


def test_meta_columns_of_an_input_are_not_the_tables(table):
    table.create(PLAIN, order_by="ts")
    row = {"id": "a", "ts": 1, "v": "x", "_hoodie_commit_time": "1", "_hoodie_record_key": "z"}
    done = table.write([row])
    read = table.read(meta=True)
    assert [r["_hoodie_commit_time"] for r in read] == [done["instant"]]
    assert [r["_hoodie_record_key"] for r in read] == ["a"]
    assert list(read[0]) == ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
                             "_hoodie_partition_path", "_hoodie_file_name", "id", "ts", "v"]


def test_a_table_cannot_have_columns_of_the_meta_ones(table):
    schema = table.folder / "s"
    schema.write_text("id string\n_hoodie_commit_time string\n")
    with pytest.raises(Refused) as refused:
        table.do("create", table.path, "--schema", schema, "--key", "id")
    assert "_hoodie_commit_time" in str(refused.value)
    assert not table.path.exists()
