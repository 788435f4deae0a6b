# SPDX-License-Identifier: Apache-2.0
"""Who rolls a write back whose process was killed: hoodie.cleaner.policy.failed.writes."""
import os
import subprocess
import time

import pytest

from cli_test import ENVIRONMENT, OK, PROGRAM, ROWS, SHARED, done, json_lines, lines, run, schema  # noqa: F401

NO_CLEAN = ["-o", "hoodie.clean.automatic=false"]
LAZY = ["-o", "hoodie.cleaner.policy.failed.writes=LAZY"]
NEVER = ["-o", "hoodie.cleaner.policy.failed.writes=NEVER"]


@pytest.fixture
def written(tmp_path, schema):  # noqa: F811
    path = tmp_path / "t"
    done("create", path, "--schema", schema, "--key", "id", "--order-by", "qty", "--partition-by", "region",
         "--type", "mor")
    done("write", path, "-", "--format", "jsonl", stdin=lines(ROWS))
    return path


def killed_write(table, *options):
    """The instant of a write whose process was killed once it had begun."""
    before = set((table / ".hoodie").glob("*.inflight"))
    process = subprocess.Popen([PROGRAM, "write", table, "-", "--format", "jsonl", *options], env=ENVIRONMENT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (begun := set((table / ".hoodie").glob("*.inflight")) - before):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.1) # the lock that several writers share is given back behind it
    process.kill()
    process.communicate()
    return begun.pop().name.split(".")[0]


def stop_beating(table, instant):
    os.utime(table / ".hoodie" / ".heartbeat" / instant, (1_000_000_000, 1_000_000_000))


def write(table, n, *options):
    result = run("write", table, "-", "--format", "jsonl", *NO_CLEAN, *options, stdin=lines([{**ROWS[0], "id": n}]))
    assert result.returncode == OK, result.stderr


def is_pending(table, instant):
    states = {entry["time"]: entry["state"] for entry in json_lines(done("timeline", table, "--json"))}
    assert states.get(instant) in (None, "INFLIGHT")
    return instant in states


def check(table, n_rows):
    assert len(json_lines(done("read", table))) == n_rows
    assert "0 findings" in done("verify", table)


def test_eager_is_the_next_write(written):
    dead = killed_write(written)
    assert run("clean", written).returncode == OK
    assert is_pending(written, dead)
    write(written, 100)
    assert not is_pending(written, dead)
    check(written, 21)


@pytest.mark.parametrize("options", [LAZY, SHARED])
def test_lazy_is_a_clean_once_the_heartbeat_has_stopped(written, options):
    dead = killed_write(written, *options)
    assert run("clean", written, *options).returncode == OK
    assert is_pending(written, dead) # it may be alive
    stop_beating(written, dead)
    write(written, 100, *options)
    assert is_pending(written, dead)
    assert run("clean", written, "--dry-run", *options).returncode == OK
    assert is_pending(written, dead)
    assert run("clean", written, *options).returncode == OK
    assert not is_pending(written, dead)
    assert not (written / ".hoodie" / ".heartbeat" / dead).exists()
    check(written, 21)


def test_lazy_is_the_clean_behind_a_write_too(written):
    dead = killed_write(written, *LAZY)
    stop_beating(written, dead)
    write(written, 100, *LAZY, "-o", "hoodie.clean.automatic=true", "-o", "hoodie.clean.max.commits=50")
    assert not is_pending(written, dead)
    check(written, 21)


def test_never_is_nobody_but_by_hand(written):
    dead = killed_write(written, *NEVER)
    write(written, 100, *NEVER)
    assert run("clean", written, *NEVER).returncode == OK
    assert is_pending(written, dead)
    check(written, 21)
    assert run("rollback", written, dead).returncode == OK
    assert not is_pending(written, dead)
    check(written, 21)
