-- bloom_count(filter): estimated number of distinct keys, from the bits alone.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) SELECT i FROM c;
SELECT 'type', typeof(bloom_count(bloom_build(i, 1000, 0.01))) FROM t WHERE i <= 10;
SELECT 'none', bloom_count(bloom_new(10, 0.01)), bloom_count(bloom_build(NULL));
SELECT 'one', bloom_count(bloom_build('a', 1000, 0.01));
-- Sigma of the estimate of n keys in a full filter (k = 7, half of the bits set) is
-- sqrt(m (e^(kn/m) - 1 - kn/m)) / k = 8.1 sqrt(n / 1000) keys... of n = 1000: m = 9596,
-- kn/m = 0.729: sqrt(9596 * (2.074 - 1.729)) / 7 = 8.2. Bounds are 3 sigma.
SELECT 'full', abs(bloom_count(bloom_build(i, 1000, 0.01)) - 1000) <= 25 FROM t WHERE i <= 1000;
SELECT 'full, with duplicates', abs(bloom_count(bloom_build(i % 1000, 1000, 0.01)) - 1000) <= 25 FROM t;
-- lines, n = 20000: m = 192,000, kn/m = 0.73, sigma 37 for a flat filter, 10 % more for lines
SELECT 'lines', abs(bloom_count(bloom_build(i, 20000, 0.01)) - 20000) <= 122 FROM t;
SELECT 'half full', abs(bloom_count(bloom_build(i, 20000, 0.01)) - 10000) <= 90 FROM t WHERE i <= 10000;
SELECT 'after a union', abs(bloom_count(bloom_union(a, b)) - 1000) <= 25
FROM (SELECT bloom_build(i, 1000, 0.01) AS a FROM t WHERE i <= 600), (SELECT bloom_build(i, 1000, 0.01) AS b FROM t WHERE i BETWEEN 401 AND 1000);
-- grown: a key that an earlier layer took for present (1 %) is not in the sum
SELECT 'grown 20 times', abs(bloom_count(bloom_build(i, 1000, 0.01)) - 20000) <= 400 FROM t;
SELECT 'counting', abs(bloom_count(bloom_build(i, 1000, 0.01, 'counting')) - 1000) <= 25 FROM t WHERE i <= 1000;
-- saturated: 20,000 keys in a counting filter of 2 cells leave no 0
SELECT 'saturated', bloom_count(bloom_build(i, 1, 0.9, 'counting')), bloom_fpr(bloom_build(i, 1, 0.9, 'counting')) FROM t;
