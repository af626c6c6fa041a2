-- Merging: shards, rollups, grown filters, the laws. (Refusals are in errors.c.)
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) SELECT i, i % 7 AS shard FROM c;
-- n is for the whole: seven shards, merged in any grouping, are the single build byte for byte
CREATE TABLE shards AS SELECT shard, bloom_build(i, 20000, 0.01) AS f FROM t GROUP BY shard;
CREATE TABLE whole AS SELECT bloom_build(i, 20000, 0.01) AS f FROM t;
SELECT 'shards', bloom_union(f) = (SELECT f FROM whole) FROM shards;
SELECT 'in two steps', bloom_union(u) = (SELECT f FROM whole) FROM (SELECT bloom_union(f) AS u FROM shards GROUP BY shard % 3);
SELECT 'backwards', bloom_union(f) = (SELECT f FROM whole) FROM (SELECT f FROM shards ORDER BY shard DESC LIMIT -1);
SELECT 'added to a shard', bloom_union(bloom_add(f, 'extra')) = bloom_add((SELECT f FROM whole), 'extra') FROM shards;
SELECT 'shards of disjoint keys intersect in next to nothing', bloom_fpr(bloom_intersect(f)) < 1e-4 FROM shards;
-- days rolled up to a month
CREATE TABLE daily(day TEXT, f BLOB);
INSERT INTO daily SELECT '2026-01-' || (10 + shard), bloom_build(i, 20000, 0.001) FROM t WHERE shard < 5 GROUP BY shard;
INSERT INTO daily VALUES ('2026-01-20', NULL);
INSERT INTO daily SELECT '2026-02-01', bloom_build(i, 20000, 0.001) FROM t WHERE i <= 10;
CREATE TABLE monthly AS SELECT substr(day, 1, 7) AS month, bloom_union(f) AS f FROM daily GROUP BY 1;
SELECT '2026-01', sum((shard < 5) AND bloom_contains((SELECT bloom_ref(f) FROM monthly WHERE month = '2026-01'), i)), sum(shard < 5), sum(NOT (shard < 5) AND bloom_contains((SELECT bloom_ref(f) FROM monthly WHERE month = '2026-01'), i)) < 30 FROM t;
SELECT '2026-02', sum((i <= 10) AND bloom_contains((SELECT bloom_ref(f) FROM monthly WHERE month = '2026-02'), i)), sum(i <= 10), sum(NOT (i <= 10) AND bloom_contains((SELECT bloom_ref(f) FROM monthly WHERE month = '2026-02'), i)) < 30 FROM t;
-- grown filters of one n and p merge with each other and with plain ones: no key is lost
CREATE TABLE grown AS SELECT shard, bloom_build(i, 500, 0.001) AS f FROM t GROUP BY shard;
INSERT INTO grown SELECT 7, bloom_build(-i, 500, 0.001) FROM t WHERE i <= 100;
CREATE TABLE all_grown AS SELECT bloom_union(f) AS f FROM grown;
SELECT 'grown: every key', sum(bloom_contains((SELECT bloom_ref(f) FROM all_grown), i)) FROM t;
SELECT 'grown: the plain one', sum(bloom_contains((SELECT bloom_ref(f) FROM all_grown), -i)) FROM t WHERE i <= 100;
-- Merging eight filters of rate 0.001 adds keys: seven first layers of 475 keys and more in one
-- that was sized for 500. The rate is what bloom_fpr says: 20,000 absent keys, 4 sigma.
SELECT 'grown: absent keys at the stated rate', abs(sum(bloom_contains((SELECT bloom_ref(f) FROM all_grown), i + 1000000)) - 20000 * (SELECT bloom_fpr(f) FROM all_grown)) <= 4 * sqrt(20000 * (SELECT bloom_fpr(f) * (1 - bloom_fpr(f)) FROM all_grown)), (SELECT bloom_fpr(f) FROM all_grown) > 0.001 FROM t;
SELECT 'grown: idempotent up to the order of layers', bloom_union(f, f) = f FROM grown WHERE shard = 0;
-- counting filters: sums, so that what one shard holds twice is removed twice
CREATE TABLE counters AS SELECT bloom_build(i, 20000, 0.01, 'counting') AS f FROM t GROUP BY shard % 2;
SELECT 'counting: the single build', bloom_union(f) = (SELECT bloom_build(i, 20000, 0.01, 'counting') FROM t) FROM counters;
SELECT 'counting: twice in, twice out', bloom_contains(bloom_remove(u, 'x'), 'x'), bloom_contains(bloom_remove(u, 'x', 'x'), 'x') FROM (SELECT bloom_union(f, f) AS u FROM (SELECT bloom_build('x', 10, 1e-6, 'counting') AS f));
-- 15 is where a counter stays: 20 in and 20 out leaves the key in, rather than lose another
CREATE TABLE full AS SELECT bloom_build('x', 10, 1e-6, 'counting') AS f FROM t WHERE i <= 20;
SELECT 'counting: saturated', json_extract(bloom_explain(f, 'x'), '$.layers[0].counters[0]'), json_extract(bloom_explain(bloom_union(f, f), 'x'), '$.layers[0].counters[0]'), bloom_contains(bloom_remove(f, 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'), 'x') FROM full;
-- a bloom_ref, whose layers lie otherwise, gives the same bytes as the blob that it was made of
CREATE TABLE pairs AS SELECT 'plain' AS name, (SELECT f FROM shards WHERE shard = 0) AS a, (SELECT f FROM shards WHERE shard = 1) AS b UNION ALL SELECT 'grown', (SELECT f FROM grown WHERE shard = 0), (SELECT f FROM grown WHERE shard = 1) UNION ALL SELECT 'counting', (SELECT f FROM counters LIMIT 1), (SELECT f FROM counters LIMIT 1 OFFSET 1) UNION ALL SELECT 'with unsized', bloom_build(NULL), (SELECT f FROM shards WHERE shard = 0);
SELECT 'union with a bloom_ref', group_concat(name), sum(bloom_union(a, bloom_ref(b)) = bloom_union(a, b)), sum(bloom_union(bloom_ref(a), b) = bloom_union(a, b)), sum(bloom_union(a, bloom_ref(b)) <> a) FROM pairs;
SELECT 'intersection with a bloom_ref', sum(bloom_intersect(a, bloom_ref(b)) = bloom_intersect(a, b)), sum(bloom_intersect(a, bloom_ref(b)) <> b) FROM pairs WHERE name <> 'grown';
