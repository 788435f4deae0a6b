# SPDX-License-Identifier: Apache-2.0
"""Faults of types that users met elsewhere: each report as a kind, with its variants."""
import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Refused

UTC = datetime.timezone.utc


def nullable(avro_type):
    return ["null", avro_type]


def logical(avro_type, name):
    return {"type": avro_type, "logicalType": name}


def field(name, avro_type, optional=True):
    if optional:
        return {"name": name, "type": nullable(avro_type), "default": None}
    return {"name": name, "type": avro_type}


KEYS = [field("id", "string", False), field("ts", "long", False)]


# ---- B01: the declared unit of a timestamp belongs to its value ------------------------------

UNITS = [
    ("timestamp-millis", "2024-07-10T17:07:04.939Z", 1720631224939, "ms", "UTC"),
    ("timestamp-micros", "2024-07-10T17:07:04.939001Z", 1720631224939001, "us", "UTC"),
    ("local-timestamp-millis", "2024-07-10T17:07:04.939", 1720631224939, "ms", None),
    ("local-timestamp-micros", "2024-07-10T17:07:04.939001", 1720631224939001, "us", None),
    ("timestamp-millis", "1969-12-31T23:59:59.999Z", -1, "ms", "UTC"),
    ("timestamp-millis", "1899-12-31T00:00:00.500Z", -2209075199500, "ms", "UTC"),
    ("timestamp-micros", "1969-12-31T23:59:59.999999Z", -1, "us", "UTC"),
]


@pytest.mark.parametrize("name, text, number, unit, zone", UNITS)
@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert"])
def test_a_timestamp_keeps_its_declared_unit(table, name, text, number, unit, zone, op):
    stamp = logical("long", name)
    table.create(KEYS + [
        field("at", stamp),
        field("list", {"type": "array", "items": nullable(stamp)}),
        field("rec", {"type": "record", "name": "r", "fields": [field("at", stamp)]}),
    ], order_by="ts")
    for value in (number, text):
        table.write([{"id": "a", "ts": 1, "at": value, "list": [value, None],
                      "rec": {"at": value}}], op=op)
    table.write([{"id": "b", "ts": 1, "at": number}], op="upsert")
    rows = [row for row in table.read() if row["id"] == "a"]
    for row in rows:
        assert (row["at"], row["list"], row["rec"]) == (text, [text, None], {"at": text})
    for path in table.base_files():
        schema = pq.read_schema(path)
        assert schema.field("at").type == pa.timestamp(unit, zone)
        assert schema.field("rec").type.field("at").type == pa.timestamp(unit, zone)
        assert schema.field("list").type.value_type == pa.timestamp(unit, zone)
        annotation = json.loads(pq.ParquetFile(path).schema.column(7).logical_type.to_json())
        assert annotation["timeUnit"] == {"ms": "milliseconds", "us": "microseconds"}[unit]
        assert pq.ParquetFile(path).schema.column(7).physical_type == "INT64"
    table.verify()


@pytest.mark.parametrize("declared, given", [("timestamp-millis", "us"), ("timestamp-millis", "ns"),
                                             ("timestamp-micros", "ms"), ("timestamp-micros", "ns"),
                                             ("timestamp-millis", "s")])
def test_an_input_of_another_unit_is_converted_or_refused(table, declared, given):
    """Refused where the table's unit is coarser: it could lose digits."""
    at = datetime.datetime(2024, 7, 10, 17, 7, 4, 0, UTC)
    if given != "s":
        at = at.replace(microsecond=939000)
    table.create(KEYS + [field("at", logical("long", declared))], order_by="ts")
    rows = pa.table({"id": ["a"], "ts": [1], "at": pa.array([at], pa.timestamp(given, "UTC"))})
    if declared == "timestamp-millis" and given in ("us", "ns"):
        with pytest.raises(Refused) as refused:
            table.write(rows)
        assert "timestamp-millis" in str(refused.value) and "at" in str(refused.value)
        return
    table.write(rows)
    digits = {"timestamp-millis": 3, "timestamp-micros": 6}[declared]
    fraction = ("939000" if given != "s" else "000000")[:digits]
    assert table.values("at") == [f"2024-07-10T17:07:04.{fraction}Z"]


# ---- B04: old dates are the proleptic Gregorian ones ------------------------------------------

DATES = ["0001-01-01", "1582-10-04", "1582-10-15", "1899-12-31", "1969-12-31", "2000-02-29"]


def old_rows():
    return [{"id": f"k{i}", "ts": 1, "d": date, "m": f"{date}T00:00:00.000001Z",
             "t": f"{date}T23:59:59.500Z"} for i, date in enumerate(DATES)]


OLD = KEYS + [field("d", logical("int", "date")), field("m", logical("long", "timestamp-micros")),
              field("t", logical("long", "timestamp-millis"))]


