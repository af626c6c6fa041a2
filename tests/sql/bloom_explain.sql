-- bloom_explain(filter, key): JSON with the hash, the lines and the cells of a key.
-- Hashes are XXH3-64 (integers: 8 bytes, seed 1; other reals: 12 bytes, seed 2, of
-- 2.5 the int64 25 and the int32 -1; text: seed 0; blobs: seed 3), computed with the xxHash package
-- alone; positions are floor((h|1) C^j mod 2^64 * 99 / 2^64) for j = 1 .. 7, C = f1357aea2e62a9c5, worked out by hand.
SELECT 'type', typeof(bloom_explain(bloom_new(10, 0.01), 1)), json_valid(bloom_explain(bloom_new(10, 0.01), 1));
SELECT 'integer', bloom_explain(bloom_new(10, 0.01), 1);
SELECT 'spelt', bloom_explain(bloom_new(10, 0.01), ' +1.0 ') = bloom_explain(bloom_new(10, 0.01), 1);
SELECT 'negative', json_extract(bloom_explain(bloom_new(10, 0.01), -1), '$.hash', '$.layers[0].positions');
SELECT 'zero', json_extract(bloom_explain(bloom_new(10, 0.01), -0.0), '$.hash', '$.layers[0].positions');
SELECT 'real', json_extract(bloom_explain(bloom_new(10, 0.01), 2.5), '$.key_type', '$.hash', '$.layers[0].positions');
SELECT 'text', json_extract(bloom_explain(bloom_new(10, 0.01), 'abc'), '$.key_type', '$.hash', '$.layers[0].positions');
SELECT 'empty text', json_extract(bloom_explain(bloom_new(10, 0.01), ''), '$.hash', '$.layers[0].positions');
SELECT 'UTF-8', json_extract(bloom_explain(bloom_new(10, 0.01), char(233)), '$.hash', '$.layers[0].positions');
SELECT 'blob', json_extract(bloom_explain(bloom_new(10, 0.01), X'00FF'), '$.key_type', '$.hash', '$.layers[0].positions');
SELECT 'found', json_extract(bloom_explain(bloom_build('abc', 10, 0.01), 'abc'), '$.contains', '$.layers[0].bits', '$.layers[0].contains');
-- of 1's cells 25 73 75 40 26 59 36, -1 sets 75 and 59
SELECT 'partly found', json_extract(bloom_explain(bloom_build(-1, 10, 0.01), 1), '$.contains', '$.layers[0].bits');
SELECT 'counters', json_extract(bloom_explain(bloom_add(bloom_build(-1, 10, 0.01, 'counting'), 1), 1), '$.layers[0].counters');
SELECT 'NULL key', bloom_explain(bloom_new(10, 0.01), NULL);
SELECT 'two layers', json_array_length(e, '$.layers'), json_extract(e, '$.contains') FROM (SELECT bloom_explain(f, 12) AS e
FROM (SELECT bloom_build(value, 2, 0.01) AS f FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')));
SELECT 'the empty filter', json_extract(bloom_explain(bloom_build(NULL), 1), '$.contains', '$.layers');
-- lines: L lines, each position within its line, the cells dealt 4 + 3
SELECT 'lines', json_array_length(e, '$.layers[0].lines'), json_array_length(e, '$.layers[0].positions'),
  (SELECT group_concat(json_extract(value, '$') / 512 = json_extract(e, '$.layers[0].lines[' || (key / 4) || ']')) FROM json_each(e, '$.layers[0].positions'))
FROM (SELECT bloom_explain(bloom_new(100000, 0.01), 'abc') AS e);
