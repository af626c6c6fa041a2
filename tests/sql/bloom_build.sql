-- bloom_build(key[, n[, p[, kind]]]): a filter of the group's keys.
SELECT 'type', typeof(bloom_build(1)), typeof(bloom_build(1, 10)), typeof(bloom_build(1, 10, 0.01));
-- The seven cells of 'abc' among 99, from XXH3-64('abc') = 78af5f94892f3950: 93 16 29 8 72 30 79.
SELECT 'cells', hex(substr(bloom_build('abc', 10, 0.01), 73));
SELECT 'header', hex(substr(bloom_build('abc', 10, 0.01), 1, 24));
SELECT 'p defaults to 0.01', bloom_build('a', 100) = bloom_build('a', 100, 0.01),
       bloom_build('a', 100, NULL) = bloom_build('a', 100, 0.01);
SELECT 'kind plain is the default',
       bloom_build('a', 100, 0.01, 'plain') = bloom_build('a', 100, 0.01);
SELECT 'n as an integral REAL', bloom_build(1, 100.0, 0.01) = bloom_build(1, 100, 0.01);
SELECT 'n by an expression', bloom_contains(bloom_build(value, 50 + 50, 0.01), 2) FROM json_each('[1,2]');

CREATE TABLE d(v);
INSERT INTO d VALUES (1), ('a'), (2.5), (X'00'), (1), ('a'), (NULL);
SELECT 'order of rows',
       (SELECT bloom_build(v, 100, 0.01) FROM (SELECT v FROM d ORDER BY rowid)) =
       (SELECT bloom_build(v, 100, 0.01) FROM (SELECT v FROM d ORDER BY rowid DESC LIMIT -1));
SELECT 'duplicates and NULL',
       (SELECT bloom_build(v, 100, 0.01) FROM d) =
       (SELECT bloom_build(v, 100, 0.01) FROM (SELECT DISTINCT v FROM d WHERE v IS NOT NULL));
SELECT 'FILTER', bloom_contains(f, 1), bloom_contains(f, 'a')
FROM (SELECT bloom_build(v, 100, 1e-6) FILTER (WHERE typeof(v) = 'integer') AS f FROM d);
SELECT 'DISTINCT with one argument', bloom_build(DISTINCT v) = bloom_build(v) FROM d;

-- n left out or NULL: as many as the distinct keys, here 1, 'a', 2.5 and x'00'
SELECT 'sized by the data', json_extract(bloom_info(bloom_build(v)), '$.n', '$.p') FROM d;
SELECT 'the same filter as with n = 4', bloom_build(v, NULL, 0.001) = bloom_build(v, 4, 0.001),
       bloom_build(v) = bloom_build(v, 4) FROM d;

-- no rows, or NULL keys alone: the empty filter without a size, 40 bytes of header and no layer
SELECT 'no rows', typeof(f), length(f), bloom_contains(f, 1) FROM (SELECT bloom_build(v, 100, 0.01) AS f FROM d WHERE 0);
SELECT 'NULL keys alone', (SELECT bloom_build(NULL, 5, 0.5)) = (SELECT bloom_build(v, 100, 0.01) FROM d WHERE 0),
       (SELECT bloom_build(NULL)) = (SELECT bloom_build(v) FROM d WHERE 0);
SELECT 'an anti-join keeps its rows', count(*) FROM d
WHERE NOT bloom_contains((SELECT bloom_build(v, 100, 0.01) FROM d WHERE 0), v);

-- GROUP BY: a filter for each group, each of its own n
SELECT 'groups', g, json_extract(bloom_info(bloom_build(v, g * 100, 0.01)), '$.n'), bloom_contains(bloom_build(v, g * 100, 0.01), g)
FROM (SELECT 1 AS g, 1 AS v UNION ALL SELECT 2, 2 UNION ALL SELECT 1, 11) GROUP BY g;

-- every n from 1 to 130 and around powers of two: all keys found, absent ones at the rate.
-- Per n there are n keys and 100 absent ones at p = 0.01: 130 + 15 sizes, 14,500 probes, 145
-- expected, sigma 12 (25 with the scatter of tiny filters, which are sized generously).
CREATE TABLE sizes(n INTEGER);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 130) INSERT INTO sizes SELECT i FROM c;
INSERT INTO sizes VALUES (255), (256), (257), (511), (512), (513), (1023), (1024), (1025), (2047), (2048), (2049), (4095), (4096), (4097);
CREATE TABLE numbers(i INTEGER);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4097) INSERT INTO numbers SELECT i FROM c;
CREATE TABLE filters AS SELECT n, bloom_build(i, n, 0.01) AS f FROM sizes JOIN numbers ON i <= n GROUP BY n;
SELECT 'keys found', count(*) = (SELECT sum(n) FROM sizes) FROM filters, numbers WHERE i <= n AND bloom_contains(f, i);
SELECT 'absent keys at most 145 + 4 * 25', sum(bloom_contains(f, 1000000 + n * 1000 + i)) BETWEEN 20 AND 245 FROM filters, numbers WHERE i <= 100;
SELECT 'one layer each', max(json_extract(bloom_info(f), '$.layers')) FROM filters;

-- p near 1 and tiny n
SELECT 'p near 1', bloom_contains(bloom_build('a', 1, 0.99), 'a'), bloom_contains(bloom_build('a', 1, 0.999999), 'a'),
       bloom_contains(bloom_build('a', 1, 0.5), 'a');
SELECT 'the smallest p', bloom_contains(bloom_build('a', 1, 1e-9), 'a'), bloom_contains(bloom_build('a', 1, 1e-9), 'b');
-- which a parser or an arithmetic may have made smaller, by a part in 10^12 at most
SELECT 'nearly the smallest p', bloom_build('a', 1, 1e-9) = bloom_build('a', 1, 9.999999999992e-10);

-- a filter of 2.4 MB, whose cells are asked for with each row; at p = 0.01 no absent key of 1000 hits so empty a filter
SELECT 'a large filter', sum(bloom_contains(f, i)), sum(bloom_contains(f, -i)) FROM
  (SELECT bloom_build(i, 2000000, 0.01) AS f FROM numbers WHERE i <= 1000), (SELECT i FROM numbers WHERE i <= 1000);
