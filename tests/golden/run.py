#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read every golden table with `hudi read` and compare with what the real Hudi read from it.

    run.py --program build/dev/hudi [--jobs N] [CASE...]

One line a case: "pass CASE", "fail CASE" with the differences below it, or "not yet CASE". The last
line is "N passed, N failed, N not yet"; the exit code is 1 when a case failed.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
from compare import difference, read_lines

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 120

# Tables with renamed columns whose expected rows were read by name, not by column id (README-spark.md).
BY_NAME = {"spark-0.15.0-evolve-ddl-cow", "spark-0.15.0-evolve-ddl-mor"}
BY_NAME_OPTION = ["-o", "hoodie.schema.on.read.enable=false"]

# Reads where Hudi itself answers wrongly: it leaves archived commits out of incremental reads (a row counts by its
# _hoodie_commit_time in the snapshot), gives no rows where the cleaner took the files of the time asked for, and
# gives records of the range that came late and lost against the row of an older base file. Hudi 1.0 counts the
# commit that a range begins at in.
REFUSED = "refused"
HUDI_IS_WRONG = {
    ("spark-0.15.0-archived-cow", "since 000"): 39,
    ("spark-0.15.0-archived-cow", "since 20261130141907268"): 36,
    ("spark-0.15.0-clean-versions", "as of 20261130142415475"): REFUSED,
    ("spark-0.15.0-payload-default-mor", "since 20261130143113809"): 12,
    ("spark-1.1.1-payload-default-mor", "since 20261130143436069"): 12,
    ("spark-1.1.1-merge-event-time-mor", "since 20261130143656971"): 12,
    ("spark-1.2.0-merge-event-time-mor", "since 20261130144257916"): 12,
    ("spark-1.1.1-clean-versions", "as of 20261130142645215"): REFUSED,
    ("spark-1.1.1-payload-partial-mor", "since 20261130143531113"): 4,
    ("spark-1.0.2-archived-cow", "since 20261130144046731"): 36,
    ("spark-1.0.2-cow-hive", "since 20261130143816550"): 25,
    ("spark-1.0.2-mor-bulk-insert", "since 20261130144740956"): 16,
    ("spark-1.0.2-rollback-mor", "since 20261130144015187"): 4,
    ("spark-1.0.2-types-mor", "since 20261130143957226"): 17,
}


class Read:
    """One run of `hudi read` and what it should give: rows, a number of rows, or a refusal."""

    def __init__(self, name, options=(), rows=None, n_rows=None, refused=False, form=lambda row: row):
        self.name, self.options = name, list(options)
        self.rows, self.n_rows, self.refused = rows, n_rows, refused
        self.form = form # what rows are compared as


def with_images(change):
    """A row of changes with its images as objects: Hudi's releases order and space their texts differently, and
    write an absent one as null or as the text "null"."""
    return {name: json.loads(value) if name in ("before", "after") and value is not None else value
            for name, value in change.items()}


class Case:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))

    def rows_of(self, ending):
        path = self.folder / f"{self.name}.{ending}.jsonl"
        return read_lines(path.read_text(encoding="utf-8")) if path.exists() else None

    def float_columns(self):
        """Flink's expected rows hold 32-bit floats in their shortest form."""
        return set(re.findall(r"(\w+) FLOAT\b", self.facts.get("columns", "")))

    def reads(self):
        for read in self.reads_of_hudi():
            right = HUDI_IS_WRONG.get((self.name, read.name))
            if right == REFUSED:
                read.refused = True
            elif right is not None:
                read.n_rows = right
            yield read

    def reads_of_hudi(self):
        by_name = BY_NAME_OPTION if self.name in BY_NAME else []
        yield Read("snapshot", by_name, rows=self.rows_of("expected"))
        by_id = self.rows_of("by-id.expected")
        if by_id is not None:
            yield Read("snapshot by column id", rows=by_id)
        for fact in self.facts.get("as_of", []):
            refused = "Cleaner cleaned up" in fact.get("error", "")
            if refused or "rows" in fact:
                yield Read(f"as of {fact['instant']}", ["--as-of", fact["instant"]],
                           n_rows=fact.get("rows"), refused=refused)
        for fact in self.facts.get("incremental", []):
            if "rows" in fact: # else Hudi itself failed
                yield Read(f"since {fact['from']}", ["--since", fact["from"]], n_rows=fact["rows"])
        if "read_optimized_rows" in self.facts:
            yield Read("read-optimized", ["--read-optimized"],
                       n_rows=self.facts["read_optimized_rows"])
        changes = self.rows_of("cdc")
        if changes is not None:
            yield Read("changes", ["--changes", "--since", self.facts["cdc_from"]], rows=changes, form=with_images)
        for fact in self.facts.get("other_reads", []):
            if fact["read"] == "read_optimized":
                yield Read("read-optimized", ["--read-optimized"], rows=fact["rows"])


