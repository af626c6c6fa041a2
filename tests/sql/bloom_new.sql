-- bloom_new(n, p[, kind]): an empty filter of that size.
SELECT 'type', typeof(bloom_new(10, 0.01));
SELECT 'empty', bloom_contains(bloom_new(10, 0.01), 'a'), bloom_count(bloom_new(10, 0.01));
SELECT 'rate 0', bloom_fpr(bloom_new(10, 0.01));
SELECT 'n and p kept', json_extract(bloom_info(bloom_new(1234, 0.005)), '$.n', '$.p');
-- 72 bytes and 99 cells in 13 bytes; counters are 4 bits each: 396 bits in 50 bytes
SELECT 'bytes', length(bloom_new(10, 0.01)), length(bloom_new(10, 0.01, 'counting'));
SELECT 'kinds', json_extract(bloom_info(bloom_new(10, 0.01, 'plain')), '$.kind'),
       json_extract(bloom_info(bloom_new(10, 0.01, 'COUNTING')), '$.kind');
SELECT 'p defaults to 0.01', bloom_new(10, NULL) = bloom_new(10, 0.01);
-- the header: magic, version 1, kind 1, scheme 1, no flags, no key types, 1 layer, p as a float, n
SELECT 'header', hex(substr(bloom_new(10, 0.01), 1, 24));
-- the layer: capacity 10, 1 line of 99 cells, rate, k 7, L 1
SELECT 'layer', hex(substr(bloom_new(10, 0.01), 33, 32));
SELECT 'cells', hex(substr(bloom_new(10, 0.01), 73));
SELECT 'keys added one by one are the filter built at once',
       bloom_add(bloom_new(10, 0.01), 1, 2, 3) =
       (SELECT bloom_build(value, 10, 0.01) FROM json_each('[3,1,2]'));
