# SPDX-License-Identifier: Apache-2.0
"""Peers as fixtures: each JVM is started once, when the first test wants it."""
import pathlib
import re
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from peers import Failed, Flink, Hudi, HudiRs, Spark


@pytest.fixture(scope="session")
def hudi():
    return Hudi()


NOT_FETCHED = re.compile(r"Maven could not .*|.*Could not (?:transfer|resolve|find artifact).*|"
                         r".*No matching distribution.*|.*Could not install packages.*")


def session(make, tmp_path_factory):
    """The peer, or a skip when it could not be downloaded; that it starts at all is no skip."""
    peer = make(tmp_path_factory.mktemp("peer"))
    try:
        peer.do("none") # it has no such command, and says so once it has started
    except Failed as failure:
        if peer.process.poll() is not None:
            fault = NOT_FETCHED.search(pathlib.Path(peer.log.name).read_text(encoding="utf-8"))
            if fault:
                pytest.skip(f"the peer cannot be downloaded: {fault.group().strip()}")
            raise failure
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def spark015(tmp_path_factory):
    yield from session(lambda scratch: Spark("0.15.0", scratch), tmp_path_factory)


@pytest.fixture(scope="session")
def spark11(tmp_path_factory):
    yield from session(lambda scratch: Spark("1.1.1", scratch), tmp_path_factory)


@pytest.fixture(scope="session")
def flink(tmp_path_factory):
    yield from session(Flink, tmp_path_factory)


@pytest.fixture(scope="session")
def hudi_rs():
    pytest.importorskip("hudi", reason="hudi-rs is not installed")
    return HudiRs()


@pytest.fixture
def golden(tmp_path):
    """golden(case): a golden table unpacked into a folder of its own."""

    def unpack(case):
        with tarfile.open(HERE.parent / "golden" / f"{case}.tar.gz") as archive:
            archive.extractall(tmp_path)
        return tmp_path / case

    return unpack
