# SPDX-License-Identifier: Apache-2.0
"""Every call that has a status is held to the rules of NULL."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_call_with_a_status_is_given_null():
    declared = set()
    for header in (ROOT / "include/hudi").glob("*.h"):
        declared |= set(re.findall(r"HUDI_EXPORT\s+hudi_status\s+(\w+)\(", header.read_text(encoding="utf-8")))
    test = (ROOT / "tests/unit/api/null_test.c").read_text(encoding="utf-8")
    assert declared - {"hudi_error_status"} == set(re.findall(r'refused\("(\w+)"', test))
