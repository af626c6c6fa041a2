#!/usr/bin/python3
"""Breaks each promise of the documents on purpose, and sees its test fail.

    check.py BUILD              every patch of the table in tests/README.md
    check.py BUILD --some N     a sample of N; every row's sentence and test are looked for
    check.py BUILD --form       none; every row's sentence is looked for, and that its patch applies
    check.py BUILD NAME ...     these

A row is a sentence of README.md or ext/FORMAT.md, the test that would fail, and a patch in this
folder that breaks the promise. The patch goes into a copy of ext/, what it touches is compiled
again, and the test must fail there; without the patch it must pass. Prints TAP, a line for each
patch and test; from the project's root.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys

HERE = "tests/promises"
TABLE = "tests/README.md"
DOCUMENTS = ("README.md", "ext/FORMAT.md")
SEED = 6  # of the sample
TIMEOUT = 120  # seconds; a patch may make a test run for ever

# What a test is called in the table: the program to make, and the command. {} is the word behind.
SUITES = {
    "unit": ("build/unit/{}", "CMOCKA_MESSAGE_OUTPUT=TAP build/unit/{}"),
    "sql": ("build/bloom.so", "ONLY={} tests/sql/run.sh"),
    "errors": ("build/sql-errors", "build/sql-errors"),
    "functions": ("build/sql-functions", "build/sql-functions"),
    "placement": ("build/sql-placement", "build/sql-placement"),
    "statements": ("build/sql-statements", "build/sql-statements"),
    "linking": ("build/bloom.so", 'CC=gcc SOURCES="$(ls ext/*.c)" tests/sql/linking.sh'),
    "table": ("build/table/table", "build/table/table quick {}"),
    "follow": ("build/follow", "build/follow quick {}"),
    "promise": ("build/promise/promise", "build/promise/promise quick {}"),
    "oom": ("build/oom/oom", "build/oom/oom quick {}"),
    "damage": ("build/damage", "build/damage quick"),
    "golden": ("build/bloom.so", "tests/golden/run.sh {}"),
    "blocks": ("build/readme-blocks", "build/readme-blocks README.md build/bloom.so"),
    "files": ("build/bloom.so", "tests/readme/files.sh"),
    "examples": ("build/bloom.so", "tests/examples/run.sh"),
}
# These programs have the extension compiled in, so bloom.so is not theirs.
COMPILED_IN = ("unit", "promise", "oom")


class Row:
    def __init__(self, document, cells):
        self.document = document
        self.promise, test, patch = cells
        self.patch = patch.strip("`")
        words, _, self.test = test.partition(": ")
        suite, _, word = words.strip("`").partition(" ")
        self.suite = suite
        target, command = SUITES.get(suite, ("", ""))
        self.targets = {target.format(word)} - {""}
        if suite not in COMPILED_IN:
            self.targets.add("build/bloom.so")
        self.command = command.format(word)


def read_rows():
    rows, document = [], None
    for line in open(TABLE, encoding="utf-8"):
        if line.startswith("#"):
            heading = line.lstrip("#").strip().strip("`")
            document = heading if heading in DOCUMENTS else None
        elif document and line.startswith("|"):
            cells = [c.strip().replace("\\|", "|")
                     for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if len(cells) != 3:
                raise SystemExit(f"not ok promises: {len(cells)} cells in the row {line!r}")
            if cells[0] != "promise" and not cells[0].startswith("---"):
                rows.append(Row(document, cells))
    return rows


def plain(text):
    """A document as running text: quoted sentences may be broken into lines and list items."""
    return " ".join(text.split())


def apply(row, folder, *options):
    """What the patch says against being applied, or None."""
    patch = os.path.abspath(f"{HERE}/{row.patch}.patch")
    done = subprocess.run(["patch", "-s", "-f", "-p1", "--fuzz=0", "-i", patch, *options],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode("utf-8", "replace") if done.returncode else None


def check_form(rows):
    """Sentences stand in their documents; patches apply; no row lacks one, and none lacks a row."""
    texts = {name: plain(open(name, encoding="utf-8").read()) for name in DOCUMENTS}
    for row in rows:
        if plain(row.promise) not in texts[row.document]:
            yield f"{row.document} does not say: {row.promise}"
        if not row.command:
            yield f"{row.patch}: there is no suite {row.suite}"
        if not row.test:
            yield f"{row.patch}: the row names no test"
    kept = {name[:-len(".patch")] for name in os.listdir(HERE) if name.endswith(".patch")}
    named = {row.patch for row in rows}
    for name in sorted(named - kept):
        yield f"there is no {HERE}/{name}.patch"
    for name in sorted(kept - named):
        yield f"{HERE}/{name}.patch stands in no row of {TABLE}"
    for row in {row.patch: row for row in rows if row.patch in kept}.values():
        fault = apply(row, ".", "--dry-run")
        if fault:
            yield f"{row.patch}: the patch does not apply: {fault}"


def run(command, folder):
    """The command's TAP: each test's name, and whether it passed."""
    child = subprocess.Popen(["sh", "-c", command], cwd=folder, env=ENVIRONMENT,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        text = child.communicate(timeout=TIMEOUT)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the shell and what it started
        text = child.communicate()[0].decode("utf-8", "replace")
    passed = {}
    for match in re.finditer(r"^(not ok|ok)(?: \d+ -)? (.*?)\s*$", text, re.M):
        passed[match[2]] = passed.get(match[2], True) and match[1] == "ok"
    return passed


def make(folder, targets):
    done = subprocess.run(["make", "-s", "-j2", "B=build", "CFLAGS=-O0", *sorted(targets)],
                          cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout.decode("utf-8", "replace")


def prepare(base, targets):
    """A tree of its own, where ext/ is a copy and everything is built."""
    shutil.rmtree(os.path.dirname(base), ignore_errors=True)
    os.makedirs(base + "/build")
    for name in os.listdir("."):
        if name in ("Makefile", "README.md", "tests", "sql", "CHANGELOG.md", "LICENSE"):
            os.symlink(os.path.abspath(name), f"{base}/{name}")
    shutil.copytree("ext", base + "/ext")
    good, text = make(base, targets)
    if not good:
        raise SystemExit(f"not ok promises: the copy does not build\n{text}")


def results(row, passed):
    """Of the row's test; of all whose name so begins where it ends with three dots."""
    if row.test.endswith("..."):
        return [good for name, good in passed.items() if name.startswith(row.test[:-3])]
    return [good for name, good in passed.items() if name == row.test]


