# SPDX-License-Identifier: Apache-2.0
"""Inputs that people hand in: nothing of them becomes another value without a word."""
import pyarrow as pa
import pytest

from conftest import Refused


def lines(table, text, name="in.jsonl"):
    path = table.folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def make(table, path, *words):
    return table.do("write", table.path, path, "--key", "id", *words)


# ---- JSON lines ------------------------------------------------------------------------------

@pytest.mark.parametrize("column, value, why", [
    ("double", "9007199254740993", "has more digits than a double keeps"),
    ("double", "-9223372036854775807", "has more digits than a double keeps"),
    ("float", "16777217", "has more digits than a float keeps"),
    ("float", "1e300", "does not fit a float"),
    ("long", "9007199254740993.0", "has more digits than are kept"),
    ("decimal(20,2)", "12345678901234567.89", "may have lost digits: write it as a string"),
    ("decimal(20,2)", "100000000000000000.01", "may have lost digits: write it as a string"),
    ("decimal(38,18)", "1.500000000000000001", "may have lost digits: write it as a string"),
    ("decimal(38,18)", "12345678901234.567", "may have lost digits: write it as a string"),
    ("decimal(38,2)", "92233720368547758071", "too big integer"),
])
def test_a_number_that_its_column_cannot_keep_fails_its_record(table, column, value, why):
    table.create(f"id string\nv {column}\n")
    with pytest.raises(Refused) as refused:
        table.write(lines(table, f'{{"id":"a","v":{value}}}\n'))
    assert why in str(refused.value) and "line 1" in str(refused.value)
    assert table.read() == []


@pytest.mark.parametrize("column, value, read", [
    ("double", "9007199254740992", 2.0 ** 53), ("double", "9007199254740994", 2.0 ** 53 + 2),
    ("double", "-9223372036854775808", -2.0 ** 63), ("double", "0.1", 0.1),
    ("float", "16777216", 16777216.0), ("long", "9007199254740993", 2 ** 53 + 1),
    ("long", "9007199254740991.0", 2 ** 53 - 1), ("long", "1e3", 1000),
    ("decimal(20,2)", "1234567890123.25", "1234567890123.25"),
    ("decimal(20,2)", "-0.1", "-0.10"), ("decimal(20,2)", "9223372036854775", "9223372036854775.00"),
    ("decimal(38,18)", "1.5", "1.500000000000000000"), ("decimal(20,10)", "123456.7", "123456.7000000000"),
    ("decimal(38,18)", '0.001,"w":"1.500000000000000001"', "0.001000000000000000"),
    ("decimal(38,18)", "1234567890123.25", "1234567890123.250000000000000000"),
    ("decimal(20,2)", '"100000000000000000.01"', "100000000000000000.01"),
    ("float", "3.4028235E38", 3.4028234663852886e38),
])
def test_a_number_that_its_column_keeps_is_taken(table, column, value, read):
    table.create(f"id string\nv {column}\n")
    table.write(lines(table, f'{{"id":"a","v":{value}}}\n'))
    assert table.values("v") == [read]


def test_keys_of_more_digits_than_a_double_keeps_are_not_made_one(table):
    text = '{"id":9007199254740993,"v":1}\n{"id":9007199254740992,"v":2}\n{"id":1.5,"v":3}\n'
    with pytest.raises(Refused) as refused:
        make(table, lines(table, text))
    assert '9007199254740993 has more digits than a double keeps' in str(refused.value)
    make(table, lines(table, text), "--ignore-failed")
    assert sorted(table.values("v")) == [2, 3]


@pytest.mark.parametrize("text", ['{"id":"a","v":1,"v":2}', '{"id":"a","id":"b","v":1}',
                                  '{"id":"a","v":1,"s":{"x":1,"x":2}}'])
def test_a_member_that_occurs_twice_fails_its_record(table, text):
    table.create("id string\nv long\ns struct<x:long>\n")
    with pytest.raises(Refused) as refused:
        table.write(lines(table, f'{{"id":"c","v":1}}\n{text}\n'))
    assert "line 2: JSON at byte" in str(refused.value) and "duplicate" in str(refused.value)


def test_a_byte_order_mark_is_no_part_of_the_first_line(table):
    make(table, lines(table, b'\xef\xbb\xbf{"id":"a","v":1}\n'))
    table.write(lines(table, b'\xef\xbb\xbf{"id":"b","v":2}\n{"id":"\xef\xbb\xbf","v":3}\n'))
    assert table.values("id") == ["a", "b", "\ufeff"]


@pytest.mark.parametrize("text, why", [('[{"id":1}]\n', "line 1: is no JSON object"),
                                       ('{\n "id":1\n}\n', "line 1: JSON at byte"),
                                       ('\n{"id":NaN}\n', "line 2: JSON at byte"),
                                       ("id,v\n1,2\n", "line 1: JSON at byte")])
