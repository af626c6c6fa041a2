"""Would a filter pay? Measures it on a database of yours, which is only read.

    make advise DB=shop.db TABLE=customers COLUMN=email PROBE=visits.email
    python3 sql/advise.py [--compare] DB TABLE COLUMN PROBE

TABLE(COLUMN) has the keys and an index on them; PROBE, as table.column, the values that are looked
for. The query in question is

    SELECT count(*) FROM probe WHERE EXISTS (SELECT 1 FROM table WHERE column = value)

alone, and with a filter of p = 0.01 in front. Both are run on samples: stretches of the probe's
rows, spread over it, and none of them twice, since the second run would find its pages in memory.
Times are elapsed ones, less what other programs took of the processor where the system tells.
--compare runs the whole queries too and shows how far the prediction was off.
"""
import argparse
import os
import sqlite3
import statistics
import sys
import time

SAMPLES = 7  # of each form
STRETCHES = 4  # of a sample
MOST_ROWS = 500_000  # of a sample
PAYS, COSTS = 1.2, 0.95  # times faster, above which and below which


def verdict(plain, filtered, build):
    """What the times of a query without and with a filter, and of its making, come to."""
    times = plain / filtered
    if times < COSTS:
        return f"does not pay: the query would take {1 / times:.2f} times as long"
    if times < PAYS:
        return f"break-even: {times:.2f} times faster at best"
    queries = int(build / (plain - filtered)) + 1
    return f"pays: {times:.1f} times faster; making it is won back by query {queries}"


