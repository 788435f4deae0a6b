# SPDX-License-Identifier: Apache-2.0
"""The program under test and the other readers and writers of Hudi tables, each behind the same few calls.

Rows are lists of dicts in the one JSON form that `hudi read --format jsonl` prints (tests/golden/compare.py
says what counts as equal). Every call raises Failed, with the peer's own words, when the peer fails.
"""
import base64
import datetime
import decimal
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
from compare import difference, read_lines  # noqa: E402, F401 (difference is for the tests)


class Failed(Exception):
    pass


class Hudi:
    """The program `hudi`; HUDI_PROGRAM names it."""

    def __init__(self, program=None):
        default = HERE.parents[1] / "build/release/hudi"
        self.program = str(program or os.environ.get("HUDI_PROGRAM") or default)

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.program, *map(str, arguments)], input=stdin, text=True, capture_output=True)
        if done.returncode != 0:
            raise Failed(f"hudi {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def read(self, table, *options):
        return read_lines(self.run("read", table, "--format", "jsonl", *options))

    def write(self, table, rows, *options):
        """Rows through standard input, as JSON lines."""
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        return self.run("write", table, "-", "--format", "jsonl", *options, stdin=lines)


class Session:
    """A peer that takes commands on standard input and answers each with one line of JSON."""

    def __init__(self, command, scratch):
        self.scratch, self.n_files = pathlib.Path(scratch), 0
        self.log = open(self.scratch / "peer.log", "w", encoding="utf-8")
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)

    def file(self, ending="jsonl"):
        self.n_files += 1
        return self.scratch / f"{self.n_files}.{ending}"

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for answer in iter(self.process.stdout.readline, ""):
            status = json.loads(answer) if answer.startswith("{") else {}
            if "ok" in status: # other lines are results of the command
                if not status["ok"]:
                    raise Failed(f"{line}: {status.get('error')}")
                return status
        self.process.wait()
        raise Failed(f"{line}: the peer has ended, see {self.log.name}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.log.close()


class Spark(Session):
    """Hudi on Spark: versions 0.15.0, 1.0.2, 1.1.1, 1.2.0."""

    def __init__(self, version, scratch):
        super().__init__([HERE / "spark/spark-hudi", "--hudi", version, "batch", "-", "--keep-going"], scratch)

    def do(self, *words):
        return self.ask(shlex.join(str(word) for word in words))

    def read(self, table, *options):
        out = self.file()
        self.do("read", table, "--out", out, *options)
        return read_lines(out.read_text(encoding="utf-8"))

    def write(self, table, rows, op, *options):
        source = self.file()
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.do("write", table, "--op", op, "--input", source, *options)


class Flink(Session):
    """Hudi 0.10.1 on Flink."""

    def __init__(self, scratch):
        super().__init__([HERE / "flink/flink-hudi", "script", "-"], scratch)

    def do(self, *words, out=None):
        command = {"args": [str(word) for word in words], "may_fail": True}
        if out is not None:
            command["out"] = str(out)
        return self.ask(json.dumps(command))

    def read(self, table, *options):
        out = self.file()
        # Asked for the meta columns of a table that stores none, Flink gives nulls.
        properties = pathlib.Path(table, ".hoodie", "hoodie.properties")
        if properties.exists() and "hoodie.populate.meta.fields=false" in properties.read_text(encoding="latin-1"):
            options = ("--no-meta", *options)
        self.do("read", "--table", table, *options, out=out)
        return read_lines(out.read_text(encoding="utf-8"))

    def write(self, table, rows, *options):
        source = self.file()
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.do("write", "--table", table, "--input", source, *options)


class HudiRs:
    """hudi-rs, by its Python package."""

    @staticmethod
    def read(table, options=None):
        from hudi import HudiTableBuilder
        import pyarrow
        try:
            builder = HudiTableBuilder.from_base_uri(str(table)).with_hudi_options(options or {})
            batches = builder.build().read()
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Failed(f"hudi-rs: {error}") from None
        return [row for batch in batches for row in arrow_rows(pyarrow.record_batch(batch))]


def arrow_rows(table):
    """An Arrow table or batch as rows in the JSON form."""
    columns = [[arrow_value(scalar) for scalar in column] for column in table.columns]
    return [dict(zip(table.schema.names, values)) for values in zip(*columns)]


def arrow_value(scalar):
    import pyarrow.types as types
    if scalar is None or not scalar.is_valid:
        return None
    if types.is_timestamp(scalar.type):
        zone = "Z" if scalar.type.tz else ""
        units = {"s": 0, "ms": 3, "us": 6, "ns": 9}[scalar.type.unit]
        seconds, fraction = divmod(scalar.value, 10**units)
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
        return time.isoformat() + (f".{fraction:0{units}}" if units else "") + zone
    if types.is_struct(scalar.type):
        return {name: arrow_value(scalar[name]) for name in scalar}
    if types.is_map(scalar.type):
        entries = [(arrow_value(entry["key"]), arrow_value(entry["value"])) for entry in scalar.values]
        return dict(sorted(entries, key=lambda entry: str(entry[0])))
    if types.is_list(scalar.type) or types.is_large_list(scalar.type):
        return [arrow_value(item) for item in scalar.values]
    value = scalar.as_py()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
