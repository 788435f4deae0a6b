# SPDX-License-Identifier: Apache-2.0
"""Random writes, kills and services against a table kept in memory, through the program.

Each table's seed is printed when it fails; `mor_model_test.py SEED [N [STEPS]]` runs N tables from it on.
HUDI_PROGRAM names the program; HUDI_TEST_SEED and HUDI_TEST_TABLES are for a run by pytest, and
HUDI_TEST_SECONDS, which goes on with tables for that long.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from services import Services  # noqa: E402
from world import META, Wrong  # noqa: E402


class World(Services):
    # ---- checks -------------------------------------------------------------------------------

    def plain(self, rows):
        return self.sorted([{k: v for k, v in row.items() if k not in META} for row in rows])

    def differ(self, what, got, expected):
        if got == expected:
            return
        missing = list(expected)
        extra = []
        for row in got:
            if row in missing:
                missing.remove(row)
            else:
                extra.append(row)
        places = []
        for text in (missing + extra)[:3]:
            key = self.key_of(json.loads(text))
            places.append(f"{key}: {self.keys.get(key)}")
        cut = lambda texts: [text[:300] for text in texts[:3]]
        raise Wrong(f"{what}: {len(got)} rows for {len(expected)}\nmissing {cut(missing)}\n"
                    f"extra {cut(extra)}\nmodel {cut(places)}")

    def window(self):
        """What a clean leaves readable; a rollback later brings nothing back."""
        window = [time_ for time_, _ in self.instants()[-self.clean_commits:]]
        self.readable_from = max([self.readable_from, *window[:1]])
        return window

    def check(self):
        now = self.now()
        self.differ("snapshot", self.plain(now), self.sorted(self.rows()))
        completed = self.completed()
        if self.random.random() < 0.4:
            self.run("verify", self.path)
        if not completed:
            return
        wanted = {self.random.choice(completed), *self.savepoints}
        kept = set() if self.versions_cleaned else {time_ for time_ in self.window()
                                                    if time_ >= self.readable_from}
        for instant in sorted(wanted & set(self.snapshots)):
            result = self.run("read", self.path, "--format", "jsonl", "--as-of", instant,
                              check=False)
            if result.returncode == 0:
                rows = [json.loads(line) for line in result.stdout.decode().splitlines()]
                self.differ(f"as of {instant}", self.plain(rows), self.snapshots[instant])
            elif instant in kept or instant in self.savepoints:
                raise Wrong(f"as of {instant}: {result.stderr.decode()}")
        if self.meta:
            since = self.random.choice(completed[-self.clean_commits:])
            result = self.run("read", self.path, "--format", "jsonl", "--since", since,
                              check=False)
            if result.returncode == 0:
                rows = [json.loads(line) for line in result.stdout.decode().splitlines()]
                self.differ(f"since {since}", self.plain(rows), self.plain(
                    [row for row in now if row["_hoodie_commit_time"] > since]))
        if not self.mor or not self.meta:
            return
        written = [self.sorted([place.base])[0] for places in self.keys.values()
                   for place in places if place.base is not None]
        self.differ("read-optimized", self.plain(self.read("--read-optimized")), sorted(written))

    def step(self):
        kill = self.random.random() < 0.2
        what = self.random.choices(
            [self.write, self.compact, self.compact_logs, self.cluster, self.clean, self.archive,
             self.rollback, self.drop_plan, self.take_savepoint, self.drop_savepoint,
             self.restore],
            [14, 3, 1.5, 3, 2, 2, 2, 0.5, 1.5, 0.5, 1.5])[0]
        self.read_now = None
        what(kill)
        self.see_services()
        self.check()

    def play(self, n_steps):
        try:
            for _ in range(n_steps):
                self.step()
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            raise AssertionError(f"seed {self.seed}, table at {self.path}:\n" +
                                 "\n".join(self.did) + f"\n{wrong}") from None


def run_table(seed, n_steps=16):
    folder = tempfile.mkdtemp(prefix="hudi-model-")
    World(seed, folder).play(n_steps)
    shutil.rmtree(folder)


def test_random_tables_hold_what_they_should():
    seed, n = int(os.environ.get("HUDI_TEST_SEED", "1")), 0
    until = time.monotonic() + float(os.environ.get("HUDI_TEST_SECONDS", "0"))
    while n < int(os.environ.get("HUDI_TEST_TABLES", "4")) or time.monotonic() < until:
        run_table(seed + n)
        n += 1


if __name__ == "__main__":
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        try:
            run_table(int(sys.argv[1]) + number, int(sys.argv[3]) if len(sys.argv) > 3 else 16)
            print(int(sys.argv[1]) + number, "good", flush=True)
        except AssertionError as failed:
            print(failed, flush=True)