def waited():
    """Seconds that this process waited for a processor which others had; 0 where nobody tells."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def connect(path):
    db = sqlite3.connect(f"file:{path.replace('%', '%25').replace('?', '%3f')}?mode=ro", uri=True)
    if not hasattr(db, "enable_load_extension"):
        raise SystemExit("advise: this Python cannot load extensions; name another: PYTHON=...")
    db.enable_load_extension(True)
    bloom = os.path.join(os.path.dirname(__file__), "..", os.environ.get("B") or "build", "bloom")
    db.load_extension(bloom)
    db.enable_load_extension(False)
    return db


class Question:
    """A probe's column and the keys that it is looked up in."""

    def __init__(self, db, table, column, probe):
        probe_table, _, probe_column = probe.rpartition(".")
        self.db = db
        self.keys, self.column = quoted(table), quoted(column)
        self.probe, self.value = quoted(probe_table), quoted(probe_column)
        self.exists = f"EXISTS (SELECT 1 FROM {self.keys} AS t WHERE t.{self.column} = p.value)"
        self.spread = self.find_rowids()
        # A view, or WITHOUT ROWID, has no stretches: there it is the first rows, of which ?1 and ?2
        # are the numbers.
        self.rows = f"SELECT {self.value} AS value FROM {self.probe} " + (
            "WHERE rowid BETWEEN ?1 AND ?2" if self.spread else "LIMIT ?2 - ?1 + 1")
        self.filter = None

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()

    def seconds(self, sql, *values):
        start = time.perf_counter() - waited()
        row = self.one(sql, *values)
        return max(time.perf_counter() - waited() - start, 1e-9), row

    def find_rowids(self):
        """The first and the last rowid of the probe, or None where it has none."""
        try:
            spread = self.one(f"SELECT min(rowid), max(rowid) FROM {self.probe}")
        except sqlite3.OperationalError:
            return None
        return None if spread[0] is None else spread

    def is_indexed(self):
        """Whether SQLite looks the keys up; otherwise each probe is a scan."""
        plan = self.db.execute(
            f"EXPLAIN QUERY PLAN SELECT 1 FROM ({self.rows}) AS p WHERE {self.exists}", (0, 0))
        return any("SEARCH t" in row[3] and "AUTOMATIC" not in row[3] for row in plan)

    def build(self):
        seconds, (self.filter,) = self.seconds(
            f"SELECT bloom_build({self.column}, NULL, 0.01) FROM {self.keys}")
        return seconds

    def sample(self, number):
        """The stretches of rows of sample `number`, of 2 * SAMPLES: the first and last of each."""
        if not self.spread:
            return [(1, MOST_ROWS // 5)]
        first, last = self.spread
        part = (last - first + 1) / STRETCHES
        width = min(max(int(part / (2 * SAMPLES + 1)), 1), MOST_ROWS // STRETCHES)
        starts = [int(first + part * (i + number / (2 * SAMPLES))) for i in range(STRETCHES)]
        return [(start, start + width - 1) for start in starts]

    def ask(self, stretch, with_filter):
        """The seconds of the query over some rows, and how many of them were found."""
        where, values = f"WHERE {self.exists}", stretch
        if with_filter:
            where, values = f"WHERE bloom_contains(?3, value) AND {self.exists}", (
                *stretch, self.filter)
        seconds, (found,) = self.seconds(
            f"SELECT count(*) FROM ({self.rows}) AS p {where}", *values)
        return seconds, found

    def measure(self):
        """Seconds a row without and with a filter, and the fraction of rows that match."""
        costs, all_found, all_probed = ([], []), 0, 0
        load = self.load()
        for number in range(2 * SAMPLES):
            with_filter = number % 2 == 1
            seconds, found, probed = 0, 0, 0
            for stretch in self.sample(number):
                time_of_rows, matches = self.ask(stretch, with_filter)
                seconds += time_of_rows - load * with_filter
                found += matches
                probed += self.one(f"SELECT count(*) FROM ({self.rows})", *stretch)[0]
            if probed > 0:
                costs[with_filter].append(max(seconds, 1e-9) / probed)
            all_found, all_probed = all_found + found, all_probed + probed
        if not costs[0] or not costs[1]:
            raise SystemExit("advise: the probe has too few rows, or too many gaps, to be measured")
        return statistics.median(costs[0]), statistics.median(costs[1]), all_found / all_probed

    def load(self):
        """Seconds that a statement needs to read and check the filter."""
        two = "(SELECT 1 AS value UNION ALL SELECT 2)"
        sql = f"SELECT sum(bloom_contains(?, value)) FROM {two}"
        return statistics.median(self.seconds(sql, self.filter)[0] for _ in range(5))


def report(question, compare):
    build = question.build()
    (keys,) = question.one("SELECT json_extract(bloom_info(?), '$.n')", question.filter)
    (rows,) = question.one(f"SELECT count(*) FROM {question.probe}")
    if not keys or not rows:
        raise SystemExit(f"advise: {keys or 0} keys and {rows} rows to probe: nothing to measure")
    print(f"distinct keys     {keys}")
    for p in (0.1, 0.01, 0.001):
        (size,) = question.one("SELECT bloom_size(?, ?)", keys, p)
        print(f"size, p = {p:<7} {size} bytes")
    plain, filtered, match = question.measure()
    plain, filtered = plain * rows, filtered * rows + question.load()
    print(f"rows to probe     {rows}")
    print(f"of them match     {100 * match:.1f} %")
    print(f"time to build     {build:.3f} s, for p = 0.01")
    print(f"time without      {plain:.3f} s, predicted from samples")
    print(f"time with         {filtered:.3f} s, predicted from samples")
    if compare:
        for name, predicted, form in (("without", plain, False), ("with", filtered, True)):
            whole = question.spread or (1, rows)
            seconds = statistics.median(question.ask(whole, form)[0] for _ in range(3))
            off = 100 * (predicted / seconds - 1)
            print(f"measured {name:<8} {seconds:.3f} s, predicted {off:+.1f} % of that")
    print(verdict(plain, filtered, build))


def main():
    parser = argparse.ArgumentParser(usage="advise.py [--compare] DB TABLE COLUMN PROBE")
    parser.add_argument("--compare", action="store_true")
    for name in ("db", "table", "column", "probe"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    if "." not in arguments.probe or not os.path.exists(arguments.db):
        parser.error("there must be such a file, and PROBE is table.column")
    question = Question(connect(arguments.db), arguments.table, arguments.column, arguments.probe)
    if not question.is_indexed():
        raise SystemExit(f"advise: {arguments.table}({arguments.column}) has no index that finds"
                         f" {arguments.probe}: each probe scans the table. Make one first.")
    report(question, arguments.compare)


if __name__ == "__main__":
    try:
        main()
    except sqlite3.Error as error:
        sys.exit(f"advise: {error}")