def unpack(case, target):
    with tarfile.open(case.folder / f"{case.name}.tar.gz") as archive:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(target, **safe)
    return pathlib.Path(target) / case.name


def fingerprint(table):
    """Name, size and time of every file: reading must leave all of it alone."""
    entries = sorted(table.rglob("*"))
    return [(str(p.relative_to(table)), p.stat().st_size, p.stat().st_mtime_ns) for p in entries]


def check_read(case, program, table, read):
    """Lines that say what is wrong with one read."""
    command = [str(program), "read", str(table), "--format", "jsonl", *read.options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return [f"no end after {TIMEOUT_S} s"]
    errors = done.stderr.decode(errors="replace").strip()
    if read.refused:
        if done.returncode == 1 and errors.startswith("hudi: "):
            return []
        return [f"exit code {done.returncode} and {len(done.stdout.splitlines())} rows instead of an error"]
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {errors[-1500:]}"]
    try:
        rows = read_lines(done.stdout.decode())
    except ValueError as error:
        return [str(error)]
    if read.rows is not None:
        return difference([read.form(row) for row in read.rows], [read.form(row) for row in rows],
                          case.float_columns())
    return [] if len(rows) == read.n_rows else [f"{len(rows)} rows, not {read.n_rows}"]


def check_case(case, program):
    """{read: lines} of each read of a case."""
    results = {}
    with tempfile.TemporaryDirectory(prefix="hudi-golden-") as scratch:
        table = unpack(case, scratch)
        before = fingerprint(table)
        for read in case.reads():
            results[read.name] = check_read(case, program, table, read)
        if fingerprint(table) != before:
            results["the table afterwards"] = ["reading changed its files"]
    return results


def read_not_yet(path):
    """{case: reads that are not yet right, or None for the whole case}"""
    listed = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        line = line.partition("#")[0].strip()
        if line:
            case, _, read = line.partition(": ")
            if read and listed.get(case, set()) is not None:
                listed.setdefault(case, set()).add(read)
            elif not read:
                listed[case] = None
    return listed


def judge(results, listed):
    """("pass" | "fail" | "not yet", lines) of a case, given its reads that may still be wrong."""
    if listed is None:
        if any(results.values()):
            return "not yet", []
        return "fail", ["it is right: take it off the list not_yet.txt"]
    lines = []
    for read in sorted(listed):
        if read not in results:
            lines.append(f"not_yet.txt lists the read {read}, which there is not")
        elif not results[read]:
            lines.append(f"{read}: it is right: take it off the list not_yet.txt")
    for read, wrong in results.items():
        if read not in listed:
            lines += [f"{read}: {line}" for line in wrong]
    if lines:
        return "fail", lines
    return ("not yet" if listed else "pass"), []


def main():
    parser = argparse.ArgumentParser(description="Compare `hudi read` with the golden tables.")
    parser.add_argument("--program", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--folder", default=HERE, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names or globs (default: all)")
    options = parser.parse_args()

    not_yet = read_not_yet(options.folder / "not_yet.txt")
    names = sorted({p.name.removesuffix(".tar.gz") for glob in options.cases or ["*"]
                    for p in options.folder.glob(glob.removesuffix(".tar.gz") + ".tar.gz")})
    counts = {"pass": 0, "fail": 0, "not yet": 0}

    def report(verdict, name, lines=()):
        counts[verdict] += 1
        print(verdict, name)
        for line in lines:
            print("     ", line)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cases = [Case(options.folder, name) for name in names]
        for case, results in zip(cases, pool.map(lambda c: check_case(c, options.program), cases)):
            verdict, lines = judge(results, not_yet.get(case.name, set()))
            report(verdict, case.name, lines)
    if not options.cases:
        for name in sorted(set(not_yet) - set(names)):
            report("fail", name, ["not_yet.txt lists a case that there is not"])
    if not names:
        report("fail", "cases", [f"there is no such case in {options.folder}"])
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['not yet']} not yet")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
