# SPDX-License-Identifier: Apache-2.0
"""Our program and Hudi 0.15 write to one table at the same time, under optimistic concurrency control and the lock
file that both honour."""
import json
import subprocess
import threading
import time

import pytest

from cow_tables import Table, as_words, row
from peers import Failed, difference

SHARED = ["hoodie.write.concurrency.mode=optimistic_concurrency_control",
          "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
          "hoodie.cleaner.policy.failed.writes=LAZY", "hoodie.parquet.small.file.limit=0",
          "hoodie.write.lock.client.wait_time_ms_between_retry=100", "hoodie.write.lock.client.num_retries=600"]
THEIRS = [*SHARED, "hoodie.metadata.enable=false"]
TYPES = {"cow": [], "mor": ["hoodie.table.type=MERGE_ON_READ"]}


def data_of(got):
    return [{key: value for key, value in one.items() if not key.startswith("_hoodie_")} for one in got]


def of_partition(partition, numbers, version):
    return [row(i, version, p=partition) for i in numbers]


class Shared:
    """A table of two partitions of ten rows, a and b, and the two that write to it."""

    def __init__(self, hudi, spark, path, kind):
        self.hudi, self.spark, self.path = hudi, spark, path
        Table(options=TYPES[kind]).make(hudi, path, 6)
        self.now = {}
        for partition, first in (("a", 0), ("b", 100)):
            self.note(of_partition(partition, range(first, first + 10), 0))
        hudi.write(path, list(self.now.values()), "--op", "insert", *as_words(SHARED))

    def note(self, rows):
        self.now.update({one["id"]: one for one in rows})

    def begin(self, rows):
        """Ours, begun: the instant is on the timeline, and rows are awaited."""
        before = set(self.path.glob(".hoodie/*.requested"))
        process = subprocess.Popen([self.hudi.program, "write", self.path, "-", "--format", "jsonl", *as_words(SHARED)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write("".join(json.dumps(one) + "\n" for one in rows))
        process.stdin.flush()
        while not set(self.path.glob(".hoodie/*.requested")) - before:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        return process

    def theirs(self, rows):
        self.spark.write(self.path, rows, "upsert", "--options", *THEIRS)

    def check(self, *may_be_left):
        """Both read what must be there, and nothing is wrong or left, but for these kinds of notes."""
        wanted = list(self.now.values())
        assert difference(wanted, data_of(self.hudi.read(self.path))) == []
        assert difference(wanted, data_of(self.spark.read(self.path))) == []
        found = self.hudi.run("verify", self.path)
        expected = ("not-checked", *may_be_left)
        assert [line for line in found.splitlines()[:-1] if not any(kind in line for kind in expected)] == []
        assert found.rstrip().endswith(" 0 findings")
        assert not (self.path / ".hoodie" / "lock").exists()
        assert may_be_left or list(self.path.glob(".hoodie/.heartbeat/*")) == []


@pytest.fixture(params=TYPES)
def shared(request, hudi, spark015, tmp_path):
    return Shared(hudi, spark015, tmp_path / "t", request.param)


def test_hudi_completes_while_ours_is_open(shared):
    ours = shared.begin(of_partition("a", range(5), 1))
    shared.theirs(of_partition("b", range(100, 105), 1))
    out, err = ours.communicate()
    assert ours.returncode == 0, err
    shared.note(of_partition("a", range(5), 1) + of_partition("b", range(100, 105), 1))
    shared.check()


def test_ours_fails_when_hudi_was_first(shared):
    before = set(shared.path.glob(".hoodie/*commit"))
    ours = shared.begin(of_partition("a", range(5), 1))
    shared.theirs(of_partition("a", range(3, 8), 2))
    new, = set(shared.path.glob(".hoodie/*commit")) - before
    _, err = ours.communicate()
    assert ours.returncode == 1 and new.name.split(".")[0] in err and "a/" in err, err
    shared.note(of_partition("a", range(3, 8), 2))
    shared.check()


def test_both_at_random(shared):
    """Whoever says that it committed has; the rows of who failed are not there."""
    failed = []

    def write_theirs():
        for version in range(1, 7):
            partition, first = (("a", 0), ("b", 100))[version % 2]
            rows = of_partition(partition, range(first, first + 4), 100 + version)
            try:
                shared.theirs(rows)
                shared.note(rows)
            except Failed as failure:
                failed.append(str(failure))

    theirs = threading.Thread(target=write_theirs)
    theirs.start()
    n_ours = n_conflicts = 0
    while theirs.is_alive():
        n_ours += 1
        partition, first = (("a", 4), ("b", 104))[n_ours % 2] # other rows of the same file groups
        rows = of_partition(partition, range(first, first + 6), n_ours)
        try:
            shared.hudi.write(shared.path, rows, "--op", "upsert", *as_words(SHARED))
            shared.note(rows)
        except Failed as failure:
            assert "file group" in str(failure) or "is gone" in str(failure), failure
            n_conflicts += 1
        time.sleep(2.5) # whoever writes all the time leaves the other no turn
    theirs.join()
    for failure in failed:
        assert "ConcurrentModification" in failure or "conflict" in failure.lower(), failure
    assert n_ours > n_conflicts and len(failed) < 6
    print(f"{n_ours} of ours, {n_conflicts} conflicts; {len(failed)} of 6 of theirs")
    # Hudi leaves a write that lost to whoever cleans, and its heart beats for as long as its session.
    shared.check("writer-at-work")
