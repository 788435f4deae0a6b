# SPDX-License-Identifier: Apache-2.0
"""A table drawn from a seed: its type, keys, partitions, merge rule, index and columns, and random rows of it."""
import datetime

PACKAGE = "org.apache.hudi.common.model."
KEYGEN = "org.apache.hudi.keygen."
# Their ordering value decides against a stored row too, else only among rows that come together or lie in log files.
BY_EVENT = ["DefaultHoodieRecordPayload", "EventTimeAvroPayload"]
PAYLOADS = [*BY_EVENT, *BY_EVENT, "OverwriteWithLatestAvroPayload", "OverwriteWithLatestAvroPayload",
            "OverwriteNonDefaultsWithLatestAvroPayload", "PartialUpdateAvroPayload"]
SPARK_TYPES = {"long": "bigint"}

# name: type, values
EXTRAS = {
    "n": ("int", lambda random: random.randint(-5, 5)),
    "d": ("double", lambda random: random.choice([0.1, -2.5, 0.0, 1e300])),
    "f": ("float", lambda random: random.choice([0.5, -2.25, 0.0])),
    "b": ("boolean", lambda random: random.random() < 0.5),
    "dec": ("decimal(10,2)", lambda random: f"{random.randint(-99999, 99999) / 100:.2f}"),
    "at": ("timestamp", lambda random: f"2024-02-{random.randint(10, 28)}T12:34:56.{random.randint(1, 999999):06}Z"),
    "day": ("date", lambda random: f"2024-02-{random.randint(10, 28)}"),
    "bin": ("binary", lambda random: random.choice(["", "AP+A", "AA=="])),
    "tags": ("array<string>", lambda random: random.choice([[], ["a"], ["a", "ä", ""]])),
    "nums": ("map<string,long>", lambda random: random.choice([{}, {"one": 1}, {"one": 1, "two": 2}])),
    "point": ("struct<x:double,label:string,deep:struct<y:int>>", lambda random: random.choice(
        [{"x": 1.5, "label": "l", "deep": {"y": 1}}, {"x": None, "label": "", "deep": None}])),
    "many": ("array<struct<k:string,n:long>>", lambda random: random.choice([[], [{"k": "k", "n": None}]])),
}
# Columns that later rows bring along, of the types that JSON tells.
ADDED = {
    "more_n": ("long", lambda random: random.randint(-5, 5)),
    "more_d": ("double", lambda random: random.choice([0.5, -2.5, 1e300])),
    "more_b": ("boolean", lambda random: random.random() < 0.5),
    "more_s": ("string", lambda random: random.choice(["", "ä", "s"])),
    "more_tags": ("array<string>", lambda random: random.choice([["a"], ["a", "ä", ""]])),
}
EPOCH = datetime.datetime(2024, 1, 1)
# type of the ordering field, and the clock's tick as one
ORDERINGS = {
    "long": lambda tick: tick,
    "int": lambda tick: tick,
    "double": lambda tick: tick / 4,
    "string": lambda tick: f"{tick:06}",
    "timestamp": lambda tick: (EPOCH + datetime.timedelta(seconds=tick)).isoformat() + ".000000Z",
    "date": lambda tick: (EPOCH + datetime.timedelta(days=tick)).date().isoformat(),
    "decimal(12,3)": lambda tick: f"{tick / 8:.3f}",
}


