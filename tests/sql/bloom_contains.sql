-- bloom_contains(filter, key): 1 perhaps in, 0 certainly not, NULL for a NULL key.
CREATE TABLE f AS SELECT bloom_build(value, 100, 1e-6) AS filter FROM json_each('["a","b",1,2.5]');
SELECT 'type', typeof(bloom_contains(filter, 'a')), typeof(bloom_contains(filter, 'z')), typeof(bloom_contains(filter, NULL)) FROM f;
SELECT 'in', bloom_contains(filter, 'a'), bloom_contains(filter, 'b'), bloom_contains(filter, 1), bloom_contains(filter, 2.5) FROM f;
SELECT 'not in', bloom_contains(filter, 'c'), bloom_contains(filter, 'A'), bloom_contains(filter, 2), bloom_contains(filter, X'61') FROM f;
SELECT 'NOT keeps what is certainly absent', count(*) FROM json_each('["a","c",null]'), f WHERE NOT bloom_contains(filter, value);
SELECT 'a NULL key is neither', count(*) FROM json_each('["a","c",null]'), f WHERE bloom_contains(filter, value) IS NULL;
-- A missing filter excludes nothing: OR in a WHERE clause stops at its first true side, and as a
-- value, where SQLite computes both sides, CASE does.
CREATE TABLE segments AS SELECT 1 AS id, NULL AS filter UNION ALL SELECT 2, filter FROM f;
SELECT 'optional filters', id FROM segments WHERE filter IS NULL OR bloom_contains(filter, 'c');
SELECT 'optional filters', id FROM segments WHERE filter IS NULL OR bloom_contains(filter, 'a') ORDER BY id;
SELECT 'as a value', CASE WHEN filter IS NULL THEN 1 ELSE bloom_contains(filter, 'c') END FROM segments;
SELECT 'a filter is a key too', bloom_contains(bloom_build(filter, 10, 1e-6), filter), bloom_contains(bloom_build('a', 10, 1e-6), X'') FROM f;
SELECT 'a long key', bloom_contains(bloom_build(hex(zeroblob(100000)), 10, 1e-6), hex(zeroblob(100000))),
       bloom_contains(bloom_build(zeroblob(200000), 10, 1e-6), zeroblob(200000)),
       bloom_contains(bloom_build(zeroblob(200000), 10, 1e-6), zeroblob(200001));
