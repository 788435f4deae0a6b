# SPDX-License-Identifier: Apache-2.0
"""tools/count-tests counts cmocka's cases and never calls a failure a success."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/count-tests"
GOOD = '<testcase name="t" status="run"><system-out>[  PASSED  ] 3 test(s).</system-out></testcase>'
FAILED = ('<testcase name="t" status="fail"><failure message=""/><system-out>[  PASSED  ] 2 test(s).\n'
          "[  FAILED  ] 2 test(s), listed below:</system-out></testcase>")
CRASHED = '<testcase name="t" status="fail"><failure message="SEGFAULT"/><system-out/></testcase>'
PLAIN = '<testcase name="t" status="run"><system-out>512 inputs</system-out></testcase>'
SKIPPED = '<testcase name="t"><skipped/></testcase>'
NOT_RUN = '<testcase name="t" status="notrun"><failure message="Unable to find executable"/></testcase>'


@pytest.mark.parametrize("cases, counts", [
    ([GOOD], "3 0 0"), ([GOOD, FAILED], "5 2 0"), ([CRASHED], "0 1 0"), ([PLAIN, PLAIN], "2 0 0"),
    ([SKIPPED, GOOD], "3 0 1"), ([NOT_RUN], "0 1 0"), ([], "0 1 0"),
])
def test_counts(tmp_path, cases, counts):
    junit = tmp_path / "junit.xml"
    junit.write_text("<testsuite>" + "".join(cases) + "</testsuite>")
    assert subprocess.check_output([TOOL, junit], text=True).strip() == counts


def test_a_missing_or_broken_file_is_a_failure(tmp_path):
    for path in (tmp_path / "gone.xml", tmp_path / "broken.xml"):
        (tmp_path / "broken.xml").write_text("<testsuite>")
        done = subprocess.run([TOOL, path], capture_output=True, text=True)
        assert done.stdout.strip() == "0 1 0"