def check_name(row, base, known):
    if row.command not in known:
        known[row.command] = run(row.command, base)
    found = results(row, known[row.command])
    if not found:
        return f"there is no test {row.test}"
    return None if all(found) else f"without the patch fails {row.test}"


def check(row, base, known):
    """What is wrong with a row, or None. `known` has what commands said without a patch."""
    fault = check_name(row, base, known)
    if fault:
        return fault
    work = os.path.dirname(base) + "/work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work, symlinks=True)
    fault = apply(row, work)
    if fault:
        return "the patch does not apply: " + fault
    good, text = make(work, row.targets)
    if not good:
        return "what was patched does not build: " + text
    passed = run(row.command, work)
    if all(results(row, passed)):
        failed = [name for name, good in passed.items() if not good]
        return f"the test did not fail; these did: {failed}"
    return None


def main():
    build, names = sys.argv[1], sys.argv[2:]
    rows = read_rows()
    faults = list(check_form(rows))
    rows = [row for row in rows if row.command and os.path.exists(f"{HERE}/{row.patch}.patch")]
    # Sentences that say the same share a patch and a test, which runs once.
    rows = list({(row.patch, row.command, row.test): row for row in rows}.values())
    if names == ["--form"]:
        lines = [f"not ok promises: {fault}" for fault in faults]
        for line in lines or [f"ok promises: {len(rows)} rows"]:
            print(line)
        return bool(faults)
    if names and names[0] != "--some":
        rows = [row for row in rows if row.patch in names]
    base, known = os.path.abspath(build) + "/promises/base", {}
    prepare(base, set().union(*(row.targets for row in rows)))
    for row in rows:
        fault = check_name(row, base, known)
        faults += [f"{row.patch}: {fault}"] if fault else []
    for fault in faults:
        print(f"not ok promises: {fault}")
    failed = bool(faults)
    if not failed:
        print(f"ok promises: {len(rows)} patches, tests and their sentences are there", flush=True)
    if names[:1] == ["--some"]:
        rows = random.Random(SEED).sample(rows, int(names[1]))
    for row in rows:
        fault = check(row, base, known)
        failed = failed or fault is not None
        print(f"{'not ok' if fault else 'ok'} {row.patch}: {row.promise[:60]}", flush=True)
        if fault:
            print("# " + fault.rstrip().replace("\n", "\n# "), flush=True)
    return failed


ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "B")}
ENVIRONMENT.update(BLOOM="build/bloom.so", LC_ALL="C.UTF-8")

if __name__ == "__main__":
    sys.exit(main())
