# SPDX-License-Identifier: Apache-2.0
"""Peers as fixtures: each JVM is started once, when the first test wants it."""
import pathlib
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from peers import Flink, Hudi, HudiRs, Spark


@pytest.fixture(scope="session")
def hudi():
    return Hudi()


def session(make, tmp_path_factory):
    peer = make(tmp_path_factory.mktemp("peer"))
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
    return HudiRs()


@pytest.fixture
def golden(tmp_path):
    """golden(case): a golden table unpacked into a folder of its own."""

    def unpack(case):
        with tarfile.open(HERE.parent / "golden" / f"{case}.tar.gz") as archive:
            archive.extractall(tmp_path)
        return tmp_path / case

    return unpack
