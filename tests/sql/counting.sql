-- Counting filters as a multiset, against a table of what is in.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) SELECT i FROM c;
CREATE TABLE f AS SELECT bloom_build(i, 2000, 0.001, 'counting') AS f FROM t;
SELECT 'bytes: four bits a cell', length(f) BETWEEN 4 * bloom_size(2000, 0.001) - 4 * 72 - 256 AND 4 * bloom_size(2000, 0.001) FROM f;
SELECT 'the same cells as a plain filter', json_extract(bloom_info(f), '$.bits', '$.bits_set', '$.k') = json_extract(bloom_info(bloom_build(i, 2000, 0.001)), '$.bits', '$.bits_set', '$.k') FROM f, t;
SELECT 'the same answers', min(bloom_contains((SELECT f FROM f), i) = bloom_contains((SELECT bloom_ref(p) FROM (SELECT bloom_build(i, 2000, 0.001) AS p FROM t)), i)) FROM (SELECT i FROM t UNION ALL SELECT i + 5000 FROM t);
-- odd keys out, one call a key: even ones stay, odd ones are gone but for the rate
CREATE TABLE less AS WITH RECURSIVE c(i, f) AS (SELECT 1, (SELECT f FROM f) UNION ALL SELECT i + 2, bloom_remove(f, i) FROM c WHERE i < 2000) SELECT f FROM c WHERE i = 2001;
SELECT 'even keys stay', sum(bloom_contains(f, i)) FROM less, t WHERE i % 2 = 0;
SELECT 'odd keys are gone', sum(bloom_contains(f, i)) <= 3 FROM less, t WHERE i % 2 = 1;
SELECT 'as if they had never been in', f = (SELECT bloom_build(i, 2000, 0.001, 'counting') FROM t WHERE i % 2 = 0) FROM less;
SELECT 'absent keys: 2 expected, at most 8', sum(bloom_contains(f, i + 5000)) <= 8 FROM f, t;
SELECT 'any order', (SELECT bloom_build(i, 2000, 0.001, 'counting') FROM (SELECT i FROM t ORDER BY i DESC LIMIT -1)) = f FROM f;
SELECT 'a multiset: every row counts', bloom_build(v, 10, 0.01, 'counting') = bloom_add(bloom_new(10, 0.01, 'counting'), 'a', 'a', 'b') FROM (SELECT 'a' AS v UNION ALL SELECT 'a' UNION ALL SELECT 'b');
SELECT 'sized by the data: distinct keys', json_extract(bloom_info(bloom_build(i % 100, NULL, 0.01, 'counting')), '$.n') FROM t;
SELECT 'sized by the data: as with that n', bloom_build(i % 100, NULL, 0.01, 'counting') = bloom_build(i % 100, 100, 0.01, 'counting') FROM t WHERE i <= 300;
SELECT 'removal leaves the key types', json_extract(bloom_info(bloom_remove(bloom_build(1, 9, 0.1, 'counting'), 1)), '$.key_types');
