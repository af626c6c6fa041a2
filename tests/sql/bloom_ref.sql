-- bloom_ref(filter): a pointer to the filter, read and checked once. To SQL it is a NULL.
CREATE TABLE f AS SELECT bloom_build(value, 100, 1e-6) AS filter FROM json_each('["a","b",1,2.5]');
SELECT 'type', typeof(bloom_ref(filter)), bloom_ref(filter) IS NULL FROM f;
SELECT 'through a subquery', value, bloom_contains((SELECT bloom_ref(filter) FROM f), value) FROM json_each('["a","c",1,2,null]');
SELECT 'direct', bloom_contains(bloom_ref(filter), 'a'), bloom_contains(bloom_ref(filter), 'c') FROM f;
SELECT 'of a ref', bloom_contains(bloom_ref(bloom_ref(filter)), 'a') FROM f;
SELECT 'the same facts', bloom_info(bloom_ref(filter)) = bloom_info(filter), bloom_count(bloom_ref(filter)), bloom_fpr(bloom_ref(filter)) = bloom_fpr(filter) FROM f;
SELECT 'back to a blob', bloom_union(bloom_ref(filter), filter) = filter, bloom_add(bloom_ref(filter), 'a') = filter FROM f;
SELECT 'aggregate', bloom_union(bloom_ref(filter)) = (SELECT filter FROM f) FROM f;
SELECT 'explain', bloom_explain(bloom_ref(filter), 'a') = bloom_explain(filter, 'a') FROM f;
-- correlated: another filter for each outer row
CREATE TABLE groups AS SELECT g, bloom_build(g * 10, 10, 1e-6) AS filter FROM (SELECT 1 AS g UNION ALL SELECT 2 UNION ALL SELECT 3) GROUP BY g;
SELECT 'correlated', o.g, sum(bloom_contains((SELECT bloom_ref(filter) FROM groups AS i WHERE i.g = o.g), value))
FROM groups AS o, json_each('[10,20,30,20]') GROUP BY o.g;
-- a grown filter and one with counters, whose layers lie otherwise than in the blob
CREATE TABLE many AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT i FROM c;
CREATE TABLE grown AS SELECT bloom_build(i, 1000, 1e-6) AS filter FROM many;
CREATE TABLE counted AS SELECT bloom_build(i, 5000, 1e-6, 'counting') AS filter FROM many;
SELECT 'grown', sum(bloom_contains((SELECT bloom_ref(filter) FROM grown), i)), sum(bloom_contains((SELECT bloom_ref(filter) FROM grown), i + 5000)) FROM many;
SELECT 'counting', sum(bloom_contains((SELECT bloom_ref(filter) FROM counted), i)), sum(bloom_contains((SELECT bloom_ref(filter) FROM counted), i + 5000)) FROM many;
SELECT 'grown, back to a blob', bloom_union(bloom_ref(filter), filter) = bloom_union(filter, filter) FROM grown;
