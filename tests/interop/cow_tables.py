# SPDX-License-Identifier: Apache-2.0
"""Tables made by `hudi write`, and the rows that must be in them by a model of a few lines."""
import copy

COLUMNS = {"id": "string", "p": "string", "v": "string", "n": "long", "ts": "long"}
PARTITIONS = ["a", "b", "c"]
KEYGEN = "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen."


def as_words(options):
    """Options as words of a command line."""
    return [word for option in options for word in ("-o", option)]


def row(i, version=0, **other):
    """Row i as its version-th write gives it; every fifth n and every seventh v are null."""
    values = {"id": f"id-{i:04}", "p": PARTITIONS[i % 3], "v": None if i % 7 == 0 else f"v{version}-{i} ä€",
              "n": None if i % 5 == 0 else i * 1_000_003 - version, "ts": 1000 + version}
    return {**values, **other}


def rows(numbers, version=0, **other):
    return [row(i, version, **other) for i in numbers]


class Model:
    """What a table holds: rows by key (with the partition, unless the index is global)."""

    def __init__(self, key, order):
        self.key, self.order, self.held = key, order, {}

    def identity(self, one):
        return tuple(one[name] for name in self.key)

    def partition(self, one):
        return tuple(one.get(name) for name in self.partition_columns)

    partition_columns = ("p",)

    def apply(self, op, given):
        if op == "insert_overwrite_table":
            self.held.clear()
        elif op == "insert_overwrite":
            replaced = {self.partition(one) for one in given}
            self.held = {k: one for k, one in self.held.items() if self.partition(one) not in replaced}
        for one in given:
            k = self.identity(one)
            if op == "delete":
                self.held.pop(k, None)
            elif op != "upsert" or k not in self.held or one[self.order] >= self.held[k][self.order]:
                self.held[k] = one

    def drop_partition(self, value):
        self.held = {k: one for k, one in self.held.items() if one["p"] != value}

    def rows(self):
        return list(self.held.values())


class Table:
    """One case: how the table is made, and the steps that fill it."""

    def __init__(self, *steps, columns=None, key="id", partition="p", identity=None, options=(), versions=(6, 3)):
        self.steps, self.columns = steps, columns or COLUMNS
        self.key, self.partition = key, partition
        fields = [field.partition(":")[0] for field in f"{key},{partition}".split(",") if field]
        self.identity = identity or list(dict.fromkeys(fields))
        self.options, self.versions = list(options), versions

    only_writes = []

    def make(self, hudi, path, version):
        """Write the table; the rows that are in it now."""
        schema = path.with_name(path.name + ".schema")
        schema.write_text("".join(f"{name} {kind}\n" for name, kind in self.columns.items()), encoding="utf-8")
        create = ["--schema", schema, "--key", self.key, "--order-by", "ts"]
        if self.partition:
            create += ["--partition-by", self.partition]
        hudi.run("create", path, *create, *as_words([f"hoodie.write.table.version={version}", *self.options]))
        model = Model(self.identity, "ts")
        for op, given in self.steps:
            if op == "delete_partition":
                hudi.run("write", path, "--op", op, "--partitions", ",".join(given))
                for value in given:
                    model.drop_partition(value)
                continue
            hudi.write(path, given, "--op", op, *self.write_options())
            model.apply(op, given)
        return model.rows()

    def as_merge_on_read(self):
        """The same steps; all updates go to log files, for no base file takes inserts in."""
        other = copy.copy(self)
        other.options = [*self.options, "hoodie.table.type=MERGE_ON_READ"]
        other.only_writes = ["hoodie.parquet.small.file.limit=0"]
        return other

    def write_options(self):
        """Options that no table keeps."""
        options = [option for option in self.options if option.startswith("hoodie.index")] + self.only_writes
        if ":" in self.partition:
            options.append(f"hoodie.datasource.write.partitionpath.field={self.partition}")
        return as_words(options)


UPSERTS = (("insert", rows(range(30))), ("upsert", rows(range(20, 40), 1)), ("delete", rows([3, 25, 39])))


def upserts(**other):
    """Insert, upsert and delete, with other columns by functions of the row's number."""
    def some(numbers, version):
        return [row(i, version, **{name: make(i) for name, make in other.items()}) for i in numbers]
    return ("insert", some(range(30), 0)), ("upsert", some(range(20, 40), 1)), ("delete", some([3, 25, 39], 1))


