# SPDX-License-Identifier: Apache-2.0
"""Several processes write to, compact, cluster and clean one table, and some are killed.

What a process said that it committed is there, each row once, and of what it did not commit there
is nothing; a killed one's write is there as a whole or not at all. HUDI_PROGRAM names the program;
HUDI_TEST_SEED and HUDI_TEST_SECONDS (for each table) are for a run by pytest, and
`concurrent_model_test.py SEED [SECONDS]` runs one table.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HUDI_PROGRAM", str(ROOT / "build" / "dev" / "hudi"))
ENVIRONMENT = {**os.environ, "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp"}
PROVIDER = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
PARTITIONS = ["p0", "p1", "p2"]
N_SHARED = 6  # rows of a partition that everybody updates
PATIENCE_S = 4
CONFLICT = 1  # exit status of whatever may be tried again
# What a write may be told that lost a race.
RACES = ["changes the same file group", "pending clustering", "another writer", "rolled back",
         "did not beat", "is gone", "no such file", "No such file", "is at work",
         "no longer", "written to after the plan", "completed by somebody else"]


class Wrong(Exception):
    pass


class Batch:
    """One call of `hudi write`, and what is known of its end."""

    def __init__(self, name, operation, rows):
        self.name = name
        self.operation = operation
        self.rows = rows
        self.instant = None  # reported
        self.unknown = False  # killed: it may be there


class World:
    def __init__(self, seed, folder, seconds):
        self.random = random.Random(seed)
        self.seed = seed
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "t"
        self.until = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.batches = []
        self.did = []
        self.failure = None
        self.counts = {}
        self.mor = self.random.random() < 0.6
        self.n_writers = self.random.randint(2, 8)
        keep = self.random.choice([2, 3, 20])
        self.options = {
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
            "hoodie.write.lock.provider": PROVIDER,
            "hoodie.client.heartbeat.interval_in_ms": 200,
            "hoodie.client.heartbeat.tolerable.misses": PATIENCE_S * 5,
            "hoodie.parquet.small.file.limit": self.random.choice([0, 104857600]),
            "hoodie.cleaner.commits.retained": keep,
            "hoodie.keep.min.commits": keep + 1,
            "hoodie.keep.max.commits": keep + self.random.randint(2, 6),
            "libhudi.threads": self.random.choice([1, 2])}
        if self.random.random() < 0.3:
            self.options["hoodie.compact.inline" if self.mor else "hoodie.clustering.inline"] = "true"
            self.options["hoodie.compact.inline.max.delta.commits"] = 3
            # One that loses a race to a writer is logged: the write before it stands.
            self.options["hoodie.fail.writes.on.inline.table.service.exception"] = "false"

    # ---- the program ----------------------------------------------------------------------------

    def start(self, *words, options=True):
        command = [PROGRAM, *map(str, words)]
        for key, value in self.options.items() if options else []:
            command += ["-o", f"{key}={value}"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=ENVIRONMENT)

    def must(self, *words, options=False, status=(0,)):
        process = self.start(*words, options=options)
        out, err = process.communicate()
        if process.returncode not in status:
            raise Wrong(f"{' '.join(map(str, words))} ended with {process.returncode}: {out}{err}")
        return out

    def say(self, text):
        with self.lock:
            self.did.append(f"{time.monotonic():.3f} {text}")

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def run(self, chance, what, *words):
        """Run to its end, or kill it at some point: status, output; status None when killed."""
        process = self.start(*words)
        killed = chance.random() < 0.12
        if killed:
            try:
                process.wait(chance.uniform(0, 0.25))
                killed = False
            except subprocess.TimeoutExpired:
                process.kill()
        out, err = process.communicate()
        status = None if killed and process.returncode == -9 else process.returncode
        self.say(f"{what} -> {status} {out.strip()} {err.strip()}")
        self.count(f"{what.split()[0]} {'killed' if status is None else status}")
        if status not in (None, 0, CONFLICT) or (status == CONFLICT and
                                                 not any(race in err for race in RACES)):
            raise Wrong(f"{what} ended with {status}: {out}{err}")
        return status, out

    # ---- one writer -----------------------------------------------------------------------------

    def rows_of(self, chance, name, mine):
        """Rows, and the operation: new ones, changes of shared ones, deletes of one's own."""
        kind = chance.random()
        partition = chance.choice(PARTITIONS)
        if kind < 0.15 and mine:
            return "delete", mine.pop(chance.randrange(len(mine))).rows
        rows = []
        if kind < 0.7:
            for i in range(chance.randint(1, N_SHARED)):
                rows.append({"k": f"{partition}-s{i}", "v": name, "p": partition})
        if kind > 0.4:
            rows += [{"k": f"{name}-{i}", "v": name, "p": partition}
                     for i in range(chance.randint(1, 5))]
        return ("upsert" if kind < 0.85 else chance.choice(["upsert", "bulk_insert"])), rows

    def write(self, chance, writer, n, mine):
        name = f"w{writer}-{n}"
        operation, rows = self.rows_of(chance, name, mine)
        batch = Batch(name, operation, rows)
        with self.lock:
            self.batches.append(batch)
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        status, out = self.run(chance, f"write {name} {operation} "
                               f"{[row['k'] for row in rows]}", "write", self.path, path, "--op",
                               operation)
        path.unlink()
        if status is None:
            batch.unknown = True
        elif status == 0:
            batch.instant = out.split(":")[0]
            if operation != "delete" and not any("-s" in row["k"] for row in rows):
                mine.append(batch)

    def serve(self, chance):
        kinds = [("clean",), ("archive",), ("cluster",), ("cluster", "--schedule"),
                 ("cluster", "--run")]
        if self.mor:
            kinds += 2 * [("compact",), ("compact", "--schedule"), ("compact", "--run")]
            kinds.append(("compact", "--logs", "--blocks", "2"))
        words = chance.choice(kinds)
        self.run(chance, " ".join(words), words[0], self.path, *words[1:])

    def be_writer(self, writer):
        chance = random.Random(f"{self.seed}-{writer}")
        mine = []
        n = 0
        try:
            while time.monotonic() < self.until and self.failure is None:
                if chance.random() < 0.75:
                    self.write(chance, writer, n, mine)
                    n += 1
                else:
                    self.serve(chance)
        except Exception as failure: # noqa: BLE001: told by the main thread
            self.failure = failure

    # ---- all of them ----------------------------------------------------------------------------

    def create(self):
        (self.folder / "schema").write_text("k string not null\nv string\np string\n")
        self.must("create", self.path, "--schema", self.folder / "schema", "--key", "k",
                  "--partition-by", "p", "--type", "mor" if self.mor else "cow")
        rows = [{"k": f"{p}-s{i}", "v": "first", "p": p} for p in PARTITIONS
                for i in range(N_SHARED)]
        batch = Batch("first", "upsert", rows)
        path = self.folder / "first.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        batch.instant = self.must("write", self.path, path, options=True).split(":")[0]
        self.batches.append(batch)

    def read(self):
        out = self.must("read", self.path)
        rows = {}
        for line in out.splitlines():
            row = json.loads(line)
            if row["k"] in rows:
                raise Wrong(f"key {row['k']} is there twice: {row} and {rows[row['k']]}")
            rows[row["k"]] = row
        return rows

    def check_row(self, key, row, batches):
        """`batches` that wrote the key and may count, oldest first by what is known."""
        reported = [b for b in batches if b.instant is not None]
        last = max(reported, key=lambda b: b.instant, default=None)
        if row is None:
            if last is not None and last.operation != "delete" and not any(
                    b.unknown and b.operation == "delete" for b in batches):
                raise Wrong(f"key {key} of {last.name} ({last.instant}) is gone")
            return
        wrote = next((b for b in batches if b.name == row["v"]), None)
        if wrote is None:
            raise Wrong(f"{row}: that was never written, or failed")
        if last is None or wrote is last:
            return
        if not wrote.unknown:
            raise Wrong(f"{row}: {last.name} ({last.instant}) was lost")
        if row["_hoodie_commit_time"] < last.instant:
            raise Wrong(f"{row} is older than {last.name} ({last.instant}), which was lost")

    def check_whole(self, rows):
        """A killed write is there as a whole, or not at all: of its new keys, which nobody changes
        and only a delete takes."""
        deleted = {row["k"] for b in self.batches if b.operation == "delete" for row in b.rows}
        for batch in self.batches:
            own = [row["k"] for row in batch.rows if "-s" not in row["k"]]
            there = [key for key in own if key in rows]
            if batch.operation != "delete" and not set(own) & deleted and there and there != own:
                raise Wrong(f"of {batch.name} there are {there} of {own}")

    def check(self):
        rows = self.read()
        batches = {}
        for batch in self.batches:
            if batch.instant is not None or batch.unknown:
                for row in batch.rows:
                    batches.setdefault(row["k"], []).append(batch)
        for key, of_key in batches.items():
            self.check_row(key, rows.get(key), of_key)
        for key, row in rows.items():
            if key not in batches:
                raise Wrong(f"{row}: that was never written, or failed")
        self.check_whole(rows)

    def settle(self):
        """Nobody beats any more: the next writer puts right what the killed ones left."""
        self.check()
        time.sleep(PATIENCE_S + 0.1)
        path = self.folder / "last.jsonl"
        last = Batch("last", "upsert", [{"k": "last-0", "v": "last", "p": "p0"}])
        path.write_text(json.dumps(last.rows[0]) + "\n")
        last.instant = self.must("write", self.path, path, "--op", "bulk_insert",
                                 options=True).split(":")[0]
        self.batches.append(last)
        self.check()
        self.must("cluster", self.path, "--run", options=True)
        if self.mor:
            self.must("compact", self.path, options=True)
        self.check()
        self.must("clean", self.path, options=True)
        found = self.must("verify", self.path)
        left = [line for line in found.splitlines()[:-1] if "not-checked" not in line]
        if left or not found.rstrip().endswith(" 0 findings"):
            raise Wrong(found)
        self.check()

    def run_all(self):
        self.create()
        writers = [threading.Thread(target=self.be_writer, args=(i,))
                   for i in range(self.n_writers)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        if self.failure is not None:
            raise self.failure
        self.settle()


def run_seed(seed, seconds):
    folder = tempfile.mkdtemp(prefix="hudi-test-")
    world = World(seed, folder, seconds)
    try:
        world.run_all()
    except Exception as failure:
        (world.folder / "did").write_text("\n".join(world.did) + "\n")
        told = "\n".join(world.did[-40:])
        raise Wrong(f"seed {seed} (mor {world.mor}, {world.n_writers} writers, kept in {folder}): "
                    f"{failure}\n{told}") from failure
    shutil.rmtree(folder)
    return world


@pytest.mark.parametrize("number", range(2))
def test_what_several_processes_commit_is_there_once(number):
    seed = int(os.environ.get("HUDI_TEST_SEED", "1")) + number
    world = run_seed(seed, float(os.environ.get("HUDI_TEST_SECONDS", "6")))
    assert any(b.instant is not None for b in world.batches)


if __name__ == "__main__":
    done = run_seed(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(done.mor, done.n_writers, done.options, sorted(done.counts.items()))
