-- bloom_info(filter): JSON with all that a filter knows of itself.
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT i FROM c;
SELECT 'type', typeof(bloom_info(bloom_new(10, 0.01))), json_valid(bloom_info(bloom_new(10, 0.01)));
SELECT 'names', group_concat(key) FROM json_each(bloom_info(bloom_new(10, 0.01)));
SELECT 'types', group_concat(type) FROM json_each(bloom_info(bloom_new(10, 0.01)));
SELECT key, CASE type WHEN 'array' THEN json_array_length(value) ELSE value END FROM json_each(bloom_info((SELECT bloom_build('abc', 10, 0.01)))) WHERE key NOT IN ('fill', 'fpr');
SELECT 'fill', round(json_extract(bloom_info(bloom_build('abc', 10, 0.01)), '$.fill') * 99, 4);
SELECT key, value FROM json_each(bloom_info((SELECT bloom_build('abc', 10, 0.01))), '$.layer_table[0]');
SELECT 'the empty filter', bloom_info(bloom_build(NULL));
-- n and p are those asked for, also where single precision cannot hold p
SELECT 'as asked', p, json_extract(bloom_info(bloom_new(1000, p)), '$.p') = p FROM (SELECT 0.01 AS p UNION ALL SELECT 0.001 UNION ALL SELECT 0.005 UNION ALL SELECT 1e-6 UNION ALL SELECT 0.3);
-- k comes from p alone: 10 for 0.001 at any n of the flat form
SELECT 'k of n', n, json_extract(bloom_info(bloom_new(n, 0.001)), '$.k') FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 100 UNION ALL SELECT 5000 UNION ALL SELECT 1000000);
-- lines: L = ceil(k / 4), lines of 512 cells
SELECT 'lines', json_extract(i, '$.layout'), json_extract(i, '$.layer_table[0].line_bits'), json_extract(i, '$.layer_table[0].L') = (json_extract(i, '$.k') + 3) / 4, json_extract(i, '$.bits') = 512 * json_extract(i, '$.layer_table[0].lines'), json_extract(i, '$.bytes') = 72 + 64 * json_extract(i, '$.layer_table[0].lines') FROM (SELECT bloom_info(bloom_new(100000, 0.01)) AS i);
-- the types of keys: integral reals and spelt numbers are integers
SELECT 'key types', json_extract(bloom_info(bloom_build(value, 10, 0.01)), '$.key_types') FROM (SELECT 1 AS value UNION ALL SELECT 1.0 UNION ALL SELECT ' 1e0 ' UNION ALL SELECT '-0');
SELECT 'key types', json_extract(bloom_info(bloom_build(value, 10, 0.01)), '$.key_types') FROM (SELECT 1.5 AS value UNION ALL SELECT '2.5');
SELECT 'key types', json_extract(bloom_info(bloom_build(value, 10, 0.01)), '$.key_types') FROM (SELECT X'31' AS value UNION ALL SELECT 'one' UNION ALL SELECT 1.5 UNION ALL SELECT 1 UNION ALL SELECT NULL);
-- counting: the same cells, 4 bits each
SELECT 'counting', json_extract(i, '$.kind'), json_extract(i, '$.bits'), json_extract(i, '$.bits_set'), json_extract(i, '$.bytes') FROM (SELECT bloom_info(bloom_build('abc', 10, 0.01, 'counting')) AS i);
-- grown: several layers, their sums, rates within p together
CREATE TABLE g AS SELECT bloom_info(bloom_build(i, 100, 0.01)) AS i FROM t;
SELECT 'grown', json_extract(i, '$.layers') = json_array_length(i, '$.layer_table'), json_extract(i, '$.layers') > 1, json_extract(i, '$.bits_set') = (SELECT sum(json_extract(value, '$.bits_set')) FROM json_each(i, '$.layer_table')), json_extract(i, '$.n') FROM g;
SELECT 'n and p survive storing', json_extract(bloom_info(f), '$.n', '$.p') FROM (SELECT bloom_build(i, 1234, 0.005) AS f FROM t);
-- all cells are set: no number of keys
SELECT 'saturated', json_extract(i, '$.fill', '$.count', '$.fpr') FROM (SELECT bloom_info(bloom_add(bloom_new(1, 0.5, 'counting'), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)) AS i);
