# SPDX-License-Identifier: Apache-2.0
"""Clusterings that one side plans and the other runs: afterwards both read the rows that there were."""
import pytest

from mor_compaction_test import COLUMNS, check_both, row

SMALL = ["-o", "hoodie.parquet.small.file.limit=0"]


@pytest.fixture
def scattered(hudi, tmp_path):
    """A copy-on-write table of ours with three files in each of three partitions."""
    schema = tmp_path / "schema.txt"
    schema.write_text(COLUMNS)
    table = tmp_path / "t"
    hudi.run("create", table, "--schema", schema, "--key", "id", "--order-by", "ts", "--partition-by", "p")
    for start in range(3):
        hudi.write(table, [row(i, 1) for i in range(start * 10, start * 10 + 10)], "--op", "insert", *SMALL)
    return table


def n_files(rows):
    return len({one["_hoodie_file_name"] for one in rows})


def test_spark_runs_a_plan_of_ours(hudi, spark015, scattered):
    before = check_both(hudi, spark015, scattered)
    assert n_files(before) == 9
    instant = hudi.run("cluster", scattered, "--schedule", "--sort", "name").split("\t")[0]
    check_both(hudi, spark015, scattered, before)
    spark015.do("service", scattered, "run-cluster")
    assert (scattered / ".hoodie" / f"{instant}.replacecommit").exists()
    assert n_files(check_both(hudi, spark015, scattered, before)) == 3


def test_ours_runs_a_plan_of_spark(hudi, spark015, scattered):
    before = check_both(hudi, spark015, scattered)
    spark015.do("service", scattered, "schedule-cluster", "--order", "ts,name")
    hudi.run("cluster", scattered, "--run")
    assert n_files(check_both(hudi, spark015, scattered, before)) == 3
    spark015.write(scattered, [row(1, 5, "spark"), row(40, 5, "spark")], "upsert")
    rows = check_both(hudi, spark015, scattered)
    assert len(rows) == 31 and sum(one["name"] == "spark" for one in rows) == 2