SCALARS = {"id": "string", "p": "string", "ts": "long", "b": "boolean", "i": "int", "l": "long", "f": "float",
           "d": "double", "s": "string", "bin": "binary", "dec": "decimal(10,2)", "big": "decimal(30,10)",
           "day": "date", "millis": "timestamp_millis"}
SCALAR_ROWS = [
    {"b": True, "i": -2**31, "l": -2**63, "f": 0.1, "d": 0.1, "s": "", "bin": "", "dec": "-99999999.99",
     "big": "12345678901234567890.0123456789", "day": "1582-10-15", "millis": "1969-12-31T23:59:59.999Z"},
    {"b": False, "i": 2**31 - 1, "l": 2**63 - 1, "f": "NaN", "d": "NaN", "s": "tab\t\"quote\" \\ 😀", "bin": "AP+A",
     "dec": "0.00", "big": "-0.0000000001", "day": "1969-12-31", "millis": "2024-02-29T12:34:56.789Z"},
    {"b": True, "i": 0, "l": 0, "f": "-Infinity", "d": "Infinity", "s": "a" * 3000, "bin": "AA==", "dec": "0.01",
     "big": "1.0000000000", "day": "9999-12-31", "millis": "9999-12-31T23:59:59.999Z"},
    {"b": None, "i": None, "l": None, "f": -0.0, "d": 5e-324, "s": None, "bin": None, "dec": None, "big": None,
     "day": None, "millis": None},
    {"b": False, "i": 7, "l": 7, "f": None, "d": None, "s": "x", "bin": "AQID", "dec": "12.30",
     "big": "99999999999999999999.9999999999", "day": "2024-02-29", "millis": "1900-01-01T00:00:00.000Z"},
]
MICROS = {"id": "string", "p": "string", "ts": "long", "micros": "timestamp"}
MICROS_ROWS = [{"micros": "1969-12-31T23:59:59.999999Z"}, {"micros": "2024-02-29T12:34:56.789012Z"}, {"micros": None}]
LOCAL = {"id": "string", "p": "string", "ts": "long", "local": "timestamp_ntz"}
LOCAL_ROWS = [{"local": "1969-12-31T23:59:59.999999"}, {"local": "2024-02-29T12:34:56.789012"}, {"local": None}]
OLD_DAYS = {"id": "string", "p": "string", "ts": "long", "day": "date"}
OLD_DAY_ROWS = [{"day": "0999-12-31"}, {"day": "0001-01-01"}, {"day": None}]
NESTED = {"id": "string", "p": "string", "ts": "long", "tags": "array<string>", "nums": "map<string,long>",
          "point": "struct<x:double,label:string,deep:struct<y:int>>", "lists": "array<array<int>>",
          "many": "array<struct<k:string,n:long>>"}
NESTED_ROWS = [
    {"tags": ["a", "b"], "nums": {"one": 1, "two": 2}, "point": {"x": 1.5, "label": "l", "deep": {"y": 1}},
     "lists": [[1, 2], [3]], "many": [{"k": "k", "n": 1}, {"k": None, "n": None}]},
    {"tags": [], "nums": {}, "point": {"x": None, "label": None, "deep": None}, "lists": [[]], "many": []},
    {"tags": None, "nums": None, "point": None, "lists": None, "many": None},
    {"tags": ["only"], "nums": {"n": None}, "point": {"x": 0.0, "label": "", "deep": {"y": None}},
     "lists": [], "many": [{"k": "", "n": -1}]},
]
NULL_ITEMS = {"id": "string", "p": "string", "ts": "long", "tags": "array<string>", "lists": "array<array<int>>",
              "many": "array<struct<k:string>>"}
NULL_ITEM_ROWS = [{"tags": ["a", None, "b"], "lists": [None, [1, None]], "many": [None, {"k": "k"}]},
                  {"tags": [None], "lists": [[None]], "many": [None]}]


def typed(columns, patterns):
    """Rows of all patterns, inserted; then shifted by one pattern, upserted."""
    def some(numbers, version):
        return [{"id": f"id-{i:04}", "p": PARTITIONS[i % 3], "ts": version,
                 **patterns[(i + version) % len(patterns)]} for i in numbers]
    return Table(("insert", some(range(20), 0)), ("upsert", some(range(10, 25), 1)), columns=columns)


