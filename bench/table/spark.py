# SPDX-License-Identifier: Apache-2.0
"""Hudi on Spark in one JVM, with what each command costs its processes."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))
import peers  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def processes(root):
    """`root` and all below it."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
        except (OSError, ValueError):
            continue
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def usage(root):
    """CPU seconds so far, and the highest resident set of any one process in bytes."""
    ticks, peak = 0, 0
    for pid in processes(root):
        try:
            ticks += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        peak = max([peak] + [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")])
    return ticks / TICKS, peak


class Spark(peers.Spark):
    """As for the interop tests, set for large tables, writing what we write."""

    SAME = ("hoodie.parquet.compression.codec=zstd", "hoodie.metadata.enable=false",
            "hoodie.bulkinsert.shuffle.parallelism=2", "hoodie.upsert.shuffle.parallelism=2",
            "hoodie.insert.shuffle.parallelism=2", "hoodie.delete.shuffle.parallelism=2")

    def __init__(self, version, scratch):
        command = [peers.HERE / "spark/spark-hudi", "--hudi", version, "--full-speed", "--memory", "4g",
                   "batch", "-", "--keep-going"]
        peers.Session.__init__(self, command, scratch)

    def measured(self, *words):
        before, _ = usage(self.process.pid)
        seconds = self.do(*words)["seconds"]
        after, peak = usage(self.process.pid)
        return {"cpu": after - before, "wall": seconds, "rss": peak}

    def put(self, table, operation, source, new=False, partition="region", options=()):
        key = ("--key", "id", "--ordering", "ts", "--name", "t") if new else ()
        by = ("--partition", partition) if new and partition else ()
        return self.measured("write", table, "--op", operation, "--input", source, *key, *by, "--options", *self.SAME,
                             *options)

    def query(self, table, what):
        return self.measured("sql", table, what, "--out", self.file())