class Drawn:
    """What a seed says of a table; `random` goes on to say what happens to it."""

    def __init__(self, random):
        self.random = random
        pick, chance = random.choice, random.random
        self.mor = chance() < 0.6
        self.maker = pick(["ours", "theirs"])
        self.key_type = pick(["string", "string", "long"])
        self.keys = ["id", "k2"] if chance() < 0.2 else ["id"]
        self.partitions = pick([[], ["p"], ["p"], ["p"], ["p", "q"]])
        self.hive, self.encoded = chance() < 0.3, chance() < 0.2
        self.words = ["a b", "x/y", "ü=1"] if self.encoded else ["a", "b", "c"]
        self.ordering = pick(["long", "long", *ORDERINGS])
        self.payload = pick(PAYLOADS)
        self.index = pick(["BLOOM", "SIMPLE", "BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"])
        self.moves = pick(["true", "true", "false"])
        self.small = pick([0, 104857600])
        self.row_writer = chance() < 0.3
        self.delete_column = chance() < 0.3
        self.marker = self.payload == "DefaultHoodieRecordPayload" and chance() < 0.4
        self.nulls = chance() < 0.2 # as partitions
        self.our_options = [f"hoodie.logfile.data.block.format={pick(['avro', 'avro', 'parquet'])}",
                            f"libhudi.log.append.enable={pick(['false', 'false', 'true'])}"] if self.mor else []
        self.n_ids = pick([8, 15, 30])
        self.tick = 100
        names = [name for name in EXTRAS if chance() < 0.3]
        if self.row_writer: # whose decimals 0.15 reads a hundred times too large when it merges them
            names = [name for name in names if name != "dec"]
        self.columns = {"id": self.key_type, "k2": "int", "p": "string", "q": "int", "ts": self.ordering, "s": "string",
                        **{name: EXTRAS[name][0] for name in names}}
        if self.delete_column:
            self.columns["_hoodie_is_deleted"] = "boolean"
        self.floats = {name for name, kind in self.columns.items() if kind == "float"}

    @property
    def merges_columns(self):
        return self.payload in ("OverwriteNonDefaultsWithLatestAvroPayload", "PartialUpdateAvroPayload")

    @property
    def is_global(self):
        return "GLOBAL" in self.index

    @property
    def wants_one(self):
        """No key may be stored twice: of two rows of a base file Hudi merges log records with the first alone, and of a
        key in two partitions it makes two where one moves."""
        return self.mor or self.is_global

    def key_generator(self):
        if not self.partitions:
            return "NonpartitionedKeyGenerator"
        return "ComplexKeyGenerator" if len(self.keys + self.partitions) > 2 else "SimpleKeyGenerator"

    def table_options(self):
        """Options that a table is made with."""
        flags = {"hoodie.datasource.write.hive_style_partitioning": self.hive,
                 "hoodie.datasource.write.partitionpath.urlencode": self.encoded}
        return [*(f"{name}={str(value).lower()}" for name, value in flags.items()),
                f"hoodie.datasource.write.keygenerator.class={KEYGEN}{self.key_generator()}",
                f"hoodie.datasource.write.payload.class={PACKAGE}{self.payload}"]

    def write_options(self):
        """Options that each write names."""
        return [f"hoodie.index.type={self.index}", f"hoodie.parquet.small.file.limit={self.small}",
                f"hoodie.bloom.index.update.partition.path={self.moves}",
                f"hoodie.simple.index.update.partition.path={self.moves}",
                f"hoodie.datasource.write.payload.class={PACKAGE}{self.payload}",
                "hoodie.write.complex.keygen.new.encoding=true",
                *(["hoodie.payload.delete.field=s", "hoodie.payload.delete.marker=gone"] if self.marker else []),
                "hoodie.clean.automatic=false", "hoodie.archive.automatic=false", "hoodie.compact.inline=false"]

    def ddl(self, names=None):
        """The columns as Spark says it."""
        kinds = {name: kind for name, kind in self.columns.items() if names is None or name in names}
        for ours, sparks in SPARK_TYPES.items():
            kinds = {name: kind.replace(ours, sparks) for name, kind in kinds.items()}
        return ", ".join(f"{name} {kind}" for name, kind in kinds.items())

    def add_column(self):
        left = [name for name in ADDED if name not in self.columns]
        name = self.random.choice(left) if left else None
        if name:
            self.columns[name] = ADDED[name][0]
        return name

    def row(self, i, deletes=True):
        random = self.random
        tick = self.tick + random.choice([0, 0, 0, 1, 2, -1, -10, -20])
        moved = random.random() < 0.15
        row = {"id": i if self.key_type == "long" else f"id-{i:03}", "k2": i % 2,
               "p": self.words[(i + moved) % 3], "q": i % 2, "ts": ORDERINGS[self.ordering](tick),
               "s": None if random.random() < 0.2 else f"s{random.randint(0, 999)}"}
        if self.nulls and i % 4 == 0:
            row["p"] = None
        if self.marker and deletes and random.random() < 0.2:
            row["s"] = "gone"
        for name in self.columns:
            if name not in row:
                row[name] = None if random.random() < 0.2 else self.value(name, deletes)
        return row

    def value(self, name, deletes):
        if name == "_hoodie_is_deleted":
            return deletes and self.random.random() < 0.2
        return {**EXTRAS, **ADDED}[name][1](self.random)

    def rows(self, numbers, deletes=True, twice=True):
        """Some rows; now and then a key comes twice."""
        # Of records whose fields it merges Hudi takes the later one's partition, whichever has the fields.
        twice = twice and not (self.is_global and self.payload == "PartialUpdateAvroPayload")
        numbers = list(numbers)
        self.tick += self.random.choice([0, 3, 10])
        if twice and numbers and self.random.random() < 0.4:
            numbers += self.random.choices(numbers, k=min(len(numbers), self.random.randint(1, 5)))
        return [self.row(i, deletes) for i in numbers]

    def some_ids(self):
        return self.random.sample(range(self.n_ids), self.random.randint(1, max(1, self.n_ids // 2)))

    def __str__(self):
        told = {name: value for name, value in vars(self).items() if name not in ("random", "tick", "floats")}
        return " ".join(f"{name}={value}" for name, value in told.items())
