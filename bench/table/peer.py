# SPDX-License-Identifier: Apache-2.0
"""One measurement in a process of its own: `peer.py NAME ARGUMENT...` prints {"cpu", "wall", "rows"} as JSON.

The clock runs from after the imports on, which is to the favour of what stands here.
"""
import json
import os
import pathlib
import sys
import time

import pyarrow
import pyarrow.parquet


def stamped(table):
    """With the meta columns, as a writer of Hudi tables must add them."""
    n = len(table)
    one = pyarrow.scalar("20240101000000000")
    sequence = pyarrow.array(["20240101000000000_0_" + str(i) for i in range(n)])
    meta = [pyarrow.repeat(one, n), sequence, table.column("id"), table.column("region"),
            pyarrow.repeat(pyarrow.scalar("f-0_0-0-0_20240101000000000.parquet"), n)]
    names = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path",
             "_hoodie_file_name"]
    return pyarrow.table([*meta, *table.columns], names=[*names, *table.schema.names])


def write(table, output):
    pyarrow.parquet.write_table(table, output, compression="zstd")
    return len(table)


def encode(output, *files):
    """Rows become a table's file: read, stamp, write."""
    return sum(write(stamped(pyarrow.parquet.read_table(file)), output) for file in files)


def rewrite(output, *files):
    """Files of a table become their next version: decode, encode."""
    return sum(write(pyarrow.parquet.ParquetFile(file).read(), output) for file in files)


def gather(output, column, *files):
    """All files of a partition become one, sorted by the first of the columns."""
    n = 0
    for folder in sorted({pathlib.Path(file).parent for file in files}):
        parts = [pyarrow.parquet.ParquetFile(file).read() for file in files if pathlib.Path(file).parent == folder]
        table = pyarrow.concat_tables(parts)
        n += write(table.sort_by(column.split(",")[0]) if column else table, output)
    return n


def listing(folder):
    return len(os.listdir(folder))


def read(columns, least, *files):
    columns = columns.split(",") if columns else None
    n = 0
    for file in files:
        filters = [("ts", ">=", int(least))] if least else None
        n += len(pyarrow.parquet.read_table(file, columns=columns, filters=filters, partitioning=None))
    return n


def copy(output, *files):
    """The bytes of files, written by one call each and synced."""
    n = 0
    for file in files:
        with open(file, "rb") as source:
            data = source.read()
        with open(output, "wb", buffering=0) as sink:
            n += sink.write(data)
            os.fsync(sink.fileno())
    return n


def hudi_rs(table, columns, least, since, mode=""):
    from hudi import HudiQueryType, HudiReadOptions, HudiTableBuilder
    options = HudiReadOptions()
    if columns:
        options = options.with_projection(columns.split(","))
    if least:
        options = options.with_filters([("ts", ">=", least)])
    if since:
        options = options.with_query_type(HudiQueryType.Incremental).with_start_timestamp(since)
    builder = HudiTableBuilder.from_base_uri(table)
    if mode == "read-optimized":
        builder = builder.with_option("hoodie.read.use.read_optimized.mode", "true")
    return sum(batch.num_rows for batch in builder.build().read(options))


if __name__ == "__main__":
    if sys.argv[1] == "hudi_rs":
        import hudi # noqa: F401 (before the clock runs)
    start, cpu = time.perf_counter(), time.process_time()
    rows = globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - start, "rows": rows}))
