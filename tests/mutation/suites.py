"""What a mutant is tested with: commands, and for each room of ext/ the suites in the order in which
they are tried. All of them are suites of `make check`; quick killers come first."""

import os

KERNEL = ["sizing", "filter", "format", "hashes"]

# Programs with the extension compiled in: what they are linked from, and with.
UNIT = {name: ([name], KERNEL, ["-lcmocka", "-lm"]) for name in KERNEL + ["platform"]}
UNIT["key"] = (["key"], KERNEL + ["key"], ["-lcmocka", "-lsqlite3", "-lm"])
COMPILED_IN = ("table", "oom", "promise")

SLOW_SQL = ("growth", "joins", "hash_quality")

# Every suite, quick ones first.
ORDER = """
unit:platform unit:filter unit:format unit:hashes sql:quick sql-functions sql-errors sql-placement
sql-statements promise:dedupe promise:properties promise:laws promise:estimates oom:entry oom:limits
table:transactions follow:input promise:memory files unit:sizing unit:key sql:growth sql:joins
promise:additions follow:life table:input table:damage table:house oom:functions oom:table oom:follow
follow:detach readme golden follow:names follow:hostile table:steps table:kill table:processes
promise:rates sql:hash_quality examples promise:growth follow:mix table:faults""".split()

SQL = "sql:quick sql-functions sql-errors sql-placement sql-statements"
FILTERS = SQL + """ promise:dedupe promise:properties promise:laws promise:estimates oom:limits
  table:transactions promise:memory sql:growth sql:joins promise:additions oom:functions readme golden
  promise:rates examples promise:growth table:input"""
TABLES = """sql-functions sql-errors sql-statements oom:limits table:transactions follow:input files
  follow:life table:input table:damage table:house oom:functions oom:table oom:follow follow:detach
  readme follow:names follow:hostile table:steps table:kill table:processes examples follow:mix
  table:faults oom:entry"""

ROOMS = {
    "sizing": "unit:sizing unit:filter unit:format " + FILTERS,
    "filter": "unit:filter unit:format " + FILTERS,
    "format": "unit:format table:damage " + FILTERS,
    "hashes": "unit:hashes " + FILTERS,
    "key": "sql:quick sql-errors unit:key table:transactions oom:functions golden readme examples",
    "args": FILTERS,
    "functions": FILTERS,
    "aggregates": FILTERS,
    "describe": FILTERS,
    "extension": FILTERS + " oom:entry files",
    "store": TABLES,
    "table": TABLES,
    "follow": TABLES,
}


def suites_of(file):
    """The suites of a file of ext/; those of a header are all."""
    names = ROOMS[file[:-2]].split() if file.endswith(".c") and file[:-2] in ROOMS else ORDER
    return sorted(names, key=ORDER.index)


def folder_of(suite):
    """The folder of tests/ that a suite belongs to: when that is changed, survivors are tried again."""
    name = suite.split(":")[0]
    return {"sql-errors": "sql", "sql-functions": "sql", "sql-placement": "sql",
            "sql-statements": "sql", "files": "readme"}.get(name, name)


def sql_files(part):
    names = sorted(name[:-4] for name in os.listdir("tests/sql") if name.endswith(".sql"))
    return [n for n in names if n not in SLOW_SQL] if part == "quick" else [part]


def commands(suite, build, worker):
    """(arguments, standard input, expected output) of the suite's commands; most print TAP."""
    name, _, part = suite.partition(":")
    if name == "unit":
        return [(["stdbuf", "-oL", "%s/unit-%s" % (worker, part)], None, None)]
    if name in COMPILED_IN:
        return [(["%s/%s" % (worker, name), "quick", part], None, None)]
    if name == "follow":
        extent = "tiny" if part == "mix" else "quick"
        return [(["%s/follow" % build, extent, part], None, None)]
    if name == "sql":
        shell = ["sqlite3", "-batch", "-bail", "-list", "-init", "/dev/null", "-nullvalue", "NULL",
                 "-cmd", ".load %s/bloom" % worker, ":memory:"]
        return [(shell, "tests/sql/%s.sql" % file, "tests/sql/%s.expected" % file)
                for file in sql_files(part)]
    if name == "readme":
        return [(["%s/readme-blocks" % build, "README.md", "%s/bloom.so" % worker], None, None)]
    scripts = {"golden": "tests/golden/run.sh", "examples": "tests/examples/run.sh",
               "files": "tests/readme/files.sh"}
    return [([scripts.get(name, "%s/%s" % (build, name))], None, None)]


def program(suite):
    """What has to be linked for the suite: a program, or the loadable extension."""
    name, _, part = suite.partition(":")
    if name == "unit":
        return "unit-" + part
    return name if name in COMPILED_IN else "bloom.so"
