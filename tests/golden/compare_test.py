# SPDX-License-Identifier: Apache-2.0
"""The comparison sees every difference that matters and none that does not."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare import difference, read_lines

SAME = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"t": "2024-03-01T06:59:59.120000Z"}, {"t": "2024-03-01T06:59:59.12"}),
    ({"t": "2024-03-01T06:59:59.000Z"}, {"t": "2024-03-01T06:59:59"}),
    ({"t": "06:59:59.500"}, {"t": "06:59:59.5"}),
    ({"d": 1.0}, {"d": 1}),
    ({"d": -0.0}, {"d": 0}),
    ({"d": 1e22}, {"d": 10000000000000000000000}),
    ({"n": [{"t": ["1969-12-31T00:00:00.100Z"]}]}, {"n": [{"t": ["1969-12-31T00:00:00.1"]}]}),
]
DIFFERENT = [
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"a": True}),
    ({"a": 0}, {"a": False}),
    ({"a": 1}, {"a": "1"}),
    ({"a": None}, {}),
    ({"a": None}, {"a": ""}),
    ({"a": "x"}, {"a": "x "}),
    ({"dec": "1.0"}, {"dec": "1.00"}),
    ({"l": 9007199254740993}, {"l": 9007199254740992}),
    ({"d": 1.1}, {"d": 1.100000023841858}),
    ({"t": "2024-03-01T06:59:59.012"}, {"t": "2024-03-01T06:59:59.12"}),
    ({"t": "2024-03-01T06:59:59"}, {"t": "2024-03-01T06:59:58"}),
    ({"day": "2024-03-01"}, {"day": "2024-03-02"}),
    ({"arr": [1, 2]}, {"arr": [2, 1]}),
    ({"arr": []}, {"arr": None}),
    ({"d": "NaN"}, {"d": None}),
]


@pytest.mark.parametrize("one, other", SAME)
def test_equal_values_in_other_clothes_are_equal(one, other):
    assert difference([one], [other]) == []
    assert difference([other], [one]) == []


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_unequal_values_differ(one, other):
    assert difference([one], [other]) != []
    assert difference([other], [one]) != []


def test_order_does_not_count_and_number_does():
    a, b = {"k": "a"}, {"k": "b"}
    assert difference([a, b], [b, a]) == []
    assert difference([a, a, b], [a, b, b]) != []
    assert difference([a], [a, a]) != []
    assert difference([a], []) != []


def test_float32_columns_count_as_the_float_that_they_round_to():
    short, widened = {"f": 1.1, "d": 1.1}, {"f": 1.100000023841858, "d": 1.1}
    assert difference([short], [widened], {"f"}) == []
    assert difference([short], [{"f": 1.1, "d": 1.100000023841858}], {"f"}) != []
    assert difference([{"f": 1.1}], [{"f": 1.2}], {"f"}) != []
    assert difference([{"f": 3.4028235e38}], [{"f": 3.4028234663852886e38}], {"f"}) == []


def test_a_difference_names_key_and_column():
    wanted = {"_hoodie_record_key": "k1", "_hoodie_partition_path": "p", "qty": 4, "s": "x"}
    lines = difference([wanted], [{**wanted, "qty": 3}])
    assert lines == ["1 rows, not 1; 1 missing, 1 not expected", "('k1', 'p'): qty: 3, not 4"]


def test_output_that_is_not_rows_is_refused_with_its_line():
    with pytest.raises(ValueError, match="line 2"):
        read_lines('{"a": 1}\n{"a": \n')
    with pytest.raises(ValueError, match="line 1 is not an object"):
        read_lines("[1]\n")
