"""The adviser: its verdicts, and what it finds in three databases that are made here.

    advise.py           TAP: verdicts of given times, and all that is no time
    advise.py --times   the three databases at full size, predicted times beside measured ones
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "sql"))
import advise  # noqa: E402

# verdict, type of the key, its expression for i and for a stranger, percent that match, order
DATABASES = [
    ("pays", "TEXT", "printf('k%08x%08x', i * 2654435761 & 0xffffffff, i)",
     "printf('k%08x%08x', i * 2654435761 & 0xffffffff, -i & 0xffffffff)", 1,
     "i * 7919 % 1000003"),
    ("break-even", "TEXT", "printf('k%08x%08x', i * 2654435761 & 0xffffffff, i)",
     "printf('k%08x%08x', i * 2654435761 & 0xffffffff, -i & 0xffffffff)", 80,
     "i * 7919 % 1000003"),
    ("does not pay", "INTEGER", "i", "-i", 100, "i"),
]


def make(path, database, n):
    """n keys and n probes."""
    _, kind, key, stranger, percent, order = database
    db = advise.sqlite3.connect(path)
    db.executescript(f"""
        CREATE TABLE numbers AS WITH RECURSIVE c(i) AS
          (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {n}) SELECT i FROM c;
        CREATE TABLE big(id INTEGER PRIMARY KEY, key {kind} UNIQUE);
        INSERT INTO big(key) SELECT {key} FROM numbers;
        CREATE TABLE visits(who {kind});
        INSERT INTO visits SELECT CASE WHEN i * 7 % 100 < {percent} THEN {key} ELSE {stranger} END
          FROM numbers ORDER BY {order};
        CREATE VIEW names AS SELECT who FROM visits;
        CREATE TABLE bare(key {kind});
        """)
    db.close()


def run(path, *arguments, probe="visits.who", table="big"):
    command = [sys.executable, os.path.join(ROOT, "sql", "advise.py"), *arguments, path, table,
               "key", probe]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test(ok, what):
    print(f"{'ok' if ok else 'not ok'} advise: {what}")


def test_verdicts():
    for plain, filtered, build, expected in (
            (10.0, 1.0, 0.5, "pays: 10.0 times faster; making it is won back by query 1"),
            (10.0, 8.0, 5.0, "pays: 1.2 times faster; making it is won back by query 3"),
            (1.2, 1.0, 0.1, "pays: 1.2 times faster; making it is won back by query 1"),
            (1.19, 1.0, 0.1, "break-even: 1.19 times faster at best"),
            (0.95, 1.0, 0.1, "break-even: 0.95 times faster at best"),
            (0.94, 1.0, 0.1, "does not pay: the query would take 1.06 times as long"),
            (1.0, 2.0, 0.0, "does not pay: the query would take 2.00 times as long")):
        answer = advise.verdict(plain, filtered, build)
        test(answer == expected, f"{plain} s, {filtered} s with, {build} s to build: {answer}")


def number(text, pattern):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else None


def test_facts(path, database, n):
    name, percent = database[0], database[4]
    out = run(path).stdout
    test(number(out, r"distinct keys +(\d+)\n") == n, f"{name}: {n} keys")
    # -ln p / (ln 2)^2 / 8 bytes a key, and up to 2 % for whole lines
    for p, bytes_a_key in (("0.1", 0.599), ("0.01", 1.198), ("0.001", 1.797)):
        size = number(out, rf"size, p = {re.escape(p)} +(\d+) bytes") or 0
        test(1 < size / (n * bytes_a_key) < 1.02, f"{name}: {size:.0f} bytes at p = {p}")
    test(number(out, r"rows to probe +(\d+)\n") == n, f"{name}: {n} rows")
    # nine tenths of the rows are in samples: sigma is 0.1 % at most
    match = number(out, r"of them match +([\d.]+) %")
    test(match is not None and abs(match - percent) < 0.5, f"{name}: {match} % match")
    lines = out.strip().split("\n")
    test(re.match("pays: |break-even: |does not pay: ", lines[-1]) is not None,
         f"{name}: there is a verdict")


def test_refusals(path):
    for text, answer in (
            ("has no index that finds visits.who", run(path, table="bare")),
            ("no such table", run(path, table="bigger")),
            ("there must be such a file", run(path + "x")),
            ("PROBE is table.column", run(path, probe="who"))):
        ok = answer.returncode != 0 and answer.stdout == ""
        test(ok and text in answer.stderr, f"an error: {answer.stderr.strip().splitlines()[-1][:90]}")
    view = run(path, probe="names.who")
    test("of them match     1.0 %" in view.stdout, "a view is probed too")


def main():
    times = "--times" in sys.argv
    n = 1_000_000 if times else 20_000
    if not times:
        test_verdicts()
    with tempfile.TemporaryDirectory() as folder:
        for i, database in enumerate(DATABASES):
            path = os.path.join(folder, f"{i}.db")
            make(path, database, n)
            if times:
                answer = run(path, "--compare")
                print(f"made so that a filter {database[0]}:\n{answer.stdout}{answer.stderr}")
                sys.stdout.flush()
                continue
            test_facts(path, database, n)
            if i == 0:
                test_refusals(path)


main()
