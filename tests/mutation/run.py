#!/usr/bin/python3
"""Makes mutants of ext/ and runs the tests on each. Prints TAP. README.md here says how to use it.

    run.py full  [--jobs N] [--seconds S] [--cost C] [--room FILE]
    run.py short [--jobs N]
    run.py show TEXT        the mutants whose key has the text, with the results so far

From the project's root; the Makefile gives BUILD and COMPILE, and builds what is compiled once.
"""

import argparse
import collections
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutants
import suites

SEED = 1
TAKE = 1070  # mutants of the full form; those that are no new program are not counted
SHORT = 20  # of the gate
LEAST_COUNTED = 1000
LEAST_KILLED = 0.95
MOST_EQUIVALENT = 0.02
MEMORY = 6 << 30
SCRATCH = "/dev/shm"

BUILD = os.environ.get("BUILD", "build")
PLACE = BUILD + "/mutation"
NEWEST = os.environ.get("NEWEST", BUILD + "/newest")
COMPILE = os.environ.get("COMPILE", "").split()
ROOMS = sorted(set(suites.ROOMS) - {"library"})  # of the extension


scratches = []  # the workers' temporary folders


def remove_scratches():
    for folder in scratches:
        shutil.rmtree(folder, ignore_errors=True)


def stop(why):
    """Ends the whole program, from any thread."""
    print("not ok mutation: " + why, flush=True)
    remove_scratches()
    os._exit(1)


# ---- running a command within limits ----

Outcome = collections.namedtuple("Outcome", "passed why processor wall")


def read_all(process, deadline):
    """What the process prints, to its end, to the deadline or to a test that failed."""
    output, poll = b"", select.poll()
    poll.register(process.stdout, select.POLLIN | select.POLLHUP)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return output, "timeout"
        if not poll.poll(left * 1000):
            continue
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            return output, ""
        output += chunk
        at = output.find(b"not ok")
        if at == 0 or b"\nnot ok" in output:
            return output, "failed"


def end(process, deadline):
    """Waits for the process, or ends its group; (exit status or None, processor time)."""
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None, usage.ru_utime + usage.ru_stime


def execute(command, environment, processor, wall):
    arguments, given, expected = command
    limits = ["prlimit", "--core=0", "--as=%d" % MEMORY, "--cpu=%d" % processor]
    start = time.monotonic()
    with open(given or os.devnull, "rb") as stream:
        process = subprocess.Popen(limits + arguments, stdin=stream, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True)
    output, why = read_all(process, start + wall)
    code, used = end(process, time.monotonic() if why else start + wall)
    process.stdout.close()
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what a test that crashed has left
    except ProcessLookupError:
        pass
    if not why and code is None:
        why = "timeout"
    if not why and code < 0:
        why = "signal %d" % -code
    if not why and code != 0:
        why = "exit code %d" % code
    if not why and expected:
        with open(expected, "rb") as stream:
            why = "" if stream.read() == output else "other output"
    return Outcome(not why, why, used, time.monotonic() - start)


# ---- workers: each has a folder with its own programs ----

