# SPDX-License-Identifier: Apache-2.0
"""A table, and in memory what must be in it after each write.

What is expected follows docs/format/log-format.md 7 for tables before version 8: a file group holds
for each key a row of its base file and an entry of its log files. Which of the two a write changed
is taken from its commit metadata.
"""
import copy
import json
import os
import pathlib
import random
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HUDI_PROGRAM", str(ROOT / "build" / "dev" / "hudi"))
ENVIRONMENT = {**os.environ, "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp"}
META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
        "_hoodie_partition_path", "_hoodie_file_name"]
DELETED = "deleted"  # an entry: a delete with its ordering value behind it
PACKAGE = "org.apache.hudi.common.model."
VERSIONS = [6, 2, 4, 5, 6, 3, 6, 6] # of tables, by their seeds, so that few of these have each


class Wrong(Exception):
    pass


class Place:
    """A key in a file group."""

    def __init__(self, file_id, base):
        self.file_id = file_id
        self.partition = base["p"]
        self.base = base
        self.log = None
        self.pending = None  # time of a compaction that is to merge the log
        self.later = []      # what was appended since that was planned

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return (f"Place({self.file_id}, base={self.base}, log={self.log}, "
                f"pending={self.pending}, later={self.later})")


def order(value):
    return (-1, 0) if value is None else (0, value)


