-- Joins of columns of every affinity, with every spelling: AND bloom_contains(...) loses no row.
CREATE TABLE spellings(v);
INSERT INTO spellings VALUES ('5'), (' 5'), ('05'), ('5.0'), ('5e0'), ('.5'), ('5.'), ('0.1'), ('1e2'), ('+7'), ('-0'),
  ('0'), ('5 '), ('0.5'), ('-5'), ('1e-1'), ('100'), ('7.0'), ('-0.0'), ('x'), (''), ('5x'), (' '),
  (5), (5.0), (0.5), (0.1), (100), (1e2), (7), (0), (-0.0), (-5), (X'35'), (NULL),
  (9007199254740992), ('9007199254740992'), (9007199254740992.0), (1e15), ('1e15'), (9223372036854775807), ('9223372036854775807'), ('1e18'), (1e18),
  (char(9) || '5' || char(10)), ('5' || char(0)), (9e999), (12.5), ('12.50'), ('1250e-2'), ('0.000001'), (1e-6), ('123456789.012345'), (123456789.012345);
CREATE TABLE a(t TEXT, i INTEGER, r REAL, n NUMERIC, u, b BLOB);
INSERT INTO a SELECT v, v, v, v, v, v FROM spellings;
CREATE TABLE filters AS SELECT bloom_build(t, 100, 1e-9) AS t, bloom_build(i, 100, 1e-9) AS i, bloom_build(r, 100, 1e-9) AS r, bloom_build(n, 100, 1e-9) AS n, bloom_build(u, 100, 1e-9) AS u, bloom_build(b, 100, 1e-9) AS b FROM a;
CREATE TABLE joins(pair TEXT, plain INTEGER, pre INTEGER, kept INTEGER);
-- plain: rows of the join; pre: with the precheck on the outer side; kept: without the join's =
INSERT INTO joins SELECT 'tt', count(*), sum(bloom_contains(f.t, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.t;
INSERT INTO joins SELECT 'ti', count(*), sum(bloom_contains(f.i, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.i;
INSERT INTO joins SELECT 'tr', count(*), sum(bloom_contains(f.r, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.r;
INSERT INTO joins SELECT 'tn', count(*), sum(bloom_contains(f.n, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.n;
INSERT INTO joins SELECT 'tu', count(*), sum(bloom_contains(f.u, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.u;
INSERT INTO joins SELECT 'tb', count(*), sum(bloom_contains(f.b, x.t)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, t)) FROM a AS x, a AS y, filters AS f WHERE x.t = y.b;
INSERT INTO joins SELECT 'it', count(*), sum(bloom_contains(f.t, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.t;
INSERT INTO joins SELECT 'ii', count(*), sum(bloom_contains(f.i, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.i;
INSERT INTO joins SELECT 'ir', count(*), sum(bloom_contains(f.r, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.r;
INSERT INTO joins SELECT 'in', count(*), sum(bloom_contains(f.n, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.n;
INSERT INTO joins SELECT 'iu', count(*), sum(bloom_contains(f.u, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.u;
INSERT INTO joins SELECT 'ib', count(*), sum(bloom_contains(f.b, x.i)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, i)) FROM a AS x, a AS y, filters AS f WHERE x.i = y.b;
INSERT INTO joins SELECT 'rt', count(*), sum(bloom_contains(f.t, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.t;
INSERT INTO joins SELECT 'ri', count(*), sum(bloom_contains(f.i, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.i;
INSERT INTO joins SELECT 'rr', count(*), sum(bloom_contains(f.r, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.r;
INSERT INTO joins SELECT 'rn', count(*), sum(bloom_contains(f.n, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.n;
INSERT INTO joins SELECT 'ru', count(*), sum(bloom_contains(f.u, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.u;
INSERT INTO joins SELECT 'rb', count(*), sum(bloom_contains(f.b, x.r)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, r)) FROM a AS x, a AS y, filters AS f WHERE x.r = y.b;
INSERT INTO joins SELECT 'nt', count(*), sum(bloom_contains(f.t, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.t;
INSERT INTO joins SELECT 'ni', count(*), sum(bloom_contains(f.i, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.i;
INSERT INTO joins SELECT 'nr', count(*), sum(bloom_contains(f.r, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.r;
INSERT INTO joins SELECT 'nn', count(*), sum(bloom_contains(f.n, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.n;
INSERT INTO joins SELECT 'nu', count(*), sum(bloom_contains(f.u, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.u;
INSERT INTO joins SELECT 'nb', count(*), sum(bloom_contains(f.b, x.n)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, n)) FROM a AS x, a AS y, filters AS f WHERE x.n = y.b;
INSERT INTO joins SELECT 'ut', count(*), sum(bloom_contains(f.t, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.t;
INSERT INTO joins SELECT 'ui', count(*), sum(bloom_contains(f.i, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.i;
INSERT INTO joins SELECT 'ur', count(*), sum(bloom_contains(f.r, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.r;
INSERT INTO joins SELECT 'un', count(*), sum(bloom_contains(f.n, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.n;
INSERT INTO joins SELECT 'uu', count(*), sum(bloom_contains(f.u, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.u;
INSERT INTO joins SELECT 'ub', count(*), sum(bloom_contains(f.b, x.u)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, u)) FROM a AS x, a AS y, filters AS f WHERE x.u = y.b;
INSERT INTO joins SELECT 'bt', count(*), sum(bloom_contains(f.t, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.t, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.t;
INSERT INTO joins SELECT 'bi', count(*), sum(bloom_contains(f.i, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.i, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.i;
INSERT INTO joins SELECT 'br', count(*), sum(bloom_contains(f.r, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.r, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.r;
INSERT INTO joins SELECT 'bn', count(*), sum(bloom_contains(f.n, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.n, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.n;
INSERT INTO joins SELECT 'bu', count(*), sum(bloom_contains(f.u, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.u, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.u;
INSERT INTO joins SELECT 'bb', count(*), sum(bloom_contains(f.b, x.b)), (SELECT count(*) FROM a WHERE bloom_contains(f.b, b)) FROM a AS x, a AS y, filters AS f WHERE x.b = y.b;
SELECT 'lost', * FROM joins WHERE plain <> pre;
SELECT 'pairs', count(*), min(plain) > 20, sum(plain = pre) FROM joins;
-- and the precheck does not let everything through: of 53 keys of a, none is in a filter of others
CREATE TABLE others AS SELECT bloom_build(value, 100, 1e-9) AS f FROM json_each('[6,"y","6.5",-7,"1e3"]');
SELECT 'absent', sum(bloom_contains(f, t)) + sum(bloom_contains(f, i)) + sum(bloom_contains(f, r)) + sum(bloom_contains(f, n)) + sum(bloom_contains(f, u)) + sum(bloom_contains(f, b)) FROM a, others;
-- Decimals of up to 15 digits against what SQLite reads from them: TEXT with REAL, 7 * 5,000 keys.
-- A linear congruential generator in 31 bits gives the digits.
CREATE TABLE decimals(t TEXT, digits INTEGER);
INSERT INTO decimals WITH RECURSIVE
  c(i, x) AS (SELECT 0, 42 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM c WHERE i < 70000),
  pairs(i, x, y) AS (SELECT i, x, lead(x) OVER (ORDER BY i) FROM c),
  numbers(i, d) AS (SELECT i, substr(printf('%010d%010d', x, y), 4, 3 + i / 2 % 13) FROM pairs WHERE i % 2 = 0 AND y IS NOT NULL)
SELECT CASE i / 2 % 3 WHEN 0 THEN '0.' || d WHEN 1 THEN substr(d, 1, 2) || '.' || substr(d, 3) ELSE d || 'e-' || (i / 2 % 17) END, length(d) FROM numbers;
CREATE TABLE reals(r REAL PRIMARY KEY);
INSERT OR IGNORE INTO reals SELECT t FROM decimals;
SELECT 'decimals', count(*), max(digits) FROM decimals;
SELECT 'lost', t, digits FROM decimals CROSS JOIN reals ON r = t WHERE NOT bloom_contains((SELECT bloom_ref(f) FROM (SELECT bloom_build(r, 35000, 1e-9) AS f FROM reals)), t) LIMIT 20;
SELECT 'lost', t, digits FROM decimals CROSS JOIN reals ON r = t WHERE NOT bloom_contains((SELECT bloom_ref(f) FROM (SELECT bloom_build(t, 35000, 1e-9) AS f FROM decimals)), r) LIMIT 20;
