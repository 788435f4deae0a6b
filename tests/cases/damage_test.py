# SPDX-License-Identifier: Apache-2.0
"""Tables with something wrong in them: what is said of it."""
import json
import shutil

from conftest import run


def test_verify_finds_two_base_files_of_one_file_group_and_commit(table):
    table.create("id long\nv string\n")
    table.write([{"id": 1, "v": "a"}])
    [base] = table.base_files()
    group, _, instant = base.name.split("_")
    twin = base.with_name(f"{group}_9-0-0_{instant}")
    shutil.copyfile(base, twin)
    commit = table.path / ".hoodie" / f"{table.instants()[0]['time']}.commit"
    metadata = json.loads(commit.read_text())
    [stats] = metadata["partitionToWriteStats"].values()
    stats.append({**stats[0], "path": stats[0]["path"].replace(base.name, twin.name)})
    commit.write_text(json.dumps(metadata))
    told = run("verify", table.path)
    assert told.returncode == 1
    assert f"second-base-file: {twin.name}" in told.stdout.decode()