class Writes:
    """The table, and writes of it."""

    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.seed = seed
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "t"
        self.did = []
        self.keys = {}     # (partition, id), or id when the index is global: places
        self.states = {}   # instant: keys after it, and the rewrites that they know of
        self.snapshots = {}
        self.savepoints = set()
        self.rewrites = {} # completed compactions and clusterings by their instant, in that order
        self.applied = set() # those that `keys` knows of
        self.n_inputs = 0
        self.read_now = None
        self.versions_cleaned = False
        self.readable_from = ""
        self.kinds = {} # of completed instants, by the names of their files
        self.configure()

    # ---- the table ----------------------------------------------------------------------------

    def configure(self):
        pick, chance = self.random.choice, self.random.random
        self.mor = chance() < 0.85
        self.version = VERSIONS[self.seed % len(VERSIONS)]
        self.ordered = chance() < 0.8
        self.payload = "OverwriteWithLatestAvroPayload" if not self.ordered else pick(
            ["DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload",
                             "EventTimeAvroPayload"])
        if self.version == 2 and self.payload == "EventTimeAvroPayload":
            self.payload = "DefaultHoodieRecordPayload" # the other came with version 3
        self.event_time = self.payload != "OverwriteWithLatestAvroPayload"
        self.partitions = pick([["p0"], ["p0", "p1", "p2"], ["p0", "p1", "p2"]])
        self.partitioned = len(self.partitions) > 1
        self.index = pick(["BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"])
        self.is_global = "GLOBAL" in self.index
        self.meta = chance() < 0.85
        self.fat = chance() < 0.15
        self.delete_column = chance() < 0.5
        self.id_type = pick(["string", "long"])
        self.n_ids = pick([12, 40, 150])
        small = pick([0, 0, 104857600, 104857600, 20000]) if self.meta else 0
        schema = [f"id {self.id_type} not null", "p string", "at long", "a string", "n int",
                  "d double", "b boolean"]
        if self.delete_column:
            schema.append("_hoodie_is_deleted boolean")
        (self.folder / "schema").write_text("\n".join(schema) + "\n")
        words = ["--schema", self.folder / "schema", "--key", "id"]
        if self.ordered:
            words += ["--order-by", "at"]
        if self.partitioned:
            words += ["--partition-by", "p"]
        options = {
            "hoodie.write.table.version": self.version,
            "hoodie.table.type": "MERGE_ON_READ" if self.mor else "COPY_ON_WRITE",
            "hoodie.datasource.write.payload.class": PACKAGE + self.payload,
            "hoodie.populate.meta.fields": str(self.meta).lower()}
        self.options = {
            "hoodie.index.type": self.index,
            "hoodie.bloom.index.update.partition.path": "true",
            "hoodie.simple.index.update.partition.path": "true",
            "hoodie.index.bloom.num_entries": pick([10, 100, 1000]),
            "hoodie.index.bloom.fpp": "0.01",
            "hoodie.parquet.small.file.limit": small,
            "hoodie.parquet.max.file.size": pick([40000, 125829120]),
            "hoodie.copyonwrite.record.size.estimate": pick([1024, 4000]),
            "hoodie.logfile.max.size": pick([1, 2000, 1073741824]),
            "hoodie.logfile.data.block.max.size": pick([1, 300, 3000, 268435456]),
            "hoodie.merge.small.file.group.candidates.limit": pick([1, 3]),
            "libhudi.threads": pick([1, 2, 4])}
        if chance() < 0.3:
            self.options["libhudi.memory.budget.bytes"] = pick([1 << 20, 3 << 20, 16 << 20])
        if self.mor:
            self.options["libhudi.log.append.enable"] = pick(["false", "true"])
            if self.version >= 4:
                self.options["hoodie.logfile.data.block.format"] = pick(["avro", "avro", "parquet"])
        self.compacts = self.mor and self.meta and chance() < 0.7
        if self.compacts and chance() < 0.4:
            self.options.update({pick(["hoodie.compact.inline", "hoodie.compact.schedule.inline"]):
                                 "true", "hoodie.compact.inline.max.delta.commits": pick([1, 2])})
        self.clusters = self.meta and chance() < 0.6
        if self.clusters and chance() < 0.3:
            self.options.update({
                pick(["hoodie.clustering.inline", "hoodie.clustering.schedule.inline"]): "true",
                "hoodie.clustering.inline.max.commits": pick([1, 2, 3])})
        self.clean_commits = pick([1, 2, 3, 5])
        self.auto = chance() < 0.5
        if self.auto:
            self.options.update({"hoodie.cleaner.commits.retained": self.clean_commits,
                                 "hoodie.keep.min.commits": self.clean_commits + 1,
                                 "hoodie.keep.max.commits": self.clean_commits + 2})
        else:
            self.options.update({"hoodie.clean.automatic": "false",
                                 "hoodie.archive.automatic": "false"})
        self.event_time = self.event_time and self.ordered
        self.say("create", options, self.options, ordered=self.ordered,
                 partitions=self.partitions, delete_column=self.delete_column)
        self.do("create", self.path, *words, *self.words(options))

    def say(self, *words, **more):
        self.did.append(" ".join(map(str, words)) + "".join(f" {k}={v}" for k, v in more.items()))

    @staticmethod
    def words(options):
        return [word for key, value in options.items() for word in ("-o", f"{key}={value}")]

    def run(self, *words, check=True):
        result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=120,
                                env=ENVIRONMENT, check=False)
        text = result.stderr.decode(errors="replace")
        if "Sanitizer" in text or "runtime error" in text or result.returncode < 0:
            raise Wrong(f"{words}: {result.returncode} {text}")
        if check and result.returncode != 0:
            raise Wrong(f"{words}: {result.returncode} {text} {result.stdout.decode()[-1500:]}")
        return result

    def do(self, *words):
        return self.run(*words).stdout.decode()

    def read(self, *words):
        options = {"libhudi.threads": self.random.choice([1, 3])}
        if self.random.random() < 0.3:
            options["libhudi.memory.budget.bytes"] = 1 << 20
        text = self.do("read", self.path, "--format", "jsonl", *words, *self.words(options))
        return [json.loads(line) for line in text.splitlines()]

    def instants(self):
        """Completed writes and services that write, of the active timeline: (time, kind)."""
        kinds = {"CLUSTER": "clustering", "LOG_COMPACT": "log compaction"}
        out = []
        for path in (self.path / ".hoodie").iterdir():
            time_, _, action = path.name.partition(".")
            if action not in ("commit", "deltacommit", "replacecommit"):
                continue
            if path.name not in self.kinds:
                kind = json.loads(path.read_bytes()).get("operationType")
                self.kinds[path.name] = kinds.get(
                    kind, "compaction" if self.mor and action == "commit" else "write")
            out.append((time_, self.kinds[path.name]))
        return sorted(out)

    def completed(self):
        """Times of the writes on the active timeline."""
        return [time_ for time_, action in self.instants() if action == "write"]

    def now(self):
        """The rows, read once after each step."""
        if self.read_now is None:
            self.read_now = self.read()
        return self.read_now

    # ---- what a table holds -------------------------------------------------------------------

    def key_of(self, row):
        partition = row["p"] if self.partitioned else ""
        return row["id"] if self.is_global else (partition, row["id"])

    def newer(self, older, newer_order):
        """Does what came later with that ordering value win over the row?"""
        return not self.ordered or order(older["at"]) <= order(newer_order)

    def merged(self, place):
        if place.later:
            place = copy.copy(place)
            later, place.later, place.pending = place.later, [], None
            for row, whole in later:
                self.append(place, row, whole)
        if place.log is None:
            return place.base
        if place.log[0] == DELETED:
            return None
        row = place.log[1]
        if place.base is not None and self.event_time and not self.newer(place.base, row["at"]):
            return place.base
        return row

    def live(self, key):
        for place in self.keys.get(key, []):
            row = self.merged(place)
            if row is not None:
                return place, row
        return None, None

    def rows(self):
        return [row for key in self.keys for row in [self.live(key)[1]] if row is not None]

    @staticmethod
    def is_delete(row):
        return bool(row.get("_hoodie_is_deleted"))

    def append(self, place, row, whole=False):
        """To the log. `whole`: by the delete operation, or since the row moved. Deletes of versions
        before 4 have no ordering value."""
        if place.pending:
            place.later.append((row, whole))
            return
        entry = (DELETED, None) if whole else \
            (DELETED, row["at"] if self.ordered and self.version >= 4 else None) \
            if self.is_delete(row) else ("row", row)
        if place.log is not None and place.log[0] != DELETED:
            if entry[0] == DELETED and entry[1] is not None and \
                    not self.newer(place.log[1], entry[1]):
                return
            if entry[0] != DELETED and not self.newer(place.log[1], row["at"]):
                return
        place.log = entry

    def merge(self, key, place, row, whole=False):
        """Into the base file."""
        if place.log is not None or place.pending:
            raise Wrong(f"{key}: a base file with log files was rewritten")
        wins = whole or self.is_delete(row) and self.payload == "EventTimeAvroPayload" and self.version == 6
        if not wins and self.event_time and not self.newer(place.base, row["at"]):
            return
        if whole or self.is_delete(row):
            self.keys[key].remove(place)
        else:
            place.base = row

    def combine(self, rows):
        out = {}
        for row in rows:
            key = self.key_of(row)
            old = out.get(key)
            if old is None or self.newer(old, row["at"]):
                out[key] = row
        return out

    # ---- writes -------------------------------------------------------------------------------

    def make_row(self, identity, partition=None):
        pick = self.random.choice
        ts = self.random.randrange(6)
        if self.ordered and self.random.random() < 0.04:
            ts = None
        a = pick(["", "x", "ü\U0001F600", None, "v" * 40]) if not self.fat else \
            self.random.choice("abcdef") + f"{self.random.random():.9f}" * 220
        row = {"id": identity if self.id_type == "long" else f"k{identity}",
               "p": partition or pick(self.partitions), "at": ts,
               "n": pick([None, 0, -1, 2147483647]), "d": pick([None, 0.5, -1e300]),
               "b": pick([None, True, False]), "a": a}
        if self.delete_column:
            row["_hoodie_is_deleted"] = pick([None, False, False, False, True])
        return row

    def write_rows(self, op):
        n = self.random.choice([1, 3, 10, self.n_ids])
        if op in ("upsert", "delete"):
            if not self.rows():
                n = self.n_ids
            return [self.make_row(self.random.randrange(self.n_ids)) for _ in range(n)]
        rows = []  # without a key that is there, or comes twice
        taken = set()
        some = self.random.sample(self.partitions, self.random.randint(1, len(self.partitions)))
        overwritten = set(some) if op == "insert_overwrite" else set()
        for _ in range(n):
            row = self.make_row(self.random.randrange(self.n_ids), self.random.choice(some))
            key = self.key_of(row)
            there = self.live(key)[1]
            if there is not None and op != "insert_overwrite_table" and \
                    not (there["p"] in overwritten and self.is_global) and \
                    not (op == "insert_overwrite" and not self.is_global):
                continue
            if key in taken:
                continue
            taken.add(key)
            rows.append(row)
        if op == "insert_overwrite" and self.is_global:
            got = {row["p"] for row in rows}
            rows = [row for row in rows
                    if self.live(self.key_of(row))[1] is None or
                    self.live(self.key_of(row))[1]["p"] in got]
            if {row["p"] for row in rows} != got:
                return []
        return rows

    def stats(self, instant):
        """By file id: does the commit append to log files of it?"""
        for action in ("deltacommit", "commit", "replacecommit"):
            path = self.path / ".hoodie" / f"{instant}.{action}"
            if path.exists():
                metadata = json.loads(path.read_bytes())
                return {stat["fileId"]: ".log." in stat["path"]
                        for stats in metadata["partitionToWriteStats"].values() for stat in stats}
        raise Wrong(f"{instant} is not there")

    def find_files(self, rows):
        """The file group that each row is in."""
        return {self.key_of(row): row["_hoodie_file_name"].split("_")[0] for row in rows}

    def find_new_files(self, instant):
        """Not now: an inline clustering may have come after the write."""
        return self.find_files(self.read("--as-of", instant)) if self.meta else {}

    def apply_upsert(self, rows, instant, whole):
        stats = self.stats(instant)
        inserted = []

        def change(key, place, row, away=False):
            appends = self.mor if not self.meta else stats.get(place.file_id)
            if appends is None:
                raise Wrong(f"{key}: {instant} did not write to {place.file_id}")
            if appends:
                self.append(place, row, whole or away)
            else:
                self.merge(key, place, row, whole or away)
        for key, row in self.combine(rows).items():
            place, stored = self.live(key)
            if place is None:
                places = self.keys.get(key, [])
                if places:
                    self.revived.append((key, row))
                elif not whole and not self.is_delete(row):
                    inserted.append((key, row))
                continue
            if self.is_global and self.partitioned and stored["p"] != row["p"] and \
                    self.moves(place, row):
                if not whole and not self.is_delete(row) and \
                        (not self.event_time or self.newer(stored, row["at"])):
                    change(key, place, row, away=True)
                    inserted.append((key, row))
                    continue
            change(key, place, row)
        files = self.find_new_files(instant)
        for key, row in inserted:
            self.keys.setdefault(key, []).insert(0, Place(files.get(key), row))
        for key, row in self.revived:
            self.revive(key, row, stats, files, whole)
        self.revived = []

    def moves(self, place, row):
        return place.partition != row["p"]

    def revive(self, key, row, stats, files, whole):
        """A key that log files deleted wherever it was."""
        places = self.keys[key]
        if whole or self.is_delete(row):
            return  # deleted again
        if len(places) == 1 and (not self.is_global or not self.moves(places[0], row)):
            place = places[0]
            appends = self.mor if not self.meta else stats.get(place.file_id)
            if appends:
                self.append(place, row)
                return
        if self.meta:
            for place in places:
                if place.file_id == files.get(key):
                    self.append(place, row)
                    return
        elif not self.is_global:
            self.append(places[0], row)
            return
        places.insert(0, Place(files.get(key), row))

    def fix_revivals(self, rows):
        """Keys that are dead in several places, or elsewhere: rows that win wherever they go."""
        out = []
        for row in rows:
            key = self.key_of(row)
            places = self.keys.get(key, [])
            if places and self.live(key)[1] is None and \
                    (len(places) > 1 or self.is_global or not self.meta):
                row = {**row, "at": 9}
                if self.delete_column:
                    row["_hoodie_is_deleted"] = None
            out.append(row)
        return out

    def apply(self, op, rows, instant):
        self.revived = []
        if op in ("upsert", "delete"):
            self.apply_upsert(rows, instant, op == "delete")
        elif op == "delete_partition":
            self.replace(set(rows))
        else:
            if op == "insert_overwrite":
                self.replace({row["p"] for row in rows})
            elif op == "insert_overwrite_table":
                self.replace(set(self.partitions))
            files = self.find_new_files(instant)
            for row in rows:
                if not self.is_delete(row):
                    key = self.key_of(row)
                    self.keys.setdefault(key, []).insert(0, Place(files.get(key), row))
        self.remember(instant)

    def replace(self, partitions):
        for key in list(self.keys):
            self.keys[key] = [place for place in self.keys[key] if self.partitioned and
                              place.partition not in partitions]

    def remember(self, instant):
        self.states[instant] = (copy.deepcopy(self.keys), set(self.applied))
        self.snapshots[instant] = self.sorted(self.rows())

    @staticmethod
    def sorted(rows):
        return sorted((json.dumps(row, sort_keys=True) for row in rows))

    def write(self, kill):
        ops = ["upsert"] * 8 + ["delete"] * 3 + ["insert"] * 2 + ["bulk_insert"]
        ops += ["insert_overwrite", "insert_overwrite_table", "delete_partition"]
        op = self.random.choice(ops) if self.rows() else "upsert"
        words = ["write", self.path, "--op", op, "--json", *self.words(self.options)]
        if op == "delete_partition":
            if not self.partitioned:
                return
            rows = self.random.sample(self.partitions, 1)
            words += ["--partitions", ",".join(rows)]
        else:
            rows = self.write_rows(op)
            if op == "upsert":
                rows = self.fix_revivals(rows)
            if not rows:
                return
            self.n_inputs += 1
            path = self.folder / f"in{self.n_inputs}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            words.insert(2, path)
        before = self.completed()
        self.say(op, words[2] if op != "delete_partition" else rows, "kill" if kill else "")
        if kill:
            self.kill(words)
            after = [time for time in self.completed() if time not in before and
                     time > max(before, default="")]
            if len(after) > 1:
                raise Wrong(f"{after} after one write")
            if after:
                self.say("  completed", after[0])
                self.apply(op, rows, after[0])
            return
        result = self.run(*words, check=False)
        if result.returncode != 0:
            if self.clusters and b"pending clustering" in result.stderr:
                self.say("  refused", result.stderr.decode().strip())
                return
            raise Wrong(f"{words}: {result.returncode} {result.stderr.decode()}")
        done = json.loads(result.stdout.decode())
        self.say("  ", done)
        self.apply(op, rows, done["instant"])

    def kill(self, words):
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        time.sleep(self.random.random() * 0.5)
        process.kill()
        process.wait()
