# SPDX-License-Identifier: Apache-2.0
"""Options that are taken are followed, and those that cannot be followed are refused."""
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
