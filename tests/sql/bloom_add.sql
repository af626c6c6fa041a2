-- bloom_add(filter, key, ...): a new filter with the keys added.
CREATE TABLE f AS SELECT bloom_build('a', 100, 1e-6) AS filter;
SELECT 'type', typeof(bloom_add(filter, 'b')) FROM f;
SELECT 'added', bloom_contains(bloom_add(filter, 'b'), 'a'), bloom_contains(bloom_add(filter, 'b'), 'b'), bloom_contains(bloom_add(filter, 'b'), 'c') FROM f;
SELECT 'the argument stays', bloom_contains(filter, 'b') FROM f;
SELECT 'several keys', bloom_add(filter, 'b', 3, X'04') = (SELECT bloom_build(k, 100, 1e-6) FROM (SELECT 'a' AS k UNION ALL SELECT 'b' UNION ALL SELECT 3 UNION ALL SELECT X'04')) FROM f;
SELECT 'a NULL key adds nothing', bloom_add(filter, NULL) = filter, bloom_add(filter, NULL, 'b', NULL) = bloom_add(filter, 'b') FROM f;
SELECT 'a key that is in changes nothing', bloom_add(filter, 'a') = filter FROM f;
SELECT 'any order', bloom_add(bloom_add(filter, 'b'), 'c') = bloom_add(filter, 'c', 'b') FROM f;
SELECT 'a key of another type is noted', json_extract(bloom_info(bloom_add(filter, 7)), '$.key_types') FROM f;
SELECT 'the same key in another type is not put in twice', json_extract(bloom_info(bloom_add(bloom_add(filter, 7), '7.0')), '$.bits_set') = json_extract(bloom_info(bloom_add(filter, 7)), '$.bits_set') FROM f;
UPDATE f SET filter = bloom_add(filter, 'b');
SELECT 'update', bloom_contains(filter, 'a') + bloom_contains(filter, 'b') FROM f;
SELECT 'counting: a multiset', json_extract(bloom_explain(bloom_add(bloom_new(10, 0.01, 'counting'), 'abc', 'abc', 'abc'), 'abc'), '$.layers[0].counters');
