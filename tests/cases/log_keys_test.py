# SPDX-License-Identifier: Apache-2.0
"""The form of one-field complex keys is found where the newest commits made log files alone."""
import pytest

SCHEMA = "id string not null\np string\nts long\na string\n"
COMPLEX = "org.apache.hudi.keygen.ComplexKeyGenerator"


def row(key, ts):
    return {"id": key, "p": "x", "ts": ts, "a": f"{key}{ts}"}


@pytest.mark.parametrize("bare", ["true", "false"])
def test_keys_keep_their_form_after_many_commits_of_log_files(table, bare):
    table.create(SCHEMA, order_by="ts", partition_by="p",
                 options={"hoodie.table.type": "MERGE_ON_READ",
                          "hoodie.datasource.write.keygenerator.class": COMPLEX})
    table.write([row("a", 1), row("b", 1)],
                options={"hoodie.write.complex.keygen.new.encoding": bare})
    for ts in range(2, 22):
        assert table.write([row("a", ts)])["updates"] == 1
    other = "false" if bare == "true" else "true"  # what is stored decides
    assert table.write([row("b", 30)],
                       options={"hoodie.write.complex.keygen.new.encoding": other})["updates"] == 1
    assert table.read() == [row("a", 21), row("b", 30)]
