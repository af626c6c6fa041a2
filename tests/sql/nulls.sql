-- NULL keys, NULL filters where they are allowed, and groups of nothing.
CREATE TABLE k(v);
INSERT INTO k VALUES (1), (NULL), (2);
SELECT 'NULL keys are skipped', bloom_contains(f, 1), bloom_contains(f, 2), bloom_contains(f, 3), bloom_contains(f, NULL) FROM (SELECT bloom_build(v, 100, 1e-6) AS f FROM k);
SELECT 'and do not count', json_extract(bloom_info(bloom_build(v)), '$.n') FROM k;
SELECT 'n NULL sizes by the data', bloom_build(v, NULL) = bloom_build(v), bloom_build(v, NULL, NULL) = bloom_build(v), bloom_build(v, (SELECT max(v) FROM k WHERE 0), 0.01) = bloom_build(v) FROM k;
SELECT 'a group of NULL keys', v IS NULL, bloom_build(v, 10, 0.1) = bloom_build(NULL) FROM k GROUP BY v IS NULL;
SELECT 'an outer join', count(*) FROM k LEFT JOIN (SELECT 5 AS w) ON w = v WHERE bloom_contains((SELECT bloom_build(v, 10, 0.1) FROM k), w);
SELECT 'three values', count(*) FILTER (WHERE c), count(*) FILTER (WHERE NOT c), count(*) FILTER (WHERE c IS NULL) FROM (SELECT bloom_contains((SELECT bloom_build(1, 100, 1e-6)), v) AS c FROM k);
SELECT 'count and rate of nothing', bloom_count(f), bloom_fpr(f), bloom_contains(f, 1) FROM (SELECT bloom_build(v) AS f FROM k WHERE 0);
SELECT 'NULL parts of a key', bloom_key(1, NULL) IS NULL, bloom_contains(bloom_build(bloom_key(v, 1), 10, 1e-6), bloom_key(2, 1)) FROM k;
SELECT 'union of rows without a filter and with', bloom_contains(bloom_union(f), 1) FROM (SELECT NULL AS f UNION ALL SELECT bloom_build(1, 10, 0.01) UNION ALL SELECT NULL);
