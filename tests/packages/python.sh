#!/bin/sh
# The wheel, installed into a fresh environment outside of the tree, with Debian's sqlite3 and apsw;
# and what it says where it cannot work. Needs python3 with venv, setuptools, wheel and apsw, mypy.
# Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
PYTHON=/usr/bin/python3
. tests/packages/lib.sh

wheel=$(cd "$B/packages" && pwd)/$(readlink "$B/packages/$native.whl")
readme=$PWD/ext/packages/python/README.md
before=$(git status --short --ignored ext)

# The environment sees Debian's packages, for apsw, and none of the tree.
$PYTHON -m venv --system-site-packages "$work/env"
in_env() { (cd "$work" && env -u PYTHONPATH "$work/env/bin/$@" 2>&1); }
pip() { in_env pip --disable-pip-version-check --no-cache-dir "$@"; }
run() { in_env python -c "$1"; }


# README.md's line, in a folder that has build/packages and nothing else.
mkdir "$work/build"
ln -s "$(dirname "$wheel")" "$work/build/packages"
line=$(grep -m 1 "^pip install build/packages/.*_$(uname -m)" README.md)
contains "pip installs the wheel" "Successfully installed sqlite-bloom-$version" \
  "$(cd "$work" && PATH=$work/env/bin:$PATH PIP_NO_INDEX=1 sh -c "$line" 2>&1)"
say "one version" "$version $version" "$(run '
import sqlite3, sqlite_bloom
db = sqlite3.connect(":memory:")
sqlite_bloom.load(db)
print(sqlite_bloom.__version__, *db.execute("SELECT bloom_version()").fetchone())')"

# ---- used ----

sed -n '/^```python/,/^```$/p' "$readme" | sed '/^```/d' >"$work/readme.py"
promised=$(sed -n 's/^# prints: //p' "$work/readme.py")
say "the program of its README" "$promised" "$(in_env python readme.py | xargs)"

cat >"$work/used.py" <<'PYTHON'
import sys
import sqlite_bloom

if sys.argv[1] == "apsw":
    import apsw
    db = apsw.Connection(":memory:")
    execute = db.cursor().execute
    errors = apsw.SQLError
else:
    import sqlite3
    db = sqlite3.connect(":memory:")
    execute = db.execute
    errors = sqlite3.OperationalError
sqlite_bloom.load(db)
execute("CREATE TABLE words(word TEXT)")
execute("INSERT INTO words VALUES ('apple'), ('Äpfel'), ('5')")
execute("CREATE TABLE filters AS SELECT bloom_build(word, 1000, 1e-6) AS filter FROM words")
(bloom,) = execute("SELECT filter FROM filters").fetchone()
ask = lambda key: execute("SELECT bloom_contains(?, ?)", (bloom, key)).fetchone()[0]
print(type(bloom).__name__, [ask(key) for key in ("apple", "Äpfel", 5, 5.0, "fig", b"5", None)])
print(*execute("SELECT word FROM words WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters), "
               "word || '') AND word < 'b' ORDER BY word"))
execute("CREATE VIRTUAL TABLE seen USING bloom(n=1000, p=1e-6)")
execute("INSERT INTO seen(key) VALUES (?)", ("apple",))
print(*execute("SELECT bloom_lookup('seen', 'apple'), bloom_lookup('seen', 'fig')").fetchone())
for sql in ("SELECT bloom_contains(x'00', 1)", "SELECT load_extension('bloom')"):
    try:
        execute(sql).fetchone()
    except errors as error:
        print(error)
PYTHON
for driver in sqlite3 apsw; do
  say "$driver: filters bound and by bloom_ref, a table, errors as exceptions, loading is off again" \
    "bytes [1, 1, 1, 1, 0, 0, None]
('5',) ('apple',)
1 0
bloom_contains: not a bloom filter
not authorized" "$(in_env python used.py $driver | sed 's/^SQLError: //')"
done

say "loadable_path() is for the shell too" "$version" \
  "$(sqlite3 :memory: ".load $(run 'import sqlite_bloom; print(sqlite_bloom.loadable_path())')" \
  'SELECT bloom_version()' 2>&1)"
printf '%s\n' 'import sqlite3, sqlite_bloom' 'sqlite_bloom.load(sqlite3.connect(":memory:"))' \
  'path: str = sqlite_bloom.loadable_path()' >"$work/typed.py"
say "typed, for mypy --strict" "Success: no issues found in 1 source file" \
  "$(cd "$work" && mypy --strict --python-executable env/bin/python --cache-dir cache typed.py 2>&1)"
echo 'sqlite_bloom.load(5)' >>"$work/typed.py"
contains "typed: mypy finds a wrong argument" 'Argument 1 to "load" has incompatible type "int"' \
  "$(cd "$work" && mypy --strict --python-executable env/bin/python --cache-dir cache typed.py 2>&1)"

# ---- where it cannot work ----

contains "a Python without the loading of extensions" \
  "RuntimeError: this Python's sqlite3 was built without the loading of extensions" "$(run '
import sqlite_bloom
class Connection:
    """As sqlite3.Connection is there: without the two methods."""
sqlite_bloom.load(Connection())')"
contains "what SQLite refuses is the driver's error, and loading is off again" "[True, False]" "$(run '
import sqlite_bloom
class Connection:
    calls = []
    def enable_load_extension(self, on): self.calls.append(on)
    def load_extension(self, path): raise OSError("refused")
try:
    sqlite_bloom.load(Connection())
except OSError:
    print(Connection.calls)')"
contains "a platform that the wheel is not for" "is not a supported wheel on this platform" \
  "$(cp "$wheel" "$work/sqlite_bloom-$version-py3-none-manylinux_2_17_s390x.whl"
  pip install --no-index "$work/sqlite_bloom-$version-py3-none-manylinux_2_17_s390x.whl")"
site=$(run 'import sqlite_bloom, os; print(os.path.dirname(sqlite_bloom.__file__))')
mv "$site/bloom.so" "$work/kept"
contains "no library" "FileNotFoundError: sqlite_bloom has no $site/bloom.so: this installation is not \
for Linux $(uname -m)" "$(run 'import sqlite_bloom; sqlite_bloom.loadable_path()')"
echo "no library" >"$site/bloom.so"
contains "a library that is none" "$site/bloom.so: file too short" "$(run '
import sqlite3, sqlite_bloom
sqlite_bloom.load(sqlite3.connect(":memory:"))')"
mv "$work/kept" "$site/bloom.so"
contains "pip removes it" "Successfully uninstalled sqlite-bloom-$version" \
  "$(pip uninstall --yes sqlite-bloom)"
say "and leaves nothing behind" "gone" "$([ -e "$site" ] && find "$site" || echo gone)"
say "nothing was written into ext/" ".$before" ".$(git status --short --ignored ext)"
