# SPDX-License-Identifier: Apache-2.0
"""A column that became double from float: each row has the value that the real Hudi gives it, whoever wrote or rewrote it."""
import pytest

from conftest import session
from peers import Spark, difference

VALUES = [0.1, 0.7, 0.3, 3.3333, 1e30]
OPTIONS = ["hoodie.metadata.enable=false", "hoodie.parquet.small.file.limit=0"]


def schema(kind):
    return f"id string, p string, ts long, f {kind}"


def row(i, ts):
    return {"id": f"id-{i}", "p": "xxyzz"[i], "ts": ts, "f": VALUES[i] + ts}


@pytest.fixture(scope="module")
def fresh015(tmp_path_factory):
    """A session of its own: reads of Hudi's can leave Spark's vectorized reader off for all that follow, and the other one
    widens floats exactly."""
    yield from session(lambda scratch: Spark("0.15.0", scratch), tmp_path_factory)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def evolved(request, tmp_path):
    """Made by Spark: floats in base files and, of merge-on-read tables, a log; then rows with doubles."""
    def make(spark):
        table = tmp_path / "t"
        new = ["--key", "id", "--partition", "p", "--ordering", "ts", "--name", "t", "--table-type", request.param]
        spark.write(table, [row(i, 0) for i in range(5)], "insert", *new, "--schema", schema("float"), "--options", *OPTIONS)
        spark.write(table, [row(3, 1)], "upsert", "--schema", schema("float"), "--options", *OPTIONS)
        spark.write(table, [row(0, 2)], "upsert", "--schema", schema("double"), "--options", *OPTIONS)
        return table, request.param == "MERGE_ON_READ"
    return make


@pytest.mark.parametrize("version", ["fresh015", "spark11"])
def test_we_read_floats_as_hudi_does(request, hudi, evolved, version):
    spark = request.getfixturevalue(version)
    table, logged = evolved(spark)
    for words in ([], ["--where", "f >= 0.7"], *([["--read-optimized"]] if logged else [])):
        theirs = spark.read(table, *words)
        assert theirs and difference(theirs, hudi.read(table, *words)) == []


def test_what_we_rewrite_hudi_reads_as_before(hudi, fresh015, evolved):
    table, logged = evolved(fresh015)
    before = {one["id"]: one["f"] for one in fresh015.read(table)}
    assert before["id-1"] == 0.7 and before["id-2"] == 0.3
    hudi.write(table, [row(4, 3)])  # rewrites the file of id-3, or logs on it
    if logged:
        hudi.run("compact", table)
    hudi.run("cluster", table, "--sort", "id")
    after = fresh015.read(table)
    assert {one["id"]: one["f"] for one in after} == {**before, "id-4": VALUES[4] + 3}
    assert difference(after, hudi.read(table)) == []
