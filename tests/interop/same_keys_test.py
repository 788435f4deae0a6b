# SPDX-License-Identifier: Apache-2.0
"""One key several times in one write: ours and Hudi leave the same rows and count the same, combined or not."""
import pytest

from cow_rounds_test import newest_counts
from cow_tables import Table, as_words, row

FILL, NEW_FILES = "hoodie.parquet.small.file.limit=104857600", "hoodie.parquet.small.file.limit=0"
STORED = [row(i, 10, p="a") for i in range(3)]
# Keys 0 and 1 are stored, 20 and 21 are not; the last of a key is the greatest, or not.
GIVEN = [row(i, version, p="a") for i, version in [(0, 13), (0, 12), (1, 14), (1, 15), (20, 3), (20, 2), (21, 1),
                                                   (21, 3), (21, 2), (22, 1)]]
# operation, combined, stored rows, where rows of new keys go: how many rows there are then
WRITES = {("upsert", True, False, FILL): 5, ("upsert", False, False, FILL): 10,
          ("upsert", True, True, NEW_FILES): 6, ("upsert", False, True, NEW_FILES): 9,
          ("upsert", True, True, FILL): 6, ("upsert", False, True, FILL): 6,
          ("insert", True, True, NEW_FILES): 8, ("insert", False, True, NEW_FILES): 13,
          ("insert", True, False, FILL): 5, ("insert", False, False, FILL): 10}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_of_one_key_go_where_hudi_puts_them(hudi, spark015, tmp_path, kind):
    for n, ((op, combined, stored, files), n_rows) in enumerate(WRITES.items()):
        options, told = [f"hoodie.combine.before.{op}={str(combined).lower()}", files], {}
        for who in "ours", "theirs":
            path = tmp_path / f"{n}_{who}"
            Table(options=[f"hoodie.table.type={kind}"]).make(hudi, path, 6)
            if stored:
                hudi.write(path, STORED, "--op", "insert")
            if who == "ours":
                hudi.write(path, GIVEN, "--op", op, *as_words(options))
            else:
                spark015.write(path, GIVEN, op, "--options", *options, "hoodie.metadata.enable=false",
                               "hoodie.write.complex.keygen.new.encoding=true")
            read = [sorted((one["id"], one["ts"], one["v"] or "") for one in reader.read(path))
                    for reader in (hudi, spark015)]
            assert read[0] == read[1]
            told[who] = read[0], newest_counts(path)
            if op == "upsert" and combined:
                hudi.run("verify", path)
        assert told["ours"] == told["theirs"], (op, combined, stored, files)
        assert len(told["ours"][0]) == n_rows
