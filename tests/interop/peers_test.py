# SPDX-License-Identifier: Apache-2.0
"""The peers themselves, on tables of the real Hudi: what the other tests rest on."""
import pathlib

import pytest

from peers import Failed, difference, read_lines

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


def expected(case):
    return read_lines((GOLDEN / f"{case}.expected.jsonl").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", ["spark-0.15.0-cow-part", "spark-0.15.0-types-cow"])
def test_spark_reads_golden_tables(spark015, golden, case):
    assert difference(expected(case), spark015.read(golden(case))) == []


def test_spark_of_1_1_reads_golden_tables(spark11, golden):
    assert difference(expected("spark-1.1.1-cow-hive"), spark11.read(golden("spark-1.1.1-cow-hive"))) == []


def test_flink_reads_golden_tables(flink, golden):
    case = "flink010-cow-partitioned"
    assert difference(expected(case), flink.read(golden(case))) == []


def test_hudi_rs_reads_golden_tables(hudi_rs, golden):
    case = "spark-0.15.0-cow-part"
    assert difference(expected(case), hudi_rs.read(golden(case))) == []


def test_spark_writes_what_it_reads(spark015, tmp_path):
    rows = [{"id": "a", "p": "x", "ts": 1}, {"id": "b", "p": "y", "ts": 1}]
    options = ["--key", "id", "--partition", "p", "--ordering", "ts", "--schema", "id string, p string, ts long"]
    spark015.write(tmp_path / "t", rows, "insert", *options)
    spark015.write(tmp_path / "t", [{"id": "a", "p": "x", "ts": 2}], "upsert")
    got = [{key: row[key] for key in ("id", "p", "ts")} for row in spark015.read(tmp_path / "t")]
    assert difference([{"id": "a", "p": "x", "ts": 2}, rows[1]], got) == []


def test_a_peer_that_fails_says_so(spark015, flink, hudi_rs, tmp_path):
    for peer in (spark015, flink, hudi_rs):
        with pytest.raises(Failed):
            peer.read(tmp_path / "no-table")