def test_lines_of_which_none_is_a_row_say_why(table, text, why):
    with pytest.raises(Refused) as refused:
        make(table, lines(table, text))
    assert "no columns to make a table of" in str(refused.value) and why in str(refused.value)
    assert not table.path.exists()


def test_an_object_without_members_says_no_type(table):
    make(table, lines(table, '{"id":"a","v":{}}\n{"id":"b","v":{"x":1}}\n'))
    assert table.values("v") == [{"x": None}, {"x": 1}]
    with pytest.raises(Refused) as refused:
        table.write(lines(table, '{"id":"a","w":{}}\n'))
    assert 'column "w": {} is no string' in str(refused.value)


# ---- Arrow columns ---------------------------------------------------------------------------

def test_a_column_of_nulls_alone_has_the_type_of_the_tables(table):
    rows = pa.table({"id": ["a", "b"], "v": ["x", "y"], "l": [[1], [2]],
                     "s": [{"x": 1, "y": "q"}, None]})
    table.create("id string\nv string\nl array<long>\ns struct<x:long,y:string>\n")
    table.write(rows)
    table.write(pa.table({"id": ["a"], "v": pa.nulls(1), "l": pa.array([[None]]),
                          "s": pa.array([{"x": None, "y": "r"}])}))
    assert table.read() == [{"id": "a", "v": None, "l": [None], "s": {"x": None, "y": "r"}},
                            {"id": "b", "v": "y", "l": [2], "s": None}]


@pytest.mark.parametrize("type_, why", [
    (pa.null(), "column w: nothing but nulls says no type"),
    (pa.list_(pa.null()), "column w.element: nothing but nulls says no type"),
    (pa.map_(pa.int32(), pa.int32()), "column w: keys of a map are strings"),
    (pa.struct([]), "column w: a record without fields")])
def test_a_type_that_no_table_has_makes_none(table, type_, why):
    rows = pa.table({"id": ["a"], "w": pa.nulls(1, type_)})
    path = table.folder / "in.arrow"
    with pa.ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows)
    with pytest.raises(Refused) as refused:
        make(table, path)
    assert why in str(refused.value)
    assert not table.path.exists()


@pytest.mark.parametrize("value, read", [
    (1720631224000000001, None), (-1, None), (1720631224000001000, "2024-07-10T17:07:04.000001Z"),
])
def test_a_time_of_a_finer_unit_than_the_column_fails_its_row(table, value, read):
    table.create("id string\nv timestamp\n")
    nanos = pa.array([value, None], pa.int64()).cast(pa.timestamp("ns", "UTC"))
    rows = pa.table({"id": ["a", "b"], "v": nanos})
    if read is None:
        with pytest.raises(Refused) as refused:
            table.write(rows)
        assert "row 1: column \"v\"" in str(refused.value) and "does not fit" in str(refused.value)
        table.write(rows, options={"libhudi.write.ignore.failed": "true"})
        assert table.values("id") == ["b"]
    else:
        table.write(rows)
        assert table.values("v") == [read, None]


# ---- CSV -------------------------------------------------------------------------------------

@pytest.mark.parametrize("numbers", [
    ["007", "7"], ["00501", "12345"], ["-01", "1"], ["1", "00"], ["007.5", "1"],
    ["9223372036854775807", "9223372036854775808"], ["9007199254740993", "0.5"],
    ["-9007199254740993", "0.5"], ["1e3", "000"], [" 08", "9"]])
def test_a_guessed_number_loses_no_digit(table, numbers):
    text = "id,v\n" + "".join(f"{i},{number}\n" for i, number in enumerate(numbers))
    make(table, lines(table, text, "in.csv"))
    assert table.values("v") == numbers


@pytest.mark.parametrize("numbers, read", [
    (["0", "-0", "10"], [0, 0, 10]), (["0.5", "9007199254740992"], [0.5, 2.0 ** 53]),
    (["1", "", "9223372036854775807"], [1, None, 2 ** 63 - 1]), (["1.50", "0"], [1.5, 0.0]),
    (["0.0", "-0.5"], [0.0, -0.5])])
def test_numbers_that_keep_their_digits_are_guessed_as_numbers(table, numbers, read):
    text = "id,v\n" + "".join(f"{i},{number}\n" for i, number in enumerate(numbers))
    make(table, lines(table, text, "in.csv"))
    assert table.values("v") == read


def test_keys_that_differ_in_leading_zeros_are_two_keys(table):
    make(table, lines(table, "id,v\n007,1\n7,2\n", "in.csv"))
    assert table.values("id") == ["007", "7"]


@pytest.mark.parametrize("text, byte", [('id,v\n1,"abc\n2,x\n3,y\n', 5), ('id,v\n1,a\n2,"b', 9),
                                        ('id,v\n1,"a""\n', 5), ('"id,v\n1,a\n', 0)])
