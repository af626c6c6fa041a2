-- Filled to n, about half of the bits are set, and evenly: no part of the array or of a byte stays
-- empty. n = 10000; the body as hex digits, each digit's bits counted. A flat filter of 95,933 to
-- 287,553 cells: 5 % of a sixteenth (5,996 cells, 3,000 set, sigma 55) is 2.7 sigma at p = 0.01,
-- and the sets below are fixed ones.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10000) SELECT i FROM c;
CREATE TABLE bodies AS SELECT p, bloom_info(f) AS info, hex(substr(f, 73)) AS body FROM (SELECT 0.01 AS p, bloom_build(i, 10000, 0.01) AS f FROM t UNION ALL SELECT 0.001, bloom_build('key-' || i, 10000, 0.001) FROM t UNION ALL SELECT 1e-6, bloom_build(printf('%064x', i * 7), 10000, 1e-6) FROM t);
SELECT 'half full', p, json_extract(info, '$.fill') BETWEEN 0.48 AND 0.52 FROM bodies;
CREATE TABLE chunks AS SELECT p, i - 1 AS chunk, substr(body, (i - 1) * 256 + 1, 256) AS chunk_text, length(body) AS size FROM bodies JOIN t ON i <= (length(body) + 255) / 256;
CREATE TABLE digits AS SELECT p, chunk * 256 + i AS at, instr('0123456789ABCDEF', substr(chunk_text, i, 1)) - 1 AS digit, (chunk * 256 + i) * 16 / (size + 1) AS part FROM chunks JOIN t ON i <= length(chunk_text);
CREATE TABLE positions AS SELECT p, (at % 2) * 4 + bit AS position, sum(digit >> bit & 1) AS count FROM digits, (SELECT 0 AS bit UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) GROUP BY 1, 2;
SELECT 'each bit position', p, count(*), min(count) > 0.95 * avg(count), max(count) < 1.05 * avg(count) FROM positions GROUP BY p ORDER BY p DESC;
CREATE TABLE parts AS SELECT p, part, sum((digit & 1) + (digit >> 1 & 1) + (digit >> 2 & 1) + (digit >> 3)) AS count FROM digits GROUP BY 1, 2;
SELECT 'each sixteenth', p, count(*), min(count) > 0.95 * avg(count), max(count) < 1.05 * avg(count) FROM parts GROUP BY p ORDER BY p DESC;
SELECT 'bits set as counted', min(json_extract(info, '$.bits_set') = (SELECT sum(count) FROM parts WHERE parts.p = bodies.p)) FROM bodies;