def compile_object(source, target, form):
    return subprocess.run(COMPILE + suites.FORMS[form] + ["-c", "-o", target, source], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def objects_of(folder):
    return ["%s/%s/%s.o" % (PLACE, folder, name[:-2])
            for name in sorted(os.listdir(folder)) if name.endswith(".c")]


class Worker:
    def __init__(self, number):
        self.place = "%s/worker-%d" % (PLACE, number)
        self.source = self.place + "/ext"
        os.makedirs(self.source, exist_ok=True)
        # In memory where there is such a place: the tests sync their files often.
        self.scratch = tempfile.mkdtemp(prefix="m", dir=SCRATCH if os.path.isdir(SCRATCH) else None)
        scratches.append(self.scratch)
        self.rooms = []  # those whose objects are the mutant's
        self.linked = set()
        self.compiled = set()
        self.environment = dict(os.environ, B=self.place, BLOOM=self.place + "/bloom.so",
                                TMPDIR=self.scratch, NO_SKIPS="1", CMOCKA_MESSAGE_OUTPUT="TAP",
                                MALLOC_PERTURB_="90", LC_ALL="C")

    def take(self, mutant):
        """Compiles a mutant, or the original for None. The hash of its code; "" if it has none."""
        self.linked, self.compiled = set(), set()
        self.rooms = []
        for name in os.listdir(self.source):
            os.unlink(self.source + "/" + name)
        if mutant is None:
            return "original"
        header = mutant.file.endswith(".h")
        self.rooms = ROOMS + ["library"] if header else [mutant.file[:-2]]
        for name in os.listdir("ext") if header else [mutant.file]:
            if name.endswith((".c", ".h")):
                text = mutant.changed() if name == mutant.file else read("ext/" + name).decode()
                with open(self.source + "/" + name, "w", encoding="utf-8") as stream:
                    stream.write(text)
        code = hashlib.sha256()
        for room in self.rooms:
            target = self.object(room, "")
            if target is None:
                return ""
            code.update(read(target))
        return code.hexdigest()[:24]

    def object(self, room, form):
        """The path of a room's object in a form of suites.FORMS, compiled if it is the mutant's;
        None if that fails."""
        if room not in self.rooms:
            place = PLACE if room == "library" else BUILD
            return {"": place + "/%s.o", "tails-": BUILD + "/tails-%s.o",
                    "core-": (place if room == "library" else BUILD + "/oom") + "/ext-%s.o"
                    }[form] % room
        target = "%s/%s%s.o" % (self.place, form, room)
        if target not in self.compiled:
            if not compile_object("%s/%s.c" % (self.source, room), target, form):
                return None
            self.compiled.add(target)
        return target

    def link(self, name):
        """Links a program, once for each mutant; false when it cannot be."""
        if name in self.linked:
            return True
        libraries = ["-lsqlite3", "-lm"]
        if name == "bloom.so":
            tests, rooms, libraries = [], ROOMS, ["-shared", "-lm"]
        elif name == "library":
            tests, rooms = [PLACE + "/tests/packages/library.o"], ROOMS + ["library"]
            libraries = suites.LIBRARY_FLAGS + libraries
        elif name == "tails":
            tests, rooms = [PLACE + "/tests/sql/tails.o"], ROOMS
        elif name.startswith("unit-"):
            tests, rooms, libraries = suites.UNIT[name[5:]]
            tests = ["%s/tests/unit/%s.o" % (PLACE, test) for test in tests]
        else:
            tests, rooms = objects_of("tests/" + name), ROOMS
        objects = [self.object(room, suites.form_of(room, name)) for room in rooms]
        if None in objects:
            return False
        self.linked.add(name)
        done = subprocess.run(COMPILE[:1] + ["-o", self.place + "/" + name] + tests + objects +
                              libraries, check=False, stderr=subprocess.PIPE)
        if done.returncode != 0:  # no mutant changes what is linked
            stop(done.stderr.decode())
        return True

    def run(self, suite, processor, wall):
        """Whether the mutant passes the suite."""
        if not self.link(suites.program(suite)):
            return Outcome(False, "does not compile", 0, 0)
        environment = dict(self.environment)
        if suites.split(suite)[0] == "newest":
            environment["LD_LIBRARY_PATH"] = NEWEST
        used, spent = 0.0, 0.0
        for command in suites.commands(suite, BUILD, self.place):
            outcome = execute(command, environment, processor, wall)
            used, spent = used + outcome.processor, spent + outcome.wall
            if not outcome.passed:
                return Outcome(False, outcome.why, used, spent)
        return Outcome(True, "", used, spent)


# ---- results, kept in a file of one JSON line each ----

def hash_of_folder(folder):
    total = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        path = folder + "/" + name
        if os.path.isfile(path):
            total.update(read(path))
    return total.hexdigest()[:12]


class Results:
    """What is known of each mutant, for the text of its function. That a suite was passed counts
    while the suite's folder is the same; what was killed stays killed."""

    def __init__(self, path, known):
        self.path, self.lock = path, threading.Lock()
        self.records, self.folders = {}, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                for line in stream:
                    record = json.loads(line)
                    self.records[record["key"]] = record
        digests = {mutant.key: mutant.digest for mutant in known}
        self.records = {key: record for key, record in self.records.items()
                        if digests.get(key) == record["digest"]}
        self.programs = {(key.split()[0], record["object"]): key
                         for key, record in self.records.items() if record["status"] != "twin"}

    def folder(self, suite):
        folder = suites.folder_of(suite)
        if folder not in self.folders:
            self.folders[folder] = hash_of_folder("tests/" + folder)
        return self.folders[folder]

    def get(self, mutant):
        record = self.records.get(mutant.key)
        if record is None:
            return {"key": mutant.key, "digest": mutant.digest, "object": None, "status": "open",
                    "by": "", "passed": {}}
        record["passed"] = {suite: folder for suite, folder in record["passed"].items()
                            if suite in suites.ORDER and folder == self.folder(suite)}
        return record

    def twin(self, record):
        """The key of another mutant that is the same program, or None."""
        with self.lock:
            pair = (record["key"].split()[0], record["object"])
            first = self.programs.setdefault(pair, record["key"])
            return first if first != record["key"] else None

    def save(self, record):
        with self.lock:
            self.records[record["key"]] = record
            if self.path:
                with open(self.path, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps(record) + "\n")


# ---- the run ----

class Run:
    def __init__(self, results, options):
        self.results, self.cost = results, options.cost
        self.deadline = time.monotonic() + options.seconds if options.seconds else None
        self.normal, self.normal_lock = {}, threading.Lock()
        if os.path.exists(PLACE + "/normal"):
            self.normal = {suite: (version, Outcome(*outcome)) for suite, (version, outcome)
                           in json.loads(read(PLACE + "/normal")).items()}
        self.normal_worker = Worker(0)
        self.originals = {}

    def original(self, suite):
        """How long the suite takes on the original, which has to pass it."""
        version = self.results.folder(suite) + " " + hash_of_folder("ext")
        with self.normal_lock:
            known, outcome = self.normal.get(suite, ("", None))
            if known != version:
                self.normal_worker.take(None)
                outcome = self.normal_worker.run(suite, 300, 600)
                if not outcome.passed:
                    stop("the original fails %s: %s" % (suite, outcome.why))
                self.normal[suite] = (version, outcome)
                with open(PLACE + "/normal", "w", encoding="utf-8") as stream:
                    json.dump(self.normal, stream)
            return outcome

    def is_cheap(self, suite):
        """Whether it takes no more than is wanted; its last version's time is good enough."""
        if self.cost is None:
            return True
        known = self.normal.get(suite)
        return (known[1] if known else self.original(suite)).processor <= self.cost

    def original_code(self, worker, mutant):
        """The hash of the code of the unchanged file."""
        if mutant.file not in self.originals:
            same = mutants.Mutant(mutant.file, "", mutant.source, 0, 0, "")
            self.originals[mutant.file] = worker.take(same)
        return self.originals[mutant.file]

    def is_late(self):
        return self.deadline is not None and time.monotonic() > self.deadline

    def test(self, worker, mutant):
        """Runs the suites that are left until one fails."""
        record = self.results.get(mutant)
        if record["status"] not in ("open", "survived"):
            return
        left = [s for s in suites.suites_of(mutant.file) if s not in record["passed"]]
        left = [s for s in left if self.is_cheap(s)]
        if not left:
            return
        original = self.original_code(worker, mutant)
        record["object"] = worker.take(mutant)
        if record["object"] in ("", original):
            record["status"] = "same" if record["object"] else "invalid"
        elif self.results.twin(record):
            record["status"], record["by"] = "twin", self.results.twin(record)
        else:
            self.try_suites(worker, record, left)
        self.results.save(record)

    def try_suites(self, worker, record, left):
        record["status"] = "open"
        for suite in left:
            if self.is_late():
                return
            normal = self.original(suite)
            outcome = worker.run(suite, int(3 + 4 * normal.processor), 15 + 8 * normal.wall)
            if not outcome.passed:
                record["status"], record["by"] = "killed", "%s: %s" % (suite, outcome.why)
                return
            record["passed"][suite] = self.results.folder(suite)
        record["status"] = "survived"

    def work(self, number, queue):
        worker = Worker(number)
        while queue and not self.is_late():
            with self.results.lock:
                mutant = queue.popleft() if queue else None
            if mutant:
                self.test(worker, mutant)

    def all(self, chosen, jobs):
        queue = collections.deque(chosen)
        threads = [threading.Thread(target=self.work, args=(i + 1, queue)) for i in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        remove_scratches()


# ---- the report ----

def read_equivalent(path):
    """Keys with their reasons: file and function, the two lines of the mutant, then the reason."""
    entries, key, reason = {}, [], []
    with open(path, encoding="utf-8") as stream:
        for line in list(stream) + ["\n"]:
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if not line:
                if len(key) == 3:
                    entries["\n".join(key)] = " ".join(reason)
                key, reason = [], []
            elif len(key) < 3:
                key.append(line)
            else:
                reason.append(line.strip())
    return entries


def tap(good, text):
    print("%s mutation: %s" % ("ok" if good else "not ok", text))
    return good


def classify(results, chosen, equivalent):
    """Of each mutant: killed, survived, equivalent or open; or what is not counted, since it is no
    new program: same, twin, invalid."""
    kinds = {}
    for mutant in chosen:
        kind = results.get(mutant)["status"]
        kinds[mutant] = "equivalent" if kind == "survived" and mutant.key in equivalent else kind
    return kinds


COUNTED = ("killed", "survived", "equivalent")


def report(results, kinds):
    """A table of the rooms, and the mutants that no test sees."""
    print("# %-14s %7s %7s %9s %10s" % ("file", "mutants", "killed", "survived", "equivalent"))
    files = sorted({mutant.file for mutant in kinds}) + ["all"]
    for file in files:
        counts = collections.Counter(kind for mutant, kind in kinds.items()
                                     if file in (mutant.file, "all"))
        print("# %-14s %7d %7d %9d %10d" % (file, sum(counts[kind] for kind in COUNTED),
                                            *(counts[kind] for kind in COUNTED)))
    print("# not counted: %d are the same program, %d another mutant's, %d do not compile" %
          (counts["same"], counts["twin"], counts["invalid"]))
    for mutant, kind in kinds.items():
        if kind == "survived":
            print("# survived, ext/%s line %d:" % (mutant.file, mutant.line))
            print("".join("#   %s\n" % line for line in mutant.key.split("\n")), end="")


def judge(results, kinds, equivalent, everything):
    counts = collections.Counter(kinds.values())
    counted = sum(counts[kind] for kind in COUNTED)
    if counts["open"]:
        print("# %d mutants are not tried to the end yet: run it again" % counts["open"])
        return False
    keys = {mutant.key for mutant in everything}
    stale = [key for key in equivalent if key not in keys]
    killed = [m.key for m, kind in kinds.items() if kind == "killed" and m.key in equivalent]
    for title, wrong in ("is no mutant", stale), ("was killed", killed):
        for key in wrong:
            print("# in tests/mutation/equivalent, but %s:\n#   %s" %
                  (title, key.replace("\n", "\n#   ")))
    good = [
        tap(counted >= LEAST_COUNTED, "%d mutants, at least %d" % (counted, LEAST_COUNTED)),
        tap(counts["killed"] >= LEAST_KILLED * counted, "%d killed, %.1f %%, at least %.0f %%" % (
            counts["killed"], 100 * counts["killed"] / counted, 100 * LEAST_KILLED)),
        tap(counts["equivalent"] <= MOST_EQUIVALENT * counted,
            "%d are equivalent, %.1f %%, at most %.0f %%" % (
                counts["equivalent"], 100 * counts["equivalent"] / counted, 100 * MOST_EQUIVALENT)),
        tap(not stale and not killed and all(equivalent.values()),
            "each of the %d equivalent ones is a mutant, has a reason, and survived" %
            len(equivalent))]
    return all(good)


def full(options, everything, equivalent):
    chosen = everything[:TAKE]
    results = Results(PLACE + "/results", everything)
    Run(results, options).all(
        [m for m in chosen if options.room in ("", m.file)], options.jobs)
    kinds = classify(results, chosen, equivalent)
    report(results, kinds)
    return judge(results, kinds, equivalent, everything)


def short(options, everything, equivalent):
    """The first mutants, but for those that are known to be equivalent: each is killed."""
    chosen = [mutant for mutant in everything[:SHORT] if mutant.key not in equivalent]
    results = Results(None, everything)
    Run(results, options).all(chosen, options.jobs)
    kinds = classify(results, chosen, equivalent)
    report(results, kinds)
    good = [tap(kind == "killed", "%s: %s" % (" | ".join(m.key.split("\n")), results.get(m)["by"]))
            for m, kind in kinds.items() if kind in ("killed", "survived")]
    tried = "%d of the first %d mutants are tried" % (len(good), SHORT)
    good.append(tap(len(good) >= SHORT / 2 and "open" not in kinds.values(), tried))
    return all(good)


def show(options, everything, equivalent):
    results = Results(PLACE + "/results", everything)
    chosen = [m for m in everything[:TAKE] if options.text in m.key]
    for mutant, kind in classify(results, chosen, equivalent).items():
        print("%s, line %d: %s %s" % (mutant.key, mutant.line, kind, results.get(mutant)["by"]))
    return True


def main():
    parser = argparse.ArgumentParser(description="Mutants of ext/ and the tests that kill them.")
    parser.add_argument("form", choices=["full", "short", "show"])
    parser.add_argument("text", nargs="?", default="", help="show: a part of the key")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="full: stop after these, to go on later")
    parser.add_argument("--cost", type=float, help="full: only suites of at most these seconds")
    parser.add_argument("--room", default="", help="full: only mutants of this file")
    options = parser.parse_args()
    os.makedirs(PLACE, exist_ok=True)
    everything = mutants.all_mutants("ext", SEED)
    equivalent = read_equivalent("tests/mutation/equivalent")
    form = {"full": full, "short": short, "show": show}[options.form]
    return 0 if form(options, everything, equivalent) else 1


if __name__ == "__main__":
    sys.exit(main())
