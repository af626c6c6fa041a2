-- bloom_key(a, b, ...): one key made of several values; NULL if a part is NULL.
SELECT 'type', typeof(bloom_key(1)), typeof(bloom_key('a', 2.5, X'00')), typeof(bloom_key(1, NULL)), typeof(bloom_key(NULL));
-- each part: its type (1 integer, 2 real, 4 text, 8 blob), then 8 bytes of number (of a real
-- its digits, 15, and 4 bytes of the power of ten, -1), or of length and bytes
SELECT 'integer', hex(bloom_key(258));
SELECT 'negative', hex(bloom_key(-1));
SELECT 'real', hex(bloom_key(1.5));
SELECT 'text', hex(bloom_key('ab'));
SELECT 'blob', hex(bloom_key(X'6162'));
SELECT 'empty', hex(bloom_key('')), hex(bloom_key(X''));
SELECT 'several', hex(bloom_key(1, 'a'));
-- injective: the border between the parts counts
SELECT 'border', bloom_key('ab', 'c') = bloom_key('a', 'bc'), bloom_key('a', '') = bloom_key('', 'a'), bloom_key('a') = bloom_key('a', ''), bloom_key(1, 2) = bloom_key(2, 1), bloom_key('a', 'b') = bloom_key(bloom_key('a', 'b')), bloom_key('ab') = bloom_key(X'6162');
-- equal values are equal parts, as for single keys
SELECT 'equal', bloom_key(5, 'a') = bloom_key('5', 'a'), bloom_key(5.0, 0.0) = bloom_key(' 05 ', '-0'), bloom_key('0.5') = bloom_key(0.5), bloom_key('1e2') = bloom_key(100);
SELECT 'as a key', bloom_contains(f, bloom_key('5', 'a')), bloom_contains(f, bloom_key('a', 5)), bloom_contains(f, bloom_key(5, NULL)) FROM (SELECT bloom_build(bloom_key(5, 'a'), 10, 1e-6) AS f);
SELECT 'sorts and indexes', count(DISTINCT bloom_key(value % 3, value % 2)) FROM json_each('[0,1,2,3,4,5,6,7]');