@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert"])
def test_old_dates_and_times_come_back_as_the_same_days(table, op):
    table.create(OLD, order_by="ts")
    table.write(old_rows(), op=op)
    assert table.read() == old_rows()
    changed = dict(old_rows()[0], ts=2)
    table.write([changed])
    expected = [changed] + old_rows()[1:]
    assert table.read() == expected
    days = pq.read_table(table.newest_base_file(), columns=["d"])["d"].cast(pa.int32())
    assert sorted(days.to_pylist()) == sorted(
        datetime.date.fromisoformat(date).toordinal() - 719163 for date in DATES)
    table.verify()


@pytest.mark.parametrize("as_input", [True, False])
def test_int96_times_before_1900_keep_their_day(table, as_input):
    """Of an input file, and of a base file that another writer made."""
    table.create(OLD[:2] + [OLD[3]], order_by="ts")
    moments = [datetime.datetime.fromisoformat(f"{date}T00:00:00.000001").replace(tzinfo=UTC)
               for date in DATES]
    rows = pa.table({"id": [f"k{i}" for i in range(len(DATES))], "ts": [1] * len(DATES),
                     "m": pa.array(moments, pa.timestamp("us", "UTC"))})
    texts = [f"{date}T00:00:00.000001Z" for date in DATES]
    if as_input:
        path = table.folder / "in.parquet"
        pq.write_table(rows, path, use_deprecated_int96_timestamps=True)
        assert pq.ParquetFile(path).schema.column(2).physical_type == "INT96"
        table.write(path)
    else:
        table.write(rows)
        path = table.base_files()[0]
        whole = pq.read_table(path)
        pq.write_table(whole, path, use_deprecated_int96_timestamps=True)
        assert pq.ParquetFile(path).schema.column(7).physical_type == "INT96"
    assert table.values("m") == texts
    table.write([{"id": "k1", "ts": 2, "m": texts[1]}])
    assert table.values("m") == texts
    assert pq.ParquetFile(table.newest_base_file()).schema.column(7).physical_type == "INT64"


# ---- B06: a decimal keeps the width of its fixed ----------------------------------------------

@pytest.mark.parametrize("size, precision, scale", [(10, 20, 2), (16, 38, 10), (9, 20, 2),
                                                    (4, 5, 2), (12, 10, 0)])
def test_every_file_has_the_width_of_the_declared_fixed(table, size, precision, scale):
    fixed = {"type": "fixed", "name": "f", "size": size, "logicalType": "decimal",
             "precision": precision, "scale": scale}
    table.create(KEYS + [field("x", fixed)], order_by="ts")
    unit = "1" if scale == 0 else "0." + "0" * (scale - 1) + "1"
    big = "9" * (precision - scale) + ("." + "9" * scale if scale else "")
    values = ["-" + unit, unit, big, "-" + big, None]

    def rows(ts, picked):
        return [{"id": f"k{i}", "ts": ts, "x": values[i]} for i in picked]
    table.write(rows(1, [0, 1]), op="insert")
    table.write(rows(2, [1, 2]), op="upsert")
    table.write(rows(3, [3, 4]), op="bulk_insert")
    table.write(rows(4, [4]), op="upsert")
    assert table.values("x") == values
    for path in table.base_files():
        column = pq.ParquetFile(path).schema.column(7)
        assert (column.physical_type, column.length) == ("FIXED_LEN_BYTE_ARRAY", size)
    table.verify()


def test_a_declared_width_holds_in_nested_values_too(table):
    fixed = {"type": "fixed", "name": "f", "size": 11, "logicalType": "decimal", "precision": 20,
             "scale": 2}
    record = {"type": "record", "name": "r", "fields": [field("x", fixed)]}
    table.create(KEYS + [field("r", record), field("l", {"type": "array", "items": nullable("f")}),
                         field("m", {"type": "map", "values": nullable("f")})], order_by="ts")
    rows = [{"id": "a", "ts": 1, "r": {"x": "-0.01"}, "l": ["1.00", None, "-2.50"],
             "m": {"k": "-0.01", "n": None}},
            {"id": "b", "ts": 1, "r": None, "l": None, "m": None},
            {"id": "c", "ts": 1, "r": {"x": None}, "l": [], "m": {}}]
    table.write(rows)
    assert table.read() == rows
    rows[0] = dict(rows[0], ts=2)
    table.write(rows[:1])
    assert table.read() == rows
    for path in table.base_files():
        schema = pq.ParquetFile(path).schema
        widths = [schema.column(i).length for i in range(len(schema))
                  if schema.column(i).physical_type == "FIXED_LEN_BYTE_ARRAY"]
        assert widths == [11, 11, 11]
        assert pq.read_table(path, columns=["r"])["r"].type.field("x").type == \
            pa.decimal128(20, 2)
    table.verify()


