-- bloom_size(n, p): the bytes that bloom_build(key, n, p) returns.
-- The expected bytes are worked out from the sizing formula: for a flat filter
--   k = floor or ceil(log2 1/p), cells = ceil(n * -k / ln(1 - p^(1/k))) + ceil(0.22 (k-1)) + 1,
-- whole bytes of them behind 72 bytes of header.
SELECT 'type', typeof(bloom_size(10, 0.5));
SELECT 'n 1 p 0.5: 3 cells', bloom_size(1, 0.5);
SELECT 'n 1 p 0.001: 18 cells', bloom_size(1, 0.001);
SELECT 'n 10 p 0.01: 99 cells', bloom_size(10, 0.01);
SELECT 'n 100 p 0.01: 963 cells', bloom_size(100, 0.01);
SELECT 'n 100 p 0.001: 1441 cells', bloom_size(100, 0.001);
SELECT 'n 100 p 1e-9: 4322 cells', bloom_size(100, 1e-9);
SELECT 'n 1000 p 0.01: 9596 cells', bloom_size(1000, 0.01);
SELECT 'n 1000 p 1e-6: 28762 cells', bloom_size(1000, 1e-6);
SELECT 'n 10000 p 0.01: 95933 cells', bloom_size(10000, 0.01);
SELECT 'p of 0.01 when NULL', bloom_size(1000, NULL);
SELECT 'an integral REAL is an n', bloom_size(1000.0, 0.01);
-- Over 16 KiB there are lines of 64 bytes, at most 1.014 times the information bound, and never
-- less than the flat form.
SELECT 'lines', n, p, (bloom_size(n, p) - 72) % 64,
       bloom_size(n, p) - 72 <= 1.014 * -n * ln(p) / (ln(2) * ln(2)) / 8,
       bloom_size(n, p) - 72 >= 1.00 * -n * ln(p) / (ln(2) * ln(2)) / 8
FROM (SELECT 100000 AS n, 0.01 AS p UNION ALL SELECT 1000000, 0.01 UNION ALL SELECT 10000000, 0.001
      UNION ALL SELECT 100000, 0.1 UNION ALL SELECT 1000000, 1e-6);
-- Any size is answered without making the filter: n over 2^31 and n over 2^32.
SELECT 'n 1e7', bloom_size(10000000, 0.001) BETWEEN 17900000 AND 18300000;
SELECT 'n 2^31', bloom_size(2147483648, 0.5) BETWEEN 387000000 AND 395000000;
SELECT 'n 2^32', bloom_size(4294967296, 0.5) BETWEEN 774000000 AND 790000000;
WITH sizes(n) AS (VALUES (1), (2), (7), (8), (9), (63), (64), (65), (1000), (65535), (65536)),
     rates(p) AS (VALUES (0.9), (0.5), (0.01), (1e-9))
SELECT 'same as made', min(bloom_size(n, p) = length(bloom_new(n, p))) FROM sizes, rates;
