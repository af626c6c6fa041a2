-- bloom_fpr(filter): the false-positive rate now, from the bits.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) SELECT i FROM c;
SELECT 'type', typeof(bloom_fpr(bloom_new(10, 0.01))), typeof(bloom_fpr(bloom_build(NULL)));
SELECT 'empty', bloom_fpr(bloom_new(10, 0.01)), bloom_fpr(bloom_build(NULL));
-- 7 of 99 cells are set: (7/99)^7
SELECT 'one key', round(bloom_fpr(bloom_build('abc', 10, 0.01)) / ((7/99.0)*(7/99.0)*(7/99.0)*(7/99.0)*(7/99.0)*(7/99.0)*(7/99.0)), 9);
-- Full at p = 0.01, n = 1000: the fill's scatter (sigma 0.4 % of it, times k = 7) makes the rate
-- scatter by 3 % of itself; 4 sigma.
SELECT 'full', bloom_fpr(bloom_build(i, 1000, 0.01)) BETWEEN 0.0088 AND 0.0112 FROM t WHERE i <= 1000;
SELECT 'full, lines', bloom_fpr(bloom_build(i, 20000, 0.01)) BETWEEN 0.0096 AND 0.0104 FROM t;
SELECT 'half full is far below', bloom_fpr(bloom_build(i, 1000, 0.01)) < 0.0005 FROM t WHERE i <= 500;
SELECT 'grown keeps p', bloom_fpr(bloom_build(i, 1000, 0.01)) <= 0.0112 FROM t;
SELECT 'never outside [0, 1]', min(bloom_fpr(f)) >= 0 AND max(bloom_fpr(f)) <= 1
FROM (SELECT bloom_build(i, 1 + i % 17, 0.9, 'counting') AS f FROM t GROUP BY i % 17
      UNION ALL SELECT bloom_build(i, 10, 0.5) FROM t UNION ALL SELECT bloom_new(3, 0.99));
-- The measured rate is the reported one: 20,000 absent keys, about 200 hits, sigma 14; 4 sigma.
SELECT 'measured', abs(sum(bloom_contains((SELECT bloom_ref(f) FROM (SELECT bloom_build(i, 1000, 0.01) AS f FROM t WHERE i <= 1000)), i + 100000))
       - 20000 * (SELECT bloom_fpr(bloom_build(i, 1000, 0.01)) FROM t WHERE i <= 1000)) <= 57 FROM t;
