# What make.sh and run.sh share.
GOLDEN=tests/golden
B=${B:-build}

# Runs the SQL of standard input in the sqlite3 shell, with the extension.
shell() {
  { echo ".load $B/bloom.so"; cat; } |
    sqlite3 -init /dev/null -batch -bail -list -separator '	' :memory:
}

# The SQL that makes a recipe's filter: afterwards it is in the table filters.
recipe_sql() {
  awk -f "$GOLDEN/sql.awk" "$GOLDEN/$1.recipe"
}

# The SQL that reads a kept filter into the table kept.
kept_sql() {
  echo "CREATE TEMP TABLE kept(filter); INSERT INTO kept VALUES (readfile('$GOLDEN/$1.bloom'));"
}

# A line of facts.tsv, from the kept file.
facts() {
  printf '%s\t' "$1"
  { kept_sql "$1"; cat "$GOLDEN/facts.sql"; } | shell
}
