# SPDX-License-Identifier: Apache-2.0
"""Deletes in log files whose ordering value is smaller than that of a record before them: whether they count depends on
the type of the ordering field, whoever wrote them and whoever reads."""
import pytest

from peers import difference
from random_tables import ORDERINGS

PLAIN = ["hoodie.metadata.enable=false", "hoodie.compact.inline=false"]
# In Hudi 0.15 a log record's values of these are of another class than a delete's, and then the delete counts.
COUNT = {"string", "date", "decimal(12,3)"}


@pytest.mark.parametrize("kind", [*ORDERINGS, "float"])
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_a_late_delete_in_the_log(hudi, spark015, tmp_path, writer, kind):
    table, schema = tmp_path / "t", tmp_path / "schema"
    schema.write_text(f"id string\nts {kind}\nv string\n_hoodie_is_deleted boolean\n", encoding="utf-8")
    hudi.run("create", table, "--schema", schema, "--key", "id", "--order-by", "ts", "--type", "mor")
    value = ORDERINGS.get(kind, ORDERINGS["double"])

    def write(*rows):
        rows = [{"id": key, "ts": value(tick), "v": f"{tick}", "_hoodie_is_deleted": gone} for key, tick, gone in rows]
        if writer == "ours":
            hudi.write(table, rows)
        else:
            spark015.write(table, rows, "upsert", "--options", *PLAIN)

    write(*((key, 1, False) for key in "abc"))
    write(*((key, 20, False) for key in "abc"))
    write(("a", 10, True), ("b", 20, True)) # late, and a tie
    ours = hudi.read(table)
    assert difference(spark015.read(table), ours) == []
    assert [one["id"] for one in ours] == (["c"] if kind in COUNT else ["a", "c"])
