# Turns a recipe into SQL for the sqlite3 shell: awk -f sql.awk NAME.recipe
#
# README.md describes recipes. Afterwards the table filters has one row, the filter that the recipe
# makes, and the table members the keys that it must be found to contain.
BEGIN {
  FS = "\t"
  depth = 0
  print "CREATE TEMP TABLE filters(id INTEGER PRIMARY KEY, filter);"
  print "CREATE TEMP TABLE members(id, key);"
  print "CREATE TEMP TABLE rows(id INTEGER PRIMARY KEY, key);"
}

function hex_value(digits,    i, value) {
  value = 0
  for (i = 1; i <= length(digits); i++) {
    value = value * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
  }
  return value
}

# The REAL with these IEEE bits, as a product of exact factors: no literal has to be parsed.
function real(bits,    top, negative, exponent, mantissa, text, step) {
  top = hex_value(substr(bits, 1, 3))
  mantissa = hex_value(substr(bits, 4))
  negative = top >= 2048
  exponent = top % 2048
  if (exponent == 2047) return negative ? "-9e999" : "9e999"
  if (exponent > 0) mantissa += 4503599627370496
  else exponent = 1
  text = sprintf("CAST(%.0f AS REAL)", mantissa)
  for (exponent -= 1075; exponent != 0; exponent += exponent < 0 ? step : -step) {
    step = exponent < 0 ? -exponent : exponent
    if (step > 60) step = 60
    text = sprintf("%s %s CAST(1 << %d AS REAL)", text, exponent < 0 ? "/" : "*", step)
  }
  return negative ? "-1.0 * " text : text
}

function value(type, text) {
  if (type == "i") return text
  if (type == "r") return real(text)
  if (type == "t") return "CAST(x'" text "' AS TEXT)"
  if (type == "b") return "x'" text "'"
  fail("unknown type " type)
}

function fail(why) {
  print FILENAME ":" FNR ": " why >"/dev/stderr"
  failed = 1
  exit 1
}

function row(expression) {
  printf "INSERT INTO rows(key) VALUES (%s);\n", expression
}

# Every key changes the filter of the step before.
function one_by_one(call) {
  printf "UPDATE filters SET filter = (WITH RECURSIVE step(at, f) AS (SELECT 0, filters.filter "
  printf "UNION ALL SELECT at + 1, %s(f, key) FROM step JOIN rows ON id = at + 1) ", call
  printf "SELECT f FROM step WHERE at = (SELECT count(*) FROM rows)) WHERE id = %d;\n", depth
}

# Does what the last instruction says with the keys that came behind it.
function finish_block() {
  if (block == "build") {
    printf "INSERT INTO filters SELECT %d, bloom_build(key, %s, %s, '%s') ", depth, n, p, kind
    print "FROM (SELECT key FROM rows ORDER BY id);"
  } else if (block == "add" || block == "remove") {
    one_by_one("bloom_" block)
  }
  if (block == "remove") {
    print "DELETE FROM members WHERE rowid IN (SELECT row FROM (SELECT m.rowid AS row,"
    print "  row_number() OVER (PARTITION BY key) AS nth,"
    print "  (SELECT count(*) FROM rows r WHERE r.key IS m.key) AS removed FROM members m)"
    print "  WHERE nth <= removed);"
  } else if (block != "") {
    printf "INSERT INTO members SELECT %d, key FROM rows;\n", depth
  }
  print "DELETE FROM rows;"
  block = ""
}

function sql_or_null(text) {
  return text == "-" ? "NULL" : text
}

/^#/ || /^$/ { next }
$1 ~ /^(build|new|add|remove|union|intersect)$/ { finish_block() }
$1 == "build" || $1 == "new" {
  depth++
  n = sql_or_null($2); p = sql_or_null($3); kind = $4
  if ($1 == "new") {
    printf "INSERT INTO filters SELECT %d, bloom_new(%s, %s, '%s');\n", depth, n, p, kind
  } else {
    block = "build"
  }
  next
}
$1 == "add" || $1 == "remove" { block = $1; next }
$1 == "union" || $1 == "intersect" {
  depth--
  printf "UPDATE filters SET filter = bloom_%s(filter, ", $1
  printf "(SELECT filter FROM filters WHERE id = %d)) ", depth + 1
  printf "WHERE id = %d;\nDELETE FROM filters WHERE id = %d;\n", depth, depth + 1
  if ($1 == "intersect") {
    printf "DELETE FROM members WHERE id >= %d AND key NOT IN (", depth
    printf "SELECT key FROM members WHERE id = %d INTERSECT ", depth
    printf "SELECT key FROM members WHERE id = %d);\n", depth + 1
  }
  printf "UPDATE members SET id = %d WHERE id = %d;\n", depth, depth + 1
  next
}
block == "" { fail("a key without build, add or remove in front") }
$1 == "s" {
  printf "INSERT INTO rows(key) SELECT value FROM generate_series(%s, %s);\n", $2, $3
  next
}
$1 == "k" {
  parts = ""
  for (i = 2; i <= NF; i += 2) parts = parts (i > 2 ? ", " : "") value($i, $(i + 1))
  row("bloom_key(" parts ")")
  next
}
{ row(value($1, $2)) }
END {
  if (failed) exit 1
  finish_block()
  if (depth != 1) fail("a recipe ends with one filter, this one with " depth)
}