@pytest.mark.parametrize("there", [True, False])
def test_a_quote_that_is_not_closed_swallows_no_rows(table, text, byte, there):
    if there:
        table.create("id string\nv string\n")
    with pytest.raises(Refused) as refused:
        make(table, lines(table, text, "in.csv"), *(["--ignore-failed"] if there else []))
    assert f"CSV row at byte {byte} has a quote that is not closed" in str(refused.value)
    assert not there or table.read() == []


@pytest.mark.parametrize("text, read", [
    ('id,v\n1,a\n2,b', ["a", "b"]), ('id,v\n1,"a"\n2,"b\n"', ["a", "b\n"]),
    ('id,v\r\n1,a\r\n2,b\r\n', ["a", "b"]), ('id,v\r1,a\r2,b\r', ["a", "b"]),
    ('id,v\r1,a\r2,"b"', ["a", "b"]), ('id,v\n1,5" pipe\n2,b"', ['5" pipe', 'b"']),
    ('id,v\n1,a""b\n2,"x""y"', ['a""b', 'x"y']), ("id,v", []), ("id,v\n", []), ("id,v\r\n", [])])
def test_the_last_line_may_lack_its_end(table, text, read):
    make(table, lines(table, text, "in.csv"))
    assert table.values("v") == read


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n"])
def test_a_file_of_blank_lines_has_no_names(table, text):
    with pytest.raises(Refused) as refused:
        make(table, lines(table, text, "in.csv"))
    assert "CSV file without a line of column names" in str(refused.value)


def test_a_text_that_is_no_utf8_makes_no_column_of_bytes(table):
    path = lines(table, b"id,v,n\n1,\xff,5\n2,b,6\n", "in.csv")
    with pytest.raises(Refused) as refused:
        make(table, path)
    assert 'row 1: column "v": "\\xff" does not fit string' in str(refused.value)
    table.write(path, options={"libhudi.write.ignore.failed": "true"})
    assert table.read() == [{"id": 2, "v": "b", "n": 6}]


def test_what_stands_for_null_without_quotes(table):
    text = 'id,v\n1,NA\n2,null\n3,NULL\n4,\n5,"NA"\n6,"null"\n7,""\n8,na\n9,N/A\n'
    make(table, lines(table, text, "in.csv"))
    assert table.values("v") == [None] * 4 + ["NA", "null", "", "na", "N/A"]


# ---- nulls in lists and maps ------------------------------------------------------------------

def nested(items):
    return [{"name": "id", "type": "string"}, {"name": "l", "type": ["null", {"type": "array", "items": items}]},
            {"name": "m", "type": ["null", {"type": "map", "values": items}]}]


INNER_NULLS = [{"id": "a", "l": [1], "m": {"k": 1}}, {"id": "b", "l": [1, None, 3], "m": None},
               {"id": "c", "l": None, "m": {"k": None}}]


def as_json(table):
    return INNER_NULLS


def as_parquet(table):
    return pa.table({"id": [one["id"] for one in INNER_NULLS],
                     "l": pa.array([one["l"] for one in INNER_NULLS], pa.list_(pa.int64())),
                     "m": pa.array([one["m"] and list(one["m"].items()) for one in INNER_NULLS],
                                   pa.map_(pa.string(), pa.int64()))})


@pytest.mark.parametrize("rows", [as_json, as_parquet])
@pytest.mark.parametrize("op", ["upsert", "insert", "bulk_insert"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_nulls_in_lists_and_maps_stay_or_fail_their_record_by_place(tables, rows, op, kind):
    options = {"hoodie.table.type": kind}
    table = tables().create(nested(["null", "long"]), options=options)
    for _ in range(2 if op == "upsert" else 1):
        table.write(rows(table), op=op)
    assert table.read() == INNER_NULLS
    table.verify()

    table = tables().create(nested("long"), options=options)
    with pytest.raises(Refused) as refused:
        table.write(rows(table), op=op)
    assert '2 records could not be written' in str(refused.value)
    assert '2: column "l.element"' in str(refused.value) and "null" in str(refused.value)
    assert table.read() == []
    assert table.write(rows(table), op=op, options={"libhudi.write.ignore.failed": "true"})["failed"] == 2
    assert table.read() == INNER_NULLS[:1]


@pytest.mark.parametrize("row, place", [('{"id":"a","m":{"k":null}}', 'column "m.value" is null'),
                                        ('{"id":"a","l":[1.5]}', 'column "l.element": 1.5 is no integer')])
def test_what_does_not_fit_inside_a_column_is_told_by_its_place(table, row, place):
    table.create(nested("long"))
    with pytest.raises(Refused) as refused:
        table.write(lines(table, row + "\n"))
    assert f"line 1: {place}" in str(refused.value)