CALENDAR = {**COLUMNS, "day": "string", "millis": "long"}
DAY = 86_400_000
WORDS = ["a b", "x/y", "50%", "ü=1", "a:b"]
TIMED = ["hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS",
         "hoodie.keygen.timebased.output.dateformat=yyyy-MM-dd", "hoodie.keygen.timebased.timezone=UTC"]

TABLES = {
    "bulk_insert": Table(("bulk_insert", rows(range(40)))),
    "insert": Table(("insert", rows(range(30))), ("insert", rows(range(30, 40)))),
    "upsert": Table(("upsert", rows(range(30))), ("upsert", rows(range(20, 40), 1)),
                    ("upsert", rows(range(5), -1))), # late rows, which lose
    "delete": Table(*UPSERTS),
    "delete_all": Table(("insert", rows(range(9))), ("delete", rows([0, 3, 6]))), # an emptied base file
    "insert_overwrite": Table(("insert", rows(range(30))), ("insert_overwrite", rows(range(0, 60, 6), 1))),
    "insert_overwrite_table": Table(("insert", rows(range(30))), ("insert_overwrite_table", rows(range(7), 1))),
    "delete_partition": Table(("insert", rows(range(30))), ("delete_partition", ["b"]),
                              ("upsert", rows(range(25, 35), 1))),
    "complex_key": Table(*upserts(k2=lambda i: i % 2), key="id,k2", columns={**COLUMNS, "k2": "long"}),
    "complex_key_of_one": Table(*UPSERTS, options=[KEYGEN + "ComplexKeyGenerator"]),
    "no_partition": Table(*UPSERTS, partition=""),
    "hive_style": Table(*UPSERTS, options=["hoodie.datasource.write.hive_style_partitioning=true"]),
    "url_encoded": Table(*upserts(p=lambda i: WORDS[i % 5]),
                         options=["hoodie.datasource.write.partitionpath.urlencode=true"]),
    "hive_style_url_encoded": Table(*upserts(p=lambda i: WORDS[i % 5]),
                                    options=["hoodie.datasource.write.partitionpath.urlencode=true",
                                             "hoodie.datasource.write.hive_style_partitioning=true"]),
    "two_levels": Table(*upserts(day=lambda i: f"2024-01-{1 + i % 2:02}", millis=lambda i: i),
                        partition="p,day", columns=CALENDAR),
    "two_levels_hive_style": Table(*upserts(day=lambda i: f"2024-01-{1 + i % 2:02}", millis=lambda i: i),
                                   partition="p,day", columns=CALENDAR,
                                   options=["hoodie.datasource.write.hive_style_partitioning=true"]),
    "timestamp_key_generator": Table(*upserts(day=lambda i: None, millis=lambda i: 1_700_000_000_000 + i % 3 * DAY),
                                     partition="millis", columns=CALENDAR,
                                     options=[KEYGEN + "TimestampBasedKeyGenerator", *TIMED]),
    "custom_key_generator": Table(*upserts(day=lambda i: None, millis=lambda i: 1_700_000_000_000 + i % 2 * DAY),
                                  partition="p:simple,millis:timestamp", columns=CALENDAR,
                                  options=[KEYGEN + "CustomKeyGenerator", *TIMED]),
    "null_partition": Table(*upserts(p=lambda i: None if i % 4 == 0 else "a")),
    "scalars": typed(SCALARS, SCALAR_ROWS),
    "micros": typed(MICROS, MICROS_ROWS),
    "local_times": typed(LOCAL, LOCAL_ROWS),
    "old_days": typed(OLD_DAYS, OLD_DAY_ROWS),
    "nested": typed(NESTED, NESTED_ROWS),
    "null_items": typed(NULL_ITEMS, NULL_ITEM_ROWS),
    "global_index": Table(("insert", rows(range(30))), ("upsert", rows(range(20, 40), 1, p="c")),
                          identity=["id"], options=["hoodie.index.type=GLOBAL_BLOOM"]),
    "virtual_keys": Table(*UPSERTS, options=["hoodie.populate.meta.fields=false"]),
    "new_column": Table(("insert", rows(range(20))), ("upsert", rows(range(15, 30), 1, extra=1))),
}


def is_mor(name):
    return name.startswith("mor_")


TABLES |= {f"mor_{name}": table.as_merge_on_read() for name, table in TABLES.items()}
