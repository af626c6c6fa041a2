-- bloom_intersect(filter) over rows, or (f, g, ...): the keys that are in all of them.
CREATE TABLE f(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO f SELECT 'x', bloom_build(value, 100, 1e-6) FROM json_each('[1,2,3]');
INSERT INTO f SELECT 'y', bloom_build(value, 100, 1e-6) FROM json_each('[2,3,4]');
CREATE TABLE p AS SELECT x.filter AS x, y.filter AS y FROM f AS x, f AS y WHERE x.name = 'x' AND y.name = 'y';
SELECT 'type', typeof(bloom_intersect(filter)), typeof(bloom_intersect(filter, filter)) FROM f;
SELECT 'keys in both', bloom_contains(bloom_intersect(x, y), 1), bloom_contains(bloom_intersect(x, y), 2), bloom_contains(bloom_intersect(x, y), 3), bloom_contains(bloom_intersect(x, y), 4) FROM p;
SELECT 'rows as arguments', (SELECT bloom_intersect(filter) FROM f) = bloom_intersect(x, y) FROM p;
SELECT 'commutes', bloom_intersect(x, y) = bloom_intersect(y, x) FROM p;
SELECT 'idempotent', bloom_intersect(x, x) = x FROM p;
SELECT 'absorbs', bloom_intersect(x, bloom_union(x, y)) = x, bloom_union(x, bloom_intersect(x, y)) = x FROM p;
INSERT INTO f VALUES ('z', NULL);
SELECT 'NULL rows are skipped', (SELECT bloom_intersect(filter) FROM f) = bloom_intersect(x, y) FROM p;
SELECT 'with the empty filter: nothing', bloom_intersect(x, bloom_build(NULL)) = bloom_build(NULL), bloom_contains(bloom_intersect(bloom_build(NULL), x), 2) FROM p;
SELECT 'key types of both', json_extract(bloom_info(bloom_intersect(bloom_add(bloom_new(9, 0.1), 1, 'x'), bloom_add(bloom_new(9, 0.1), 'x', 2.5))), '$.key_types');
SELECT 'counting: the smaller', json_extract(bloom_explain(bloom_intersect(bloom_add(bloom_new(10, 0.01, 'counting'), 'abc', 'abc', 'abc'), bloom_add(bloom_new(10, 0.01, 'counting'), 'abc')), 'abc'), '$.layers[0].counters');
