# SPDX-License-Identifier: Apache-2.0
"""What table services cost, for `run --services`: compaction, clustering, the plan of a clean, a long timeline."""
import datetime
import json
import re
import shutil
import subprocess
import sys

import pyarrow.parquet

import rows as input_rows

N_INSTANTS = 10_000
CLEAN_PLAN = re.compile(r"(.*): (\d+) files planned, .*: ([\d.]+) CPU s, listing alone ([\d.]+): .*")


def say(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


class Services:
    """On a Bench of `run`: its input rows, its measuring, its lines."""

    def __init__(self, bench, program, root):
        self.bench, self.program, self.root = bench, program, root
        self.n, self.folder, self.work = bench.options.rows, bench.folder, bench.folder / "service-work"

    def create(self, name, kind):
        table = self.folder / name
        say(self.program, "create", table, "--type", kind, "--schema", self.bench.schema, "--key", "id",
            "--partition-by", "region", "--order-by", "ts")
        return table

    def fresh(self, table):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(table, self.work)

    def hudi(self, table, *words):
        """A service on a copy of the table; the cheapest of the repeats."""
        results = []
        for _ in range(self.bench.options.repeat):
            self.fresh(table)
            results.append(self.bench.measured([self.program, words[0], self.work, *words[1:]])[0])
        return min(results, key=lambda result: result["cpu"])

    def spark(self, table, *words):
        """The same on a copy of the same table."""
        if self.bench.spark is None:
            return None
        self.fresh(table)
        return self.bench.spark.measured("service", self.work, *words)

    # ---- what is measured ---------------------------------------------------------------------

    def compactions(self):
        base = self.create("compacted", "mor")
        say(self.program, "write", base, self.bench.files["all"], "--op", "bulk_insert")
        for name, source, share in (("10 % spread", "spread", 10), ("1 % clustered", "clustered", 100)):
            if not self.bench.wanted(f"compaction {name}"):
                continue
            table = self.folder / "logged"
            shutil.rmtree(table, ignore_errors=True)
            shutil.copytree(base, table)
            say(self.program, "write", table, self.bench.files[source])
            logged = {log.name[1:].split("_")[0] for log in table.glob("*/.*.log.*")}
            old = [file for file in sorted(table.glob("*/*.parquet")) if file.name.split("_")[0] in logged]
            self.bench.add(f"compaction {name}", self.n // share, self.hudi(table, "compact"),
                           self.bench.peer("rewrite", self.bench.encoded, *old), spark=self.spark(table, "compact"))

    def clusterings(self):
        names = {"not sorted": (), "by a column": ("--sort", "qty"), "z-order": ("--sort", "qty,price", "--layout",
                                                                               "z-order")}
        if not any(self.bench.wanted(f"clustering {name}") for name in names):
            return
        table = self.create("clustered", "cow")
        rows = pyarrow.parquet.read_table(self.bench.files["all"])
        for i in range(4): # four files in each partition
            part = self.folder / "part.parquet"
            pyarrow.parquet.write_table(rows.take(list(range(i, len(rows), 4))), part, compression="zstd")
            say(self.program, "write", table, part, "--op", "insert", "-o", "hoodie.parquet.small.file.limit=0")
        files = sorted(table.glob("*/*.parquet"))
        for name, words in names.items():
            if not self.bench.wanted(f"clustering {name}"):
                continue
            order = ["--order", words[1]] if words else []
            layout = ["--options", "hoodie.layout.optimize.strategy=z-order"] if len(words) > 2 else []
            floor = self.bench.peer("gather", self.bench.encoded, words[1] if words else "", *files)
            self.bench.add(f"clustering {name}", self.n, self.hudi(table, "cluster", *words), floor,
                           spark=self.spark(table, "cluster", *order, *layout))

    def clean_plans(self):
        """In the program bench/micro/clean_plan_bench.c; its floor is the listing alone."""
        if not self.bench.wanted("clean plan"):
            return
        say("cmake", "--build", self.root / "build/release", "--target", "clean_plan_bench")
        usage, out = self.bench.measured([self.root / "build/release/bench/clean_plan_bench"])
        for line in out.decode().splitlines():
            what, n_files, taken, listing = CLEAN_PLAN.fullmatch(line).groups()
            self.bench.add(f"clean plan {what}"[:31], int(n_files), {"cpu": float(taken), "rss": usage["rss"]},
                           {"cpu": float(listing)})

    def long_timeline(self):
        """Opening a table and listing its files: 10,000 commits of its 10,001 are copies of the one there is."""
        if not self.bench.wanted("open 10000 instants"):
            return
        table = self.create("long", "cow")
        first = self.folder / "few.parquet"
        pyarrow.parquet.write_table(input_rows.make(range(100), 100, 0), first)
        say(self.program, "write", table, first, "--op", "bulk_insert")
        timeline = table / ".hoodie"
        (commit,) = timeline.glob("*.commit")
        text, time = commit.read_text(encoding="utf-8"), commit.stem
        last = datetime.datetime.strptime(time[:14], "%Y%m%d%H%M%S")
        for i in range(1, N_INSTANTS + 1):
            other = (last - datetime.timedelta(seconds=i)).strftime("%Y%m%d%H%M%S000")
            (timeline / f"{other}.commit").write_text(text.replace(time, other), encoding="utf-8")
            for state in (".commit.requested", ".inflight"):
                (timeline / (other + state)).touch()
        results = [self.bench.measured([self.program, "show", table, "files"])[0]
                   for _ in range(self.bench.options.repeat)]
        self.bench.add("open 10000 instants", N_INSTANTS, min(results, key=lambda result: result["cpu"]),
                       self.bench.peer("listing", timeline))

    def run(self):
        self.compactions()
        self.clusterings()
        self.clean_plans()
        self.long_timeline()
