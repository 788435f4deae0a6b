# SPDX-License-Identifier: Apache-2.0
"""A table made and used through the program. HUDI_PROGRAM names it; else build/dev/hudi."""
import json
import os
import pathlib
import subprocess
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HUDI_PROGRAM", str(ROOT / "build" / "dev" / "hudi"))
ENVIRONMENT = {**os.environ, "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp"}
META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
        "_hoodie_partition_path", "_hoodie_file_name"]


def golden_names():
    """Tables that Hudi wrote, in tests/golden."""
    return sorted(path.name[:-len(".tar.gz")] for path in
                  (ROOT / "tests" / "golden").glob("*.tar.gz"))


def unpack_golden(name, folder):
    with tarfile.open(ROOT / "tests" / "golden" / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    found = [path.parent for path in pathlib.Path(folder).rglob(".hoodie")
             if (path / "hoodie.properties").exists() and ".hoodie" not in path.parent.parts]
    assert len(found) == 1
    return found[0]


def run(*words, stdin=b""):
    return subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True,
                          timeout=300, env=ENVIRONMENT, check=False)


class Refused(Exception):
    """The program's error: one line."""


class Table:
    """One table in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "t"
        self.n_inputs = 0

    def do(self, *words, stdin=b""):
        result = run(*words, stdin=stdin)
        if result.returncode != 0:
            text = result.stderr.decode()
            assert text.startswith("hudi: ") and "Sanitizer" not in text, text
            raise Refused(text)
        return result.stdout.decode()

    @staticmethod
    def options(options):
        return [word for key, value in options.items() for word in ("-o", f"{key}={value}")]

    def create(self, schema, *, key="id", order_by=None, partition_by=None, options=None):
        """`schema`: lines "name type", or a list of Avro fields."""
        if not isinstance(schema, str):
            schema = json.dumps({"type": "record", "name": "t", "fields": schema})
        path = self.folder / "schema"
        path.write_text(schema, encoding="utf-8")
        words = ["create", self.path, "--schema", path, "--key", key]
        if order_by:
            words += ["--order-by", order_by]
        if partition_by:
            words += ["--partition-by", partition_by]
        self.do(*words, *self.options(options or {}))
        return self

    def write(self, rows, op="upsert", options=None):
        """`rows`: a list of objects, or an Arrow table, which goes in as Parquet."""
        self.n_inputs += 1
        if isinstance(rows, pa.Table):
            path = self.folder / f"in{self.n_inputs}.parquet"
            pq.write_table(rows, path)
        elif isinstance(rows, pathlib.Path):
            path = rows
        else:
            path = self.folder / f"in{self.n_inputs}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return json.loads(self.do("write", self.path, path, "--op", op, "--json",
                                  *self.options(options or {})))

    def read(self, *words, meta=False, options=None):
        """Rows as objects, sorted by id when they have one; without meta columns unless `meta`."""
        text = self.do("read", self.path, "--format", "jsonl", *words,
                       *self.options(options or {}))
        rows = [json.loads(line) for line in text.splitlines()]
        if not meta:
            rows = [{k: v for k, v in row.items() if k not in META} for row in rows]
        return sorted(rows, key=lambda row: str(row.get("id")))

    def values(self, column, *words):
        return [row[column] for row in self.read(*words)]

    def base_files(self):
        return sorted(path for path in self.path.rglob("*.parquet")
                      if ".hoodie" not in path.relative_to(self.path).parts)

    def newest_base_file(self):
        return max(self.base_files(), key=lambda path: path.name.rsplit("_", 1)[1])

    def folders(self):
        return sorted({str(path.parent.relative_to(self.path)) for path in self.base_files()})

    def instants(self):
        text = self.do("timeline", self.path, "--json")
        return [line for line in map(json.loads, text.splitlines())]

    def verify(self):
        self.do("verify", self.path)


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


@pytest.fixture
def tables(tmp_path):
    """Fresh tables, as many as a test wants."""
    def make():
        make.n += 1
        folder = tmp_path / str(make.n)
        folder.mkdir()
        return Table(folder)
    make.n = 0
    return make
