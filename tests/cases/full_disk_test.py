# SPDX-License-Identifier: Apache-2.0
"""A disk that is full in the middle of a write: an error that says so, and nothing lost."""
import random
import subprocess

import pytest

from conftest import Refused, Table

N_BYTES = 8 << 20


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={N_BYTES}", "tmpfs", folder],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def rows(first, n):
    dice = random.Random(first)
    return "".join('{"id": "k%d", "ts": %d, "v": "%0250x"}\n' % (i, first, dice.getrandbits(1000))
                   for i in range(first, first + n))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("op", ["upsert", "insert", "bulk_insert"])
def test_a_write_to_a_full_disk_fails_and_the_next_one_goes_on(tmp_path, small_disk, kind, op):
    table = Table(tmp_path)
    table.path = small_disk / "t"
    table.create("id string\nts long\nv string\n", order_by="ts", options={"hoodie.table.type": kind})
    small, large, more = (tmp_path / name for name in ("small.jsonl", "large.jsonl", "more.jsonl"))
    small.write_text(rows(0, 100), encoding="utf-8")
    large.write_text(rows(50, 60_000), encoding="utf-8")
    more.write_text(rows(90, 100), encoding="utf-8")
    table.write(small)
    before, instants = table.read(meta=True), len(table.instants())
    with pytest.raises(Refused, match="[Nn]o space left on device"):
        table.write(large, op=op)
    assert table.read(meta=True) == before
    assert len([one for one in table.instants() if one["state"] == "COMPLETED" and
                one["action"] in ("commit", "deltacommit")]) == instants
    table.write(more)
    assert {row["id"] for row in table.read()} == {f"k{i}" for i in range(190)}
    table.verify()


def test_so_does_a_write_when_room_is_made_by_hand(tmp_path, small_disk):
    table = Table(tmp_path)
    table.path = small_disk / "t"
    table.create("id string\nts long\nv string\n", order_by="ts")
    rows_file = tmp_path / "rows.jsonl"
    rows_file.write_text(rows(0, 100), encoding="utf-8")
    table.write(rows_file)
    before = table.read(meta=True)
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as out, pytest.raises(OSError):
        while True:
            out.write(b"x" * 4096)
    with pytest.raises(Refused, match="[Nn]o space left on device"):
        table.write(rows_file)
    assert table.read(meta=True) == before
    ballast.unlink()
    table.write(rows_file)
    assert [row["id"] for row in table.read()] == [row["id"] for row in before]
    table.verify()
