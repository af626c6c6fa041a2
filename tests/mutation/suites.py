"""What a mutant is tested with: commands, and for each room of ext/ the suites that it is tried on,
quick ones first. All are fast suites of `make check`; `newest:` is one with the newest SQLite."""

import os

KERNEL = ["sizing", "filter", "format", "draft", "hashes"]

# Programs with the extension compiled in: what they are linked from, and with.
UNIT = {name: ([name], KERNEL, ["-lcmocka", "-lm"]) for name in KERNEL + ["platform"]}
UNIT["key"] = (["key"], KERNEL + ["key"], ["-lcmocka", "-lsqlite3", "-lm"])
COMPILED_IN = ("oom", "promise", "library", "tails")
# In what forms a room is compiled, and for what rooms they differ.
FORMS = {"": [], "core-": ["-DSQLITE_CORE"],
         "tails-": ["-DSQLITE_CORE", "-DBLOOM_LATE_KEYS=512"]}  # as tests/sql/suite.mk has them
TAILS = ["aggregates", "draft"]
LIBRARY_FLAGS = ["-Wl,--wrap=malloc,--wrap=realloc"]  # its test lets allocations fail

SLOW_SQL = ("growth", "joins", "hash_quality")  # not in sql:quick

# Every suite, quick ones first. The slow ones of `make check` are left out: the README's blocks,
# the examples, the statistics of rates and growth.
ORDER = """
    unit:platform unit:filter unit:format unit:hashes
    sql:quick sql-functions sql-errors sql-placement sql-statements
    promise:dedupe promise:properties promise:laws promise:estimates oom:entry oom:limits
    library tails table:transactions table:nested follow:input promise:memory files unit:sizing
    sql:growth sql:joins
    follow:life table:growth table:input table:damage follow:detach follow:hostile follow:names
    table:kill table:house table:steps table:processes table:faults
    damage unit:key promise:additions oom:functions oom:table oom:follow golden
    newest:table:house newest:follow:life""".split()

FILTERS = """
    sql:quick sql-functions sql-errors sql-placement sql-statements sql:growth sql:joins
    promise:dedupe promise:properties promise:laws promise:estimates promise:memory
    promise:additions oom:limits oom:functions table:transactions table:input golden damage """
TABLES = """
    sql-functions sql-errors sql-statements files oom:entry oom:limits oom:table oom:follow
    oom:functions table:transactions table:nested table:growth table:input table:damage
    table:kill table:house table:steps table:processes table:faults follow:input follow:life
    follow:detach follow:hostile follow:names newest:table:house newest:follow:life """
KEYS = """
    sql:quick sql-errors table:transactions unit:key oom:functions golden"""

ROOMS = {
    "sizing": FILTERS + "unit:sizing unit:filter unit:format",
    "filter": FILTERS + "unit:filter unit:format table:damage table:growth",
    "format": FILTERS + "unit:format table:damage",
    "hashes": FILTERS + "unit:hashes",
    "key": KEYS,
    "args": FILTERS,
    "draft": FILTERS + "library tails",
    "library": "library",
    "functions": FILTERS,
    "aggregates": FILTERS + "tails",
    "describe": FILTERS,
    "extension": FILTERS + "oom:entry files",
    "store": TABLES,
    "table": TABLES,
    "follow": TABLES,
}


def suites_of(file):
    """The suites of a file of ext/; those of a header are all."""
    names = ROOMS[file[:-2]].split() if file.endswith(".c") and file[:-2] in ROOMS else ORDER
    return sorted(names, key=ORDER.index)


def split(suite):
    """newest: or nothing; the suite's name; its part."""
    first, _, rest = suite.partition(":")
    how, rest = (first, rest) if first == "newest" else ("", suite)
    name, _, part = rest.partition(":")
    return how, name, part


def folder_of(suite):
    """The folder of tests/ that a suite belongs to."""
    name = split(suite)[1]
    folder = {"files": "readme", "library": "packages", "tails": "sql"}.get(name, name)
    return "sql" if name.startswith("sql-") else folder


def sql_files(part):
    names = sorted(name[:-4] for name in os.listdir("tests/sql") if name.endswith(".sql"))
    return [n for n in names if n not in SLOW_SQL] if part == "quick" else [part]


def commands(suite, build, worker):
    """(arguments, standard input, expected output) of the suite's commands; most print TAP."""
    name, part = split(suite)[1:]
    if name == "unit":
        return [(["stdbuf", "-oL", "%s/%s" % (worker, program(suite))], None, None)]
    if name in COMPILED_IN:
        form = ["quick", part] if part else []
        return [(["%s/%s" % (worker, name)] + form, None, None)]
    if name == "table":
        return [([build + "/table/table", "quick", part], None, None)]
    if name == "follow":
        return [(["%s/follow" % build, "quick", part], None, None)]
    if name == "damage":
        return [(["%s/damage" % build, "quick"], None, None)]
    if name == "sql":
        shell = ["sqlite3", "-batch", "-bail", "-list", "-init", "/dev/null", "-nullvalue", "NULL",
                 "-cmd", ".load %s/bloom" % worker, ":memory:"]
        return [(shell, "tests/sql/%s.sql" % file, "tests/sql/%s.expected" % file)
                for file in sql_files(part)]
    scripts = {"golden": "tests/golden/run.sh", "files": "tests/readme/files.sh"}
    return [([scripts.get(name, "%s/%s" % (build, name))], None, None)]


def form_of(room, program):
    """The form of FORMS in which a program has a room."""
    if program == "tails" and room in TAILS:
        return "tails-"
    return "" if program == "bloom.so" or room in KERNEL else "core-"  # these do not know SQLite


def program(suite):
    """What has to be linked for the suite: a program, or the loadable extension."""
    name, part = split(suite)[1:]
    if name == "unit":
        return "unit-" + part
    return name if name in COMPILED_IN else "bloom.so"
