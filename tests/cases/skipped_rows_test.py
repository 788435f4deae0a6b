# SPDX-License-Identifier: Apache-2.0
"""Keys that stand several times in one base file, in row groups that statistics leave out."""
import pytest

SCHEMA = "id long\nts long\nv long\npad string\n"
OPTIONS = {"hoodie.table.type": "MERGE_ON_READ",
           "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}


def row(i, ts, v):
    return {"id": i, "ts": ts, "v": v, "pad": f"{i}-{v}" * 20}


@pytest.mark.parametrize("memory", [{}, {"libhudi.memory.budget.bytes": 1 << 20}])
def test_each_row_of_a_key_changes_whether_it_is_read_or_not(table, memory):
    n = 4000
    first = [row(i, 1, i) for i in range(n)]
    twins = [row(i, 1, n + i) for i in range(0, n, 100)]
    table.create(SCHEMA, order_by="ts", options=OPTIONS)
    table.write(first + twins, op="bulk_insert", options={"hoodie.parquet.block.size": 10_000})
    start = table.instants()[-1]["time"]
    changed = list(range(0, n, 50)) # every second one stands there twice
    table.write([row(i, 2, 10 * n + i) for i in changed])
    table.write([row(i, 3, 0) for i in changed[:4]], op="delete")
    wanted = sorted(2 * [10 * n + i for i in changed[4:] if i % 100 == 0] +
                    [10 * n + i for i in changed[4:] if i % 100])

    def values(*words):
        return sorted(one["v"] for one in table.read(*words, options=memory))

    assert [v for v in values() if v >= 10 * n] == wanted
    assert values("--where", f"v >= {10 * n}") == wanted
    assert values("--since", start) == wanted
    gone = {i for i in changed}
    assert values("--where", "v < 300") == [i for i in range(300) if i not in gone]
    assert values("--where", f"id = 200 AND v > {9 * n}") == [10 * n + 200] * 2
