# SPDX-License-Identifier: Apache-2.0
"""What services make of the table that world.py keeps: nothing that a reader sees, or what it was before."""
import copy
import json

from world import Place, Writes, Wrong


class Services(Writes):
    def service(self, words, kill):
        self.say(*words, "kill" if kill else "")
        words = [words[0], self.path, *words[1:], *self.words(
            {k: v for k, v in self.options.items() if k.startswith("libhudi")})]
        if kill:
            self.kill(words)
        else:
            self.do(*words)

    def clean(self, kill):
        how = self.random.choice([["--commits", self.clean_commits]] * 4 + [["--versions", 2]])
        if how[0] == "--versions":
            self.versions_cleaned = True
        self.service(["clean", *how, *self.random.choice([[], [], ["--schedule"]])], kill)

    def archive(self, kill):
        self.service(["archive", "--min", self.clean_commits + 1, "--max", self.clean_commits + 2],
                     kill)

    def compact(self, kill):
        if self.compacts:
            how = self.random.choice([[], [], ["--schedule"], ["--run"]])
            self.service(["compact", *how], kill)

    def compact_logs(self, kill):
        if self.compacts and self.version == 6:
            how = self.random.choice([[], [], ["--schedule"], ["--run"]])
            self.service(["compact", "--logs", *how, "-o", "hoodie.log.compaction.blocks.threshold="
                          f"{self.random.randint(1, 3)}"], kill)

    def cluster(self, kill):
        if not self.clusters:
            return
        pick = self.random.choice
        how = pick([[], [], ["--schedule"], ["--run"]])
        how = how + pick([[], ["--sort", "a,n"], ["--sort", "n,at", "--layout", "hilbert"]])
        if how[-1:] != ["hilbert"] and self.random.random() < 0.3:
            how += ["-o", "hoodie.clustering.plan.strategy.max.bytes.per.group=100000"]
        if self.partitioned and self.random.random() < 0.3:
            how += ["--partitions", pick(self.partitions)]
        self.service(["cluster", *how], kill)

    # ---- what became of plans -----------------------------------------------------------------

    def metadata(self, instant):
        for action in ("commit", "replacecommit"):
            path = self.path / ".hoodie" / f"{instant}.{action}"
            if path.exists():
                return json.loads(path.read_bytes())
        raise Wrong(f"{instant} is not there")

    def see_rewrite(self, instant, action):
        if action == "log compaction": # which leaves each row in its place
            self.rewrites[instant] = {"action": action, "groups": set()}
            self.say(" ", action, instant)
            return
        metadata = self.metadata(instant)
        rewrite = {"action": action}
        if action == "compaction":
            rewrite["groups"] = {stat["fileId"] for stats in metadata["partitionToWriteStats"].values()
                                 for stat in stats}
        else:
            rewrite["groups"] = {name for names in metadata["partitionToReplaceFileIds"].values()
                                 for name in names}
            rewrite["files"] = self.find_files(self.read("--as-of", instant))
        self.rewrites[instant] = rewrite
        self.say(" ", action, instant, *sorted(rewrite["groups"]))

    def apply_rewrite(self, keys, instant):
        rewrite = self.rewrites[instant]
        for key, places in keys.items():
            for i, place in enumerate(places):
                if place.file_id not in rewrite["groups"]:
                    continue
                if rewrite["action"] == "clustering":
                    row = self.merged(place)
                    places[i] = Place(rewrite["files"].get(key), row) if row is not None else None
                    continue
                if place.pending not in (None, instant):
                    raise Wrong(f"{place}: compacted by {instant}")
                later, place.later, place.pending = place.later, [], None
                place.base, place.log = self.merged(place), None
                for row, whole in later:
                    self.append(place, row, whole)
            # what the new base files do not have
            keys[key] = [place for place in places if place is not None and
                         (place.base is not None or place.log is not None or place.later)]

    def see_services(self):
        """What became of the compactions and clusterings that this step planned, ran or undid."""
        instants = self.instants()
        for time_, action in instants:
            if action != "write" and time_ not in self.rewrites:
                self.see_rewrite(time_, action)
                self.apply_rewrite(self.keys, time_)
                self.applied.add(time_)
        if not self.compacts:
            return
        text = self.do("compact", self.path, "--pending", "--json")
        pending = {}
        for plan in [json.loads(line) for line in text.splitlines()]:
            for part in plan["slices"]:
                if part["file_id"] in pending:
                    raise Wrong(f"{part['file_id']} is in two plans")
                pending[part["file_id"]] = plan["instant"]
        for places in self.keys.values():
            for place in places:
                time_ = pending.get(place.file_id)
                if place.pending and place.pending != time_:
                    raise Wrong(f"{place}: its plan is gone, now {time_}")
                place.pending = time_

    # ---- back ---------------------------------------------------------------------------------

    def go_back(self, instant):
        """To what was after a write, with the rewrites that are left."""
        self.keys, self.applied = copy.deepcopy(self.states[instant])
        self.applied &= set(self.rewrites)
        for time_ in self.rewrites:
            if time_ not in self.applied:
                self.apply_rewrite(self.keys, time_)
                self.applied.add(time_)

    def forget(self, instant):
        self.rewrites.pop(instant, None)
        self.snapshots.pop(instant, None)
        self.states.pop(instant, None)

    def rollback(self, kill):
        before = self.instants()
        if not before or before[-1][0] in self.savepoints:
            return
        target = before[-1][0]
        earlier = [time_ for time_ in self.states if time_ < target]
        if not earlier:
            return
        if kill:
            self.service(["rollback", target], kill)
        result = self.run("rollback", self.path, target, check=False)
        self.say("rollback", target, before[-1][1], result.returncode, result.stderr.decode().strip())
        after = self.instants()
        if after == before:
            if result.returncode == 0:
                raise Wrong("rolled back, and still there")
            return
        if after != before[:-1] or (result.returncode != 0 and not kill):
            raise Wrong(f"a rollback made {after} of {before}")
        self.forget(target)
        self.go_back(max(earlier))

    def drop_plan(self, kill):
        """A clustering that nobody wants any more."""
        if not self.clusters:
            return
        text = self.do("cluster", self.path, "--pending", "--json")
        for line in text.splitlines():
            time_ = json.loads(line)["instant"]
            if kill:
                self.service(["rollback", time_], kill)
                return
            self.service(["rollback", time_], False)
            if time_ in self.do("cluster", self.path, "--pending", "--json"):
                raise Wrong(f"plan {time_} is still there")

    def take_savepoint(self, kill):
        known = [time_ for time_ in self.completed() if time_ in self.snapshots]
        if len(self.savepoints) > 1 or not known:
            return
        time_ = self.random.choice(known[-3:])
        if time_ in self.savepoints:
            return
        if kill:
            self.service(["savepoint", time_], kill)
        result = self.run("savepoint", self.path, time_, check=False)
        self.say("savepoint", time_, result.returncode, result.stderr.decode().strip())
        if result.returncode == 0 or (kill and b"savepointed already" in result.stderr):
            self.savepoints.add(time_)

    def drop_savepoint(self, kill):
        if not self.savepoints:
            return
        time_ = self.random.choice(sorted(self.savepoints))
        if kill:
            self.service(["savepoint", time_, "--delete"], kill)
        result = self.run("savepoint", self.path, time_, "--delete", check=False)
        self.say("savepoint", time_, "--delete", result.returncode)
        if result.returncode != 0 and not kill:
            raise Wrong(result.stderr.decode())
        self.savepoints.remove(time_)

    def restore(self, kill):
        known = [time_ for time_ in self.completed() if time_ in self.snapshots]
        targets = sorted(self.savepoints)
        if known and self.random.random() < 0.2:
            targets = known[-3:] # without a savepoint: where no clean has been
        if not targets:
            return
        target = self.random.choice(targets)
        blocked = any(time_ > target for time_ in self.savepoints)
        before = self.instants()
        if kill:
            self.service(["restore", target], kill)
        result = self.run("restore", self.path, target, check=False)
        self.say("restore", target, result.returncode, result.stderr.decode().strip())
        if result.returncode != 0:
            if target in self.savepoints and not blocked:
                raise Wrong("a restore failed")
            if self.instants() != before:
                raise Wrong("a refused restore changed the timeline")
            return
        if blocked:
            raise Wrong("a restore went behind a savepoint")
        for time_ in [t for t in [*self.snapshots, *self.rewrites] if t > target]:
            self.forget(time_)
        self.go_back(target)
