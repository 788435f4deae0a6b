# SPDX-License-Identifier: Apache-2.0
"""Compactions that one side plans or runs and the other goes on from: afterwards both read the rows that there were."""
import pytest

from peers import difference

COLUMNS = "id string not null\np string\nts long\nname string\n"
PENDING = "20261130142906101"


def row(i, version, name=None):
    return {"id": f"id-{i:03}", "p": f"p{i % 3}", "ts": version, "name": name or f"name {version}"}


def without_file(rows):
    return [{name: value for name, value in one.items() if name != "_hoodie_file_name"} for one in rows]


def check_both(hudi, spark, table, wanted=None):
    """Both read the same rows, and, but for the file names, those wanted."""
    ours, theirs = hudi.read(table), spark.read(table)
    assert difference(theirs, ours) == []
    if wanted is not None:
        assert difference(without_file(wanted), without_file(ours)) == []
    return theirs


@pytest.fixture
def logged(hudi, tmp_path):
    """A table of ours: base files, and log files in two of three partitions."""
    schema = tmp_path / "schema.txt"
    schema.write_text(COLUMNS)
    table = tmp_path / "t"
    hudi.run("create", table, "--schema", schema, "--key", "id", "--order-by", "ts", "--partition-by", "p",
             "--type", "mor")
    hudi.write(table, [row(i, 1) for i in range(30)])
    hudi.write(table, [row(i, 2) for i in range(0, 30, 3)])
    hudi.write(table, [row(i, 3) for i in range(1, 30, 6)] + [row(0, 0, "too late")])
    return table


def test_ours_runs_a_plan_of_spark(hudi, spark015, golden):
    table = golden("spark-0.15.0-mor-pending-compaction")
    before = spark015.read(table)
    hudi.run("compact", table, "--run", "--instant", PENDING)
    check_both(hudi, spark015, table, before)
    spark015.do("service", table, "compact")
    check_both(hudi, spark015, table, before)


def test_spark_runs_a_plan_of_ours(hudi, spark015, logged):
    before = check_both(hudi, spark015, logged)
    instant = hudi.run("compact", logged, "--schedule").split("\t")[0]
    check_both(hudi, spark015, logged, before)
    hudi.write(logged, [row(0, 4, "while pending")])
    spark015.write(logged, [row(3, 4, "while pending")], "upsert")
    waiting = check_both(hudi, spark015, logged)
    assert sum(one["name"] == "while pending" for one in waiting) == 2
    spark015.do("service", logged, "run-compact") # the only one that is pending
    assert (logged / ".hoodie" / f"{instant}.commit").exists()
    check_both(hudi, spark015, logged, waiting)
    hudi.run("compact", logged)
    check_both(hudi, spark015, logged, waiting)
    assert len(spark015.read(logged, "--read-optimized")) == 30


def test_spark_goes_on_after_a_compaction_of_ours(hudi, spark015, logged):
    before = check_both(hudi, spark015, logged)
    hudi.run("compact", logged)
    check_both(hudi, spark015, logged, before)
    spark015.write(logged, [row(1, 5, "spark"), row(40, 5, "spark")], "upsert")
    spark015.write(logged, [row(2, 6)], "delete")
    rows = check_both(hudi, spark015, logged)
    assert len(rows) == 30 and sum(one["name"] == "spark" for one in rows) == 2
    hudi.run("compact", logged)
    check_both(hudi, spark015, logged, rows)


def test_spark_goes_on_after_a_log_compaction_of_ours(hudi, spark015, logged):
    hudi.write(logged, [row(3, 4), row(9, 4)], "--op", "delete")
    before = check_both(hudi, spark015, logged)
    assert "COMPLETED" in hudi.run("compact", logged, "--logs", "--blocks", "2")
    check_both(hudi, spark015, logged, before)
    spark015.write(logged, [row(0, 5, "spark"), row(9, 5, "back")], "upsert")
    spark015.write(logged, [row(6, 6)], "delete")
    rows = check_both(hudi, spark015, logged)
    assert len(rows) == len(before) and {"spark", "back"} < {one["name"] for one in rows}
    spark015.do("service", logged, "compact")
    check_both(hudi, spark015, logged, rows)
    assert len(spark015.read(logged, "--read-optimized")) == len(rows)


LOG_COMPACTION = ["--options", "hoodie.log.compaction.enable=true", "hoodie.log.compaction.blocks.threshold=2",
                  "hoodie.datasource.write.precombine.field=ts"]


def test_spark_runs_a_log_compaction_plan_of_ours(hudi, spark015, logged):
    hudi.write(logged, [row(3, 4), row(9, 4)], "--op", "delete")
    before = check_both(hudi, spark015, logged)
    instant = hudi.run("compact", logged, "--logs", "--blocks", "2", "--schedule").split("\t")[0]
    spark015.do("service", logged, "run-compact-logs", "--instant", instant, *LOG_COMPACTION)
    assert (logged / ".hoodie" / f"{instant}.deltacommit").exists()
    check_both(hudi, spark015, logged, before)
    hudi.run("verify", logged)
    hudi.write(logged, [row(0, 5, "after"), row(9, 5, "back")])
    rows = check_both(hudi, spark015, logged)
    hudi.run("compact", logged)
    check_both(hudi, spark015, logged, rows)


def test_ours_runs_a_log_compaction_plan_of_spark(hudi, spark015, logged):
    hudi.write(logged, [row(3, 4), row(9, 4)], "--op", "delete")
    before = check_both(hudi, spark015, logged)
    spark015.do("service", logged, "schedule-compact-logs", *LOG_COMPACTION)
    (plan,) = (logged / ".hoodie").glob("*.logcompaction.requested")
    instant = plan.name.split(".")[0]
    hudi.run("compact", logged, "--logs", "--run", "--instant", instant)
    assert (logged / ".hoodie" / f"{instant}.deltacommit").exists()
    check_both(hudi, spark015, logged, before)
    hudi.run("verify", logged)
    spark015.write(logged, [row(0, 5, "spark")], "upsert")
    rows = check_both(hudi, spark015, logged)
    spark015.do("service", logged, "compact")
    check_both(hudi, spark015, logged, rows)
