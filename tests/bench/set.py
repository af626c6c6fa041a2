"""Prints what a probed row costs with a bound filter over what it costs with a Python set.

    set.py N

N text keys and N absent ones, in no order, which the program fetches from SQLite for the set and
the query probes for the filter. Medians of five runs in turn, in CPU time.
"""
import os
import random
import sqlite3
import statistics
import sys
import time

n = int(sys.argv[1])
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(os.path.join(os.environ.get("B") or "build", "bloom"))
rng = random.Random(1)
db.execute("CREATE TABLE present(key TEXT)")
db.execute("CREATE TABLE absent(key TEXT)")
for table in ("present", "absent"):
    keys = ((rng.randbytes(10).hex(),) for _ in range(n))
    db.executemany(f"INSERT INTO {table} VALUES (?)", keys)
keys = {key for (key,) in db.execute("SELECT key FROM present")}
(bloom,) = db.execute("SELECT bloom_build(key, ?, 0.01) FROM present", (n,)).fetchone()


def ask_set(table):
    return sum(key in keys for (key,) in db.execute(f"SELECT key FROM {table}"))


def ask_filter(table):
    sql = f"SELECT count(*) FROM {table} WHERE bloom_contains(?, key)"
    return db.execute(sql, (bloom,)).fetchone()[0]


def seconds(ask):
    start = time.process_time()
    ask("absent")
    return time.process_time() - start


assert ask_set("present") == ask_filter("present") == n
assert ask_set("absent") == 0
# five sigma of the count, and one percent for the filter's own scatter
expected = n * 0.01
assert ask_filter("absent") < expected * 1.01 + 5 * expected**0.5
print(statistics.median(seconds(ask_filter) / seconds(ask_set) for _ in range(5)))
