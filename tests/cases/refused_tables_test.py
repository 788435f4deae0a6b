# SPDX-License-Identifier: Apache-2.0
"""Tables that cannot be written are left as they are, to the byte."""
import pathlib

import pytest

from conftest import Refused, unpack_golden

LOCK = pathlib.Path(".hoodie/.libhudi.lock")
BOOTSTRAP = "bootstrap tables (hoodie.bootstrap.base.path)"


def bytes_of(folder):
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def bootstrapped(request, table):
    table.create("id string\nts long\n", order_by="ts", options={"hoodie.table.type": request.param})
    table.write([{"id": "1", "ts": 1}])
    properties = table.path / ".hoodie" / "hoodie.properties"
    with properties.open("a", encoding="utf-8") as out:
        out.write("hoodie.bootstrap.base.path=file\\:///source\n")
    return table


@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert", "delete", "insert_overwrite",
                                "insert_overwrite_table"])
def test_nothing_is_written_to_bootstrap_tables(bootstrapped, op):
    before = bytes_of(bootstrapped.path)
    with pytest.raises(Refused) as refused:
        bootstrapped.write([{"id": "2", "ts": 1}], op=op)
    assert f"writing to {BOOTSTRAP} is not supported yet" in str(refused.value)
    assert bytes_of(bootstrapped.path) == before


@pytest.mark.parametrize("service", ["clean", "archive", "cluster"])
def test_nor_do_services_touch_them(bootstrapped, service):
    before = bytes_of(bootstrapped.path)
    with pytest.raises(Refused) as refused:
        bootstrapped.do(service, bootstrapped.path)
    assert BOOTSTRAP in str(refused.value)
    assert bytes_of(bootstrapped.path) == before


def test_they_are_not_made(table):
    with pytest.raises(Refused, match="hoodie.bootstrap.base.path"):
        table.create("id string\n", options={"hoodie.bootstrap.base.path": "/source"})
    assert not table.path.exists()


@pytest.mark.parametrize("op", ["insert", "upsert", "bulk_insert", "delete"])
@pytest.mark.parametrize("name, who", [
    ("flink010-cow-changelog", "changelog.enabled"), ("flink010-mor-changelog", "changelog.enabled"),
    ("spark-0.15.0-evolve-ddl-cow", "hoodie.schema.on.read.enable"),
    ("spark-0.15.0-evolve-ddl-mor", "hoodie.schema.on.read.enable")])
def test_who_writes_to_tables_that_are_not_written_here_is_said(table, tmp_path, name, who, op):
    table.path = unpack_golden(name, tmp_path)
    rows, before = table.read(meta=True)[:1], bytes_of(table.path)
    with pytest.raises(Refused) as refused:
        table.write(rows, op=op)
    assert f"{who}=true" in str(refused.value)
    left = bytes_of(table.path)
    left.pop(LOCK)
    assert left == before
