-- When n was wrong: a build keeps its rate at p, additions keep theirs at 2p; no key is lost.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 50000) SELECT i FROM c;
-- Wrong by a factor; hits among 50,000 absent keys. At p = 0.01 500 are expected; sigma is
-- 22 from the draw and about 3 % of the rate from the layers' fill: 4 * 27.
CREATE TABLE built(n INTEGER PRIMARY KEY, f BLOB);
INSERT INTO built SELECT 50, bloom_build(i, 50, 0.01) FROM t;
INSERT INTO built SELECT 1000, bloom_build(i, 1000, 0.01) FROM t;
INSERT INTO built SELECT 5000, bloom_build(i, 5000, 0.01) FROM t;
INSERT INTO built SELECT 25000, bloom_build(i, 25000, 0.01) FROM t;
INSERT INTO built SELECT 45000, bloom_build(i, 45000, 0.01) FROM t;
INSERT INTO built SELECT 50000, bloom_build(i, 50000, 0.01) FROM t;
SELECT 'every key', 50, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 50), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 50), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'every key', 1000, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 1000), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 1000), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'every key', 5000, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 5000), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 5000), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'every key', 25000, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 25000), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 25000), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'every key', 45000, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 45000), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 45000), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'every key', 50000, sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 50000), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM built WHERE n = 50000), -i)) BETWEEN 200 AND 608 FROM t;
SELECT 'rate', n, bloom_fpr(f) <= 0.0112 FROM built;
SELECT 'layers', n, json_extract(bloom_info(f), '$.layers') FROM built;
-- two layers at p/2 each cost 1.44 bits a key more than the 9.6 of the right n: 1.15 times
SELECT 'bytes', n, length(f) <= 1.19 * bloom_size(50000, 0.01) FROM built;
-- exactly n is one layer, in any order of rows
SELECT 'exactly n', (SELECT bloom_build(i, 50000, 0.01) FROM (SELECT i FROM t ORDER BY -i LIMIT -1)) = f, length(f) = bloom_size(50000, 0.01) FROM built WHERE n = 50000;
-- n is still the one asked for
SELECT 'n', group_concat(json_extract(bloom_info(f), '$.n')) FROM built;
-- n = 1 and n = 10, a thousand times over
CREATE TABLE small AS SELECT 1 AS n, bloom_build(i, 1, 0.01) AS f FROM t WHERE i <= 1000;
INSERT INTO small SELECT 10, bloom_build(i, 10, 0.01) FROM t WHERE i <= 10000;
SELECT 'a thousand times over', 1, sum(i <= 1000 AND bloom_contains((SELECT bloom_ref(f) FROM small WHERE n = 1), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM small WHERE n = 1), -i)) BETWEEN 100 AND 700 FROM t;
SELECT 'a thousand times over', 10, sum(i <= 10000 AND bloom_contains((SELECT bloom_ref(f) FROM small WHERE n = 10), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM small WHERE n = 10), -i)) BETWEEN 100 AND 700 FROM t;
-- Additions: 3,000 keys, one call each, to a filter of 100 at p = 0.01.
CREATE TABLE added AS WITH RECURSIVE c(i, f) AS (SELECT 0, bloom_new(100, 0.01) UNION ALL SELECT i + 1, bloom_add(f, i + 1) FROM c WHERE i < 3000) SELECT f FROM c WHERE i = 3000;
SELECT 'added: every key', sum(bloom_contains((SELECT bloom_ref(f) FROM added), i)) FROM t WHERE i <= 3000;
-- at most 2p: 1,000 of 50,000 absent keys, plus 4 sigma
SELECT 'added: absent keys', sum(bloom_contains((SELECT bloom_ref(f) FROM added), -i)) BETWEEN 100 AND 1000 + 4 * 32 FROM t;
-- layers of 100, then 100, 200, 400, 800 and 1600 keys; the first takes a few more than 100
SELECT 'added: layers', group_concat(json_extract(value, '$.capacity')) FROM added, json_each(bloom_info(f), '$.layer_table');
SELECT 'added: rates halve', round(0.01 / json_extract(value, '$.rate'), 3) FROM added, json_each(bloom_info(f), '$.layer_table') WHERE key > 0;
SELECT 'added in one call is the same', f = bloom_add((SELECT bloom_add(bloom_new(100, 0.01), 1, 2, 3)), 1) FROM (SELECT bloom_add(bloom_new(100, 0.01), 3, 2, 1) AS f);
-- Counting filters do not grow: overfilled, they say so.
CREATE TABLE counted AS SELECT bloom_build(i, 1000, 0.01, 'counting') AS f FROM t WHERE i <= 3000;
SELECT 'counting', json_extract(bloom_info(f), '$.layers'), bloom_fpr(f) > 0.3 FROM counted;
SELECT 'counting: every key', sum(bloom_contains((SELECT bloom_ref(f) FROM counted), i)) FROM t WHERE i <= 3000;
-- of fewer than 64 keys none is placed before their number is known: a small layer's rate is above its mean
SELECT 'few keys', json_extract(bloom_info(bloom_build(i, 63, 0.01)), '$.layer_table[1].capacity'), json_extract(bloom_info(bloom_build(i, 64, 0.01)), '$.layer_table[1].capacity') < 200 FROM t WHERE i <= 200;