def test_a_file_of_another_width_is_read_and_merged(table):
    """As other writers made it: 9 bytes, the least that the precision needs."""
    fixed = {"type": "fixed", "name": "f", "size": 10, "logicalType": "decimal", "precision": 20,
             "scale": 2}
    table.create(KEYS + [field("x", fixed)], order_by="ts")
    table.write([{"id": "a", "ts": 1, "x": "-0.01"}, {"id": "b", "ts": 1, "x": "7.25"}])
    path = table.base_files()[0]
    pq.write_table(pq.read_table(path), path)
    assert pq.ParquetFile(path).schema.column(7).length == 9
    assert table.values("x") == ["-0.01", "7.25"]
    table.write([{"id": "b", "ts": 2, "x": "-7.25"}])
    assert table.values("x") == ["-0.01", "-7.25"]
    assert pq.ParquetFile(table.newest_base_file()).schema.column(7).length == 10


# ---- B07: nulls inside of lists and maps ------------------------------------------------------

TEXTS = {"type": "array", "items": nullable("string")}
NESTED = [
    (TEXTS, [[], None, ["x"], [None], ["x", None, "y"], [""]]),
    ({"type": "map", "values": nullable("long")},
     [{}, None, {"k": 1}, {"k": None}, {"a": 1, "b": None}]),
    ({"type": "array", "items": nullable(TEXTS)},
     [[], None, [[]], [None], [["x"], None, []], [[None], ["y", None]]]),
    ({"type": "array", "items": nullable({"type": "record", "name": "e",
                                          "fields": [field("v", "int")]})},
     [[], [None], [{"v": None}], [{"v": 1}, None, {"v": 2}]]),
    ({"type": "map", "values": nullable(TEXTS)}, [{}, {"k": None}, {"k": []}, {"k": [None]}]),
]


@pytest.mark.parametrize("avro_type, values", NESTED)
@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert"])
def test_nulls_in_nested_values_come_back_apart(table, avro_type, values, op):
    table.create(KEYS + [field("v", avro_type)], order_by="ts")
    rows = [{"id": f"k{i}", "ts": 1, "v": value} for i, value in enumerate(values)]
    table.write(rows, op=op)
    assert table.read() == rows
    assert len(pq.read_table(table.base_files()[0])) == len(values)  # Arrow reads it as well
    rows[0] = dict(rows[0], ts=2, v=values[-1])
    table.write(rows[:1])
    assert table.read() == rows
    table.verify()


def test_lists_of_nullable_elements_have_three_levels(table):
    table.create(KEYS + [field("v", TEXTS)], order_by="ts")
    table.write([{"id": "a", "ts": 1, "v": ["x", None]}])
    column = pq.ParquetFile(table.base_files()[0]).schema.column(7)
    assert len(column.path.split(".")) == 3
    assert column.max_definition_level == 3


# ---- floats that became doubles ---------------------------------------------------------------

@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_floats_become_doubles_by_their_text(table, kind):
    """0.7 stays 0.7 in base files that are read, merged into, compacted, compared; and as an input of a double."""
    options = {"hoodie.parquet.small.file.limit": "0"}
    floats = {"type": "array", "items": nullable("float")}
    table.create(KEYS + [field("p", "string", False), field("f", "float"), field("a", floats)], order_by="ts",
                 partition_by="p", options={"hoodie.datasource.write.table.type": kind})

    def arrow(rows, of):
        columns = pa.schema([pa.field("id", pa.string(), False), pa.field("ts", pa.int64(), False),
                             pa.field("p", pa.string(), False), ("f", of), ("a", pa.list_(of))])
        return pa.Table.from_pylist(rows, columns)

    def row(key, ts, value, p):
        return {"id": key, "ts": ts, "p": p, "f": value, "a": [value, None]}

    rows = [row("a", 1, 0.1, "x"), row("b", 1, 0.7, "x"), row("c", 1, -3.3333, "y"), row("d", 1, 1e30, "z")]
    table.write(arrow(rows, pa.float32()), options=options)
    assert table.read()[1]["f"] == 0.699999988079071
    rows[0] = row("a", 2, 2.1, "x")
    table.write(arrow(rows[:1], pa.float64()), options=options)
    assert table.read() == rows
    for value in (0.7, -3.3333, 1e30):
        found = [one for one in rows if one["f"] == value]
        for words in (f"f = {value}", f"f >= {value} AND f <= {value}"):
            assert table.read("--where", words) == found, words
    rows[3] = row("d", 3, 5.3, "z")
    table.write(arrow(rows[3:], pa.float32()), options=options)
    assert table.read() == rows
    if kind == "MERGE_ON_READ":
        table.do("compact", table.path)
        assert table.read("--read-optimized") == rows
    table.do("cluster", table.path, "--sort", "id")
    assert table.read() == rows
    table.verify()
