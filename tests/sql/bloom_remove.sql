-- bloom_remove(filter, key, ...): a counting filter without one occurrence of each key.
CREATE TABLE f AS SELECT bloom_build(value, 100, 1e-6, 'counting') AS filter FROM json_each('["a","b","b"]');
SELECT 'type', typeof(bloom_remove(filter, 'a')) FROM f;
SELECT 'removed', bloom_contains(bloom_remove(filter, 'a'), 'a'), bloom_contains(bloom_remove(filter, 'a'), 'b') FROM f;
SELECT 'the argument stays', bloom_contains(filter, 'a') FROM f;
SELECT 'a key put in twice is removed twice', bloom_contains(bloom_remove(filter, 'b'), 'b'), bloom_contains(bloom_remove(filter, 'b', 'b'), 'b') FROM f;
SELECT 'a key that is certainly absent changes nothing', bloom_remove(filter, 'c') = filter, bloom_remove(filter, 'c', 'd', NULL) = filter FROM f;
SELECT 'add then remove is nothing', bloom_remove(bloom_add(filter, 'a'), 'a') = filter FROM f;
SELECT 'all removed: every counter is 0', json_extract(bloom_info(bloom_remove(filter, 'a', 'b', 'b')), '$.bits_set') FROM f;
SELECT 'the same key by another spelling', bloom_contains(bloom_remove(bloom_build(5, 10, 1e-6, 'counting'), '5.0'), 5);
SELECT 'NULL removes nothing', bloom_remove(filter, NULL) = filter FROM f;
SELECT 'from the empty filter without a size', bloom_remove(bloom_build(NULL), 1) = bloom_build(NULL);
