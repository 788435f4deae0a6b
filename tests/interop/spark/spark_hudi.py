# SPDX-License-Identifier: Apache-2.0
"""Real Apache Hudi on Spark, driven from the command line.

Started by the script `spark-hudi` beside this file, which picks the Hudi
version and sets SPARK_HUDI_JAR. See README.md for how to use it.
"""

import argparse
import base64
import datetime as dt
import decimal
import json
import math
import os
import shlex
import shutil
import sys
import tempfile
import time
import traceback

os.environ["TZ"] = "UTC"
time.tzset()

from pyspark.sql import SparkSession, types as T  # noqa: E402

META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
        "_hoodie_partition_path", "_hoodie_file_name"]

LOG4J = """rootLogger.level = %s
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %%d{HH:mm:ss} %%p %%c{1}: %%m%%n%%ex
"""


# --------------------------------------------------------------- session ---

# Small tables: the first JIT level and no generated code start up fastest.
QUICK = {"spark.sql.codegen.wholeStage": "false",
         "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def make_session(jar, memory="2g", cores=2, log_level="error", app="spark-hudi",
                 quick=True, extra=None):
    """One local Spark with the Hudi bundle; scratch goes to a temp folder."""
    scratch = tempfile.mkdtemp(prefix="spark-hudi-")
    log4j = os.path.join(scratch, "log4j2.properties")
    with open(log4j, "w") as f:
        f.write(LOG4J % log_level)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join([
        "--master", f"local[{cores}]", "--driver-memory", memory,
        "--jars", shlex.quote(jar), "--driver-class-path", shlex.quote(jar),
        "--driver-java-options", shlex.quote(
            f"-Dlog4j2.configurationFile=file:{log4j} -Duser.timezone=UTC "
            f"-Djava.io.tmpdir={scratch} -Dderby.system.home={scratch} "
            "-Djol.skipHotspotSAAttach=true -Djol.skipDynamicAttach=true"
            + (" -XX:TieredStopAtLevel=1" if quick else "")),
        "pyspark-shell"])
    b = (SparkSession.builder.appName(app)
         .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
         .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
         .config("spark.sql.extensions",
                 "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
         .config("spark.sql.catalog.spark_catalog",
                 "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
         .config("spark.sql.warehouse.dir", os.path.join(scratch, "warehouse"))
         .config("spark.local.dir", scratch)
         .config("spark.sql.session.timeZone", "UTC")
         .config("spark.sql.shuffle.partitions", "2")
         .config("spark.default.parallelism", "2")
         .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
         .config("spark.ui.enabled", "false")
         .config("spark.ui.showConsoleProgress", "false")
         .config("spark.driver.host", "127.0.0.1")
         .config("spark.driver.bindAddress", "127.0.0.1"))
    for k, v in {**(QUICK if quick else {}), **(extra or {})}.items():
        b = b.config(k, v)
    spark = b.getOrCreate()
    spark.sparkContext.setLogLevel(log_level.upper())
    spark._libhudi_scratch = scratch
    return spark


def stop_session(spark):
    spark.stop()
    shutil.rmtree(spark._libhudi_scratch, ignore_errors=True)


# ------------------------------------------------------ rows <-> JSON text ---

def to_json(v, t):
    """One Spark value as the JSON value that fixtures and tests compare."""
    if v is None:
        return None
    if isinstance(t, T.BinaryType):
        return base64.b64encode(bytes(v)).decode()
    if isinstance(t, T.DecimalType):
        with decimal.localcontext() as digits:
            digits.prec = 60
            return format(v.quantize(decimal.Decimal(1).scaleb(-t.scale)), "f")
    if isinstance(t, T.TimestampType):
        return v.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
    if isinstance(t, T.TimestampNTZType):
        return v.strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0")
    if isinstance(t, T.DateType):
        return v.isoformat()
    if isinstance(t, (T.FloatType, T.DoubleType)):
        if math.isnan(v):
            return "NaN"
        if math.isinf(v):
            return "Infinity" if v > 0 else "-Infinity"
        return v
    if isinstance(t, T.ArrayType):
        return [to_json(x, t.elementType) for x in v]
    if isinstance(t, T.MapType):
        items = {str(to_json(k, t.keyType)): to_json(x, t.valueType)
                 for k, x in v.items()}
        return {k: items[k] for k in sorted(items)}
    if isinstance(t, T.StructType):
        return {f.name: to_json(x, f.dataType) for f, x in zip(t.fields, v)}
    return v


def from_json(v, t):
    """The inverse of to_json, for rows read from a JSON-lines input."""
    if v is None:
        return None
    if isinstance(t, T.BinaryType):
        return bytearray(base64.b64decode(v))
    if isinstance(t, T.DecimalType):
        return decimal.Decimal(str(v))
    if isinstance(t, T.TimestampType):
        if isinstance(v, (int, float)):
            return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(v))
        w = dt.datetime.fromisoformat(v.replace("Z", "+00:00"))
        return w.astimezone(dt.timezone.utc).replace(tzinfo=None) if w.tzinfo else w
    if isinstance(t, T.TimestampNTZType):
        return dt.datetime.fromisoformat(v)
    if isinstance(t, T.DateType):
        return dt.date.fromisoformat(v)
    if isinstance(t, (T.FloatType, T.DoubleType)):
        return float(v)
    if isinstance(t, T.ArrayType):
        return [from_json(x, t.elementType) for x in v]
    if isinstance(t, T.MapType):
        num = isinstance(t.keyType, T.IntegralType)
        return {(int(k) if num else from_json(k, t.keyType)):
                from_json(x, t.valueType) for k, x in v.items()}
    if isinstance(t, T.StructType):
        return tuple(from_json(v.get(f.name), f.dataType) for f in t.fields)
    return v


def rows_as_json(df, sort_by=None):
    """All rows as dicts, sorted by record key then partition (or by sort_by)."""
    schema = df.schema
    rows = [to_json(r, schema) for r in df.collect()]
    keys = sort_by or [k for k in ("_hoodie_record_key", "_hoodie_partition_path")
                       if k in schema.names]
    if not keys or (not sort_by and rows and rows[0].get(keys[0]) is None):
        keys = schema.names
    rows.sort(key=lambda r: [json.dumps(r.get(k), sort_keys=True) for k in keys])
    return rows


def write_json_lines(rows, out):
    for r in rows:
        out.write(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n")


# ------------------------------------------------------------ table facts ---

def table_properties(path):
    """hoodie.properties as a dict ({} for a folder that is no table yet)."""
    name = os.path.join(path, ".hoodie", "hoodie.properties")
    props = {}
    if os.path.exists(name):
        with open(name, encoding="utf-8") as f:
            for line in f:
                line = line.strip()
                if line and line[0] not in "#!" and "=" in line:
                    k, v = line.split("=", 1)
                    props[k.strip()] = v.strip().replace("\\:", ":").replace("\\=", "=")
    return props


def default_write_options(path, args):
    """Write options from the flags, else from the table's own properties."""
    p = table_properties(path)
    o = {"hoodie.table.name": args.name or p.get("hoodie.table.name")
         or os.path.basename(path).replace("-", "_").replace(".", "_")}
    pairs = [
        ("hoodie.datasource.write.recordkey.field", args.key,
         "hoodie.table.recordkey.fields"),
        ("hoodie.datasource.write.partitionpath.field", args.partition,
         "hoodie.table.partition.fields"),
        ("hoodie.datasource.write.table.type", args.table_type, "hoodie.table.type"),
        ("hoodie.datasource.write.hive_style_partitioning", None,
         "hoodie.datasource.write.hive_style_partitioning"),
        ("hoodie.datasource.write.partitionpath.urlencode", None,
         "hoodie.datasource.write.partitionpath.urlencode"),
        ("hoodie.datasource.write.keygenerator.class", None,
         "hoodie.table.keygenerator.class"),
    ]
    for option, flag, prop in pairs:
        v = flag or p.get(prop)
        if v:
            o[option] = v
    ordering = args.ordering or p.get("hoodie.table.precombine.field") \
        or p.get("hoodie.table.ordering.fields")
    if ordering:
        o["hoodie.datasource.write.precombine.field"] = ordering
    # Hudi 1.x would silently upgrade an older table; 0.x ignores both options.
    version = int(p.get("hoodie.table.version") or 0)
    if 0 < version < 8:
        o["hoodie.write.auto.upgrade"] = "false"
        o["hoodie.write.table.version"] = "6"
    return o


def split_options(items):
    out = {}
    for item in items or []:
        k, eq, v = item.partition("=")
        if not eq:
            raise SystemExit(f"option '{item}' is not of the form key=value")
        out[k] = v
    return out


# ------------------------------------------------------------ sub-commands ---

# Asked for by name, a service is scheduled however few commits there are.
ALWAYS = {"hoodie.compact.inline.max.delta.commits": "1",
          "hoodie.clustering.inline.max.commits": "1",
          "hoodie.clustering.async.max.commits": "1"}


class Runner:
    def __init__(self, spark):
        self.spark = spark
        self.views = {}

    def register(self, path):
        """A catalog table over the folder, for SQL and CALL; returns its name."""
        if path not in self.views:
            name = f"hudi_{len(self.views)}"
            self.spark.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
            self.views[path] = name
        name = self.views[path]
        self.spark.sql(f"REFRESH TABLE {name}")
        return name

    def frame(self, path, args):
        r = self.spark.read.format("hudi")
        if args.as_of:
            r = r.option("as.of.instant", args.as_of)
        if args.incremental_from is not None:
            r = (r.option("hoodie.datasource.query.type", "incremental")
                 .option("hoodie.datasource.read.begin.instanttime", args.incremental_from))
            if args.incremental_to:
                r = r.option("hoodie.datasource.read.end.instanttime", args.incremental_to)
            if args.cdc:
                r = r.option("hoodie.datasource.query.incremental.format", "cdc")
        if args.read_optimized:
            r = r.option("hoodie.datasource.query.type", "read_optimized")
        for k, v in split_options(args.options).items():
            r = r.option(k, v)
        df = r.load(path)
        if args.where:
            df = df.where(args.where)
        if args.columns:
            df = df.select(*args.columns)
        return df

    def read(self, path, args, out):
        df = self.frame(path, args)
        if args.count:
            out.write(f"{df.count()}\n")
            return None
        rows = rows_as_json(df, args.sort)
        write_json_lines(rows, out)
        return len(rows)

    def schema(self, path, args, out):
        df = self.spark.read.format("hudi").load(path)
        out.write(df.schema.simpleString() + "\n")

    def input_frame(self, path, args):
        """The input rows as a DataFrame, typed by --schema, the table or Spark."""
        if args.input.endswith(".parquet") or os.path.isdir(args.input):
            df = self.spark.read.parquet(args.input)
        else:
            with open(args.input, encoding="utf-8") as f:
                raw = [json.loads(line) for line in f if line.strip()]
            if args.schema:
                schema = T._parse_datatype_string(args.schema)
            elif table_properties(path):
                schema = self.spark.read.format("hudi").load(path).schema
                seen = {k for r in raw for k in r}
                schema = T.StructType([f for f in schema.fields if f.name in seen])
            else:
                df = self.spark.read.json(args.input)
                return df.drop(*META)
            schema = T.StructType([T.StructField(f.name, f.dataType, True)
                                   for f in schema.fields if f.name not in META])
            df = self.spark.createDataFrame([from_json(r, schema) for r in raw], schema)
        return df.drop(*META).coalesce(1)

    def write(self, path, args, out):
        options = default_write_options(path, args)
        operation = args.op
        if operation == "insert_overwrite_table":
            mode = "append"
        else:
            mode = "append" if table_properties(path) else "overwrite"
        options["hoodie.datasource.write.operation"] = operation
        options.update(split_options(args.options))
        df = self.input_frame(path, args)
        n = df.count()
        df.write.format("hudi").options(**options).mode(mode).save(path)
        out.write(json.dumps({"op": operation, "rows": n}) + "\n")

    def sql(self, path, args, out):
        name = self.register(path)
        df = self.spark.sql(args.statement.replace("{t}", name))
        rows = [to_json(r, df.schema) for r in df.collect()]
        write_json_lines(rows, out)
        return len(rows)

    def compact_logs(self, path, args, out):
        """There is no procedure for it: the write client is asked, with the options given."""
        hudi = self.spark._jvm.org.apache.hudi
        none = hudi.common.util.Option.empty()
        properties = self.spark._jvm.java.util.Properties()
        for k, v in {**table_properties(path), **split_options(args.options)}.items():
            properties.setProperty(k, v)
        schema = hudi.common.table.TableSchemaResolver(
            hudi.common.table.HoodieTableMetaClient.builder()
            .setConf(self.storage_conf()).setBasePath(path).build()).getTableAvroSchema(False)
        config = (hudi.config.HoodieWriteConfig.newBuilder().withPath(path).forTable("t")
                  .withSchema(schema.toString()).withEmbeddedTimelineServerEnabled(False)
                  .withProperties(properties).build())
        java = self.spark._jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(
            self.spark._jsc.sc())
        client = hudi.client.SparkRDDWriteClient(
            hudi.client.common.HoodieSparkEngineContext(java), config)
        try:
            instant = args.instant
            if args.what == "schedule-compact-logs":
                planned = client.scheduleLogCompaction(none)
                instant = planned.get() if planned.isPresent() else None
            else:
                client.logCompact(instant)
        finally:
            client.close()
        out.write(json.dumps({"instant": instant}) + "\n")

    def storage_conf(self):
        hadoop = self.spark._jsc.hadoopConfiguration()
        storage = self.spark._jvm.org.apache.hudi.storage.hadoop
        return storage.HadoopStorageConfiguration(hadoop)

    def service(self, path, args, out):
        if args.what in ("schedule-compact-logs", "run-compact-logs"):
            return self.compact_logs(path, args, out)
        t = self.register(path)
        i = args.instant

        def need():
            if not i:
                raise SystemExit(f"service {args.what} needs --instant")
            return i

        options = ",".join(args.options or [])
        opt = f", options => '{options}'" if options else ""
        plain = {
            "schedule-compact": lambda: f"run_compaction(op => 'schedule', table => '{t}'{opt})",
            "compact": lambda: f"run_compaction(op => 'scheduleAndExecute', table => '{t}'{opt})",
            "run-compact": lambda: f"run_compaction(op => 'execute', table => '{t}'{opt}"
                                   + (f", timestamp => '{i}'" if i else "") + ")",
            "show-compact": lambda: f"show_compaction(table => '{t}')",
            "schedule-cluster": lambda: f"run_clustering(op => 'schedule', table => '{t}'"
                                        + (f", order => '{args.order}'" if args.order else "")
                                        + opt + ")",
            "cluster": lambda: f"run_clustering(op => 'scheduleAndExecute', table => '{t}'"
                               + (f", order => '{args.order}'" if args.order else "")
                               + opt + ")",
            "run-cluster": lambda: f"run_clustering(op => 'execute', table => '{t}'"
                                   + (f", instants => '{i}'" if i else "") + opt + ")",
            "show-cluster": lambda: f"show_clustering(table => '{t}')",
            "clean": lambda: f"run_clean(table => '{t}'"
                             + (f", retain_commits => {args.retain}" if args.retain else "")
                             + opt + ")",
            "archive": lambda: f"archive_commits(table => '{t}', min_commits => {args.min}, "
                               f"max_commits => {args.max}, retain_commits => {args.retain or 1})",
            "rollback": lambda: f"rollback_to_instant(table => '{t}', instant_time => '{need()}')",
            "savepoint": lambda: f"create_savepoint(table => '{t}', commit_time => '{need()}')",
            "delete-savepoint":
                lambda: f"delete_savepoint(table => '{t}', instant_time => '{need()}')",
            "restore": lambda: f"rollback_to_savepoint(table => '{t}', instant_time => '{need()}')",
            "upgrade": lambda: f"upgrade_table(table => '{t}', to_version => '{need()}')",
            "downgrade": lambda: f"downgrade_table(table => '{t}', to_version => '{need()}')",
            "commits": lambda: f"show_commits(table => '{t}', limit => 1000)",
            "validate-metadata": lambda: f"validate_metadata_table_files(table => '{t}')",
            "logs": lambda: f"show_logfile_metadata(table => '{t}', "
                            f"log_file_path_pattern => '{args.log or path + '/**/.*log*'}')",
        }
        if args.what not in plain:
            raise SystemExit(f"unknown service '{args.what}'; one of: " + ", ".join(plain))
        for k, v in ALWAYS.items():
            self.spark.sql(f"SET {k}={v}")
        self.rows_of(f"CALL {plain[args.what]()}", out)
        for k in ALWAYS:
            self.spark.conf.unset(k)

    def call(self, path, args, out):
        self.rows_of("CALL " + args.statement.replace("{t}", self.register(path)), out)

    def rows_of(self, statement, out):
        df = self.spark.sql(statement)
        write_json_lines([to_json(r, df.schema) for r in df.collect()], out)


def last_cause(e):
    """The deepest messages of a Java exception, short enough for one screen."""
    java = getattr(e, "java_exception", None)
    if java is None:
        return f"{type(e).__name__}: {e}".strip()
    lines = []
    for _ in range(12):
        if java is None:
            break
        text = java.toString()
        if not lines or text not in lines[-1]:
            lines.append(text[:800])
        java = java.getCause()
    return "\n  caused by: ".join(lines)


# ------------------------------------------------------------ command line ---

def parser():
    p = argparse.ArgumentParser(
        prog="spark-hudi", description="Real Apache Hudi on Spark; see README.md.",
        epilog="--hudi VERSION (anywhere on the line) picks Hudi; default 0.15.0.")
    p.add_argument("--verbose", action="store_true", help="Spark's warnings, full stack traces")
    p.add_argument("--memory", default=os.environ.get("LIBHUDI_SPARK_MEMORY", "2g"))
    p.add_argument("--full-speed", action="store_true",
                   help="all JIT levels and generated code: for large tables")
    p.add_argument("--spark", action="append", metavar="K=V", help="a Spark setting")
    sub = p.add_subparsers(dest="command", required=True)

    def cmd(name, help_text):
        c = sub.add_parser(name, help=help_text)
        if name != "batch":
            c.add_argument("table")
        c.add_argument("--out", help="write the rows there, not to standard output")
        return c

    c = cmd("read", "rows as JSON lines")
    c.add_argument("--as-of", metavar="T")
    c.add_argument("--incremental-from", metavar="T")
    c.add_argument("--incremental-to", metavar="T")
    c.add_argument("--cdc", action="store_true", help="with --incremental-from: change rows")
    c.add_argument("--read-optimized", action="store_true")
    c.add_argument("--columns", nargs="+")
    c.add_argument("--sort", nargs="+", help="sort columns (default: record key, partition)")
    c.add_argument("--where", help="a Spark SQL condition")
    c.add_argument("--count", action="store_true", help="print only the number of rows")
    c.add_argument("--options", nargs="+", metavar="K=V")

    c = cmd("schema", "the table's schema as Spark sees it")

    c = cmd("write", "write rows with Hudi")
    c.add_argument("--op", required=True, choices=[
        "upsert", "insert", "bulk_insert", "delete", "insert_overwrite",
        "insert_overwrite_table", "delete_partition"])
    c.add_argument("--input", required=True, help="FILE.jsonl, FILE.parquet or a Parquet folder")
    c.add_argument("--schema", help="of a JSON-lines input, as Spark DDL: 'id long, d decimal(10,2)'")
    c.add_argument("--name", help="table name (new tables)")
    c.add_argument("--key", help="record key field(s), comma between")
    c.add_argument("--partition", help="partition field(s), comma between")
    c.add_argument("--ordering", help="precombine/ordering field")
    c.add_argument("--table-type", choices=["COPY_ON_WRITE", "MERGE_ON_READ"])
    c.add_argument("--options", nargs="+", metavar="K=V")

    c = cmd("service", "table services, by CALL procedures")
    c.add_argument("what")
    c.add_argument("--instant")
    c.add_argument("--order", help="cluster: sort columns")
    c.add_argument("--retain", type=int, help="clean, archive: commits to keep")
    c.add_argument("--min", type=int, default=2, help="archive: min_commits")
    c.add_argument("--max", type=int, default=3, help="archive: max_commits")
    c.add_argument("--log", help="logs: path pattern")
    c.add_argument("--options", nargs="+", metavar="K=V")

    c = cmd("sql", "one SQL statement; {t} in it stands for the table")
    c.add_argument("statement")
    c = cmd("call", "one CALL procedure; {t} in it stands for the table")
    c.add_argument("statement", metavar="'procedure(args)'")

    c = cmd("batch", "many commands, one a line, in one JVM")
    c.add_argument("file", help="file of commands, or - for standard input")
    c.add_argument("--keep-going", action="store_true", help="go on after a failed command")
    return p


def run_one(runner, args):
    path = os.path.abspath(args.table)
    out = open(args.out, "w", encoding="utf-8") if args.out else sys.stdout
    try:
        getattr(runner, args.command)(path, args, out)
    finally:
        out.flush()
        if args.out:
            out.close()


def attempt(runner, args, verbose):
    try:
        run_one(runner, args)
        return None
    except (Exception, SystemExit) as e:
        if verbose:
            traceback.print_exc()
        return last_cause(e)


def run_batch(runner, args, verbose):
    """Each command line, then one status line {"ok":..., "command":...}."""
    source = sys.stdin if args.file == "-" else open(args.file, encoding="utf-8")
    failed = 0
    for line in iter(source.readline, ""):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        status = {"ok": True, "command": line}
        start = time.time()
        try:
            words = shlex.split(line)
            problem = attempt(runner, parser().parse_args(words), verbose)
        except SystemExit:
            problem = "bad command line"
        status["seconds"] = round(time.time() - start, 3)
        if problem:
            failed += 1
            status.update(ok=False, error=problem)
        print(json.dumps(status, ensure_ascii=False), flush=True)
        if problem and not args.keep_going:
            break
    return 1 if failed else 0


def keep_stdout_clean():
    """Standard output is for rows only: the JVM's own goes to standard error."""
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)


def main():
    args = parser().parse_args()
    keep_stdout_clean()
    spark = make_session(os.environ["SPARK_HUDI_JAR"], args.memory,
                         log_level="warn" if args.verbose else "off",
                         quick=not args.full_speed, extra=split_options(args.spark))
    try:
        runner = Runner(spark)
        if args.command == "batch":
            return run_batch(runner, args, args.verbose)
        problem = attempt(runner, args, args.verbose)
        if problem:
            print(f"spark-hudi: {problem}", file=sys.stderr)
            return 1
        return 0
    finally:
        stop_session(spark)


if __name__ == "__main__":
    sys.exit(main())
