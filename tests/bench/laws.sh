#!/bin/sh
# The cost laws of README.md, fitted to what the bench printed with --json:
#
#   tests/bench/laws.sh JSON
#
# One line for each cost: what it grows with, and the exponent e of cost ~ x^e that fits best, by
# least squares of the logarithms. Time is that of the whole call, of which the scan is a part.
set -eu
sqlite3 -batch -bail -markdown :memory: <<SQL
CREATE TABLE figure AS
  SELECT value ->> 'figure' AS name, value ->> 'n' AS n, value ->> 'ns' AS ns,
         value ->> 'value' AS value
  FROM json_each(readfile('$1')) WHERE value ->> 'verdict' IN ('ok', '-', 'OVER');
CREATE TABLE point(cost TEXT, x TEXT, low REAL, x_value REAL, y REAL);

-- in n; filters up to 1.2 MB, which the caches hold, and larger ones
INSERT INTO point SELECT 'build, n given', 'n', 1e6, n, n * ns FROM figure
WHERE name LIKE 'bloom_build of 1e_ texts, given n';
INSERT INTO point SELECT 'build, n NULL', 'n', 1e6, n, n * ns FROM figure
WHERE name LIKE 'bloom_build of 1e_ texts, n NULL';
INSERT INTO point SELECT 'build of integers, n given', 'n', 1e6, n, n * ns FROM figure
WHERE name LIKE 'bloom_build of 1e_ integers, given n';
INSERT INTO point SELECT 'build, n NULL, memory', 'n', 1e6, n, value FROM figure
WHERE name LIKE 'memory of a build of 1e_ keys, n NULL';
INSERT INTO point SELECT 'probed row, absent key', 'n', 1e6, n, ns FROM figure
WHERE name LIKE 'bloom_contains, bound, absent text, %B';
INSERT INTO point SELECT 'probed row, present key', 'n', 1e6, n, ns FROM figure
WHERE name LIKE 'bloom_contains, bound, present text, %B';
INSERT INTO point SELECT 'row looked up in an index', 'n', 1e6, n, ns FROM figure
WHERE name LIKE 'rival: EXISTS in an index%';
INSERT INTO point SELECT 'union of two', 'n', 1e6, n, ns FROM figure
WHERE name LIKE 'bloom_union of two, by size%';

-- in p, for a million keys
INSERT INTO point
  SELECT CASE WHEN name LIKE 'bloom_build%' THEN 'build, n given'
              WHEN name LIKE '%absent%' THEN 'probed row, absent key'
              ELSE 'probed row, present key' END,
         'log2(1/p)', 1e9, -log2(substr(name, instr(name, ', p = ') + 6)), ns
  FROM figure WHERE name LIKE '%texts, p = %' OR name LIKE 'bloom_contains, bound, % text, p = %';

CREATE VIEW range AS
  SELECT *, 'up to 1e6' AS part FROM point WHERE x = 'n' AND x_value <= low
  UNION ALL SELECT *, '1e6 and more' FROM point WHERE x = 'n' AND x_value >= low
  UNION ALL SELECT *, 'p from 0.1 to 1e-9' FROM point WHERE x <> 'n';
SELECT cost, x AS "grows with", part AS "measured for", count(*) AS points,
       CASE WHEN count(*) > 1 AND max(x_value) > min(x_value) THEN printf('%.2f',
         (count(*) * sum(ln(x_value) * ln(y)) - sum(ln(x_value)) * sum(ln(y))) /
         (count(*) * sum(ln(x_value) * ln(x_value)) - sum(ln(x_value)) * sum(ln(x_value)))) END
         AS exponent
FROM range GROUP BY x, cost, part ORDER BY x DESC, cost, part DESC;
SQL
