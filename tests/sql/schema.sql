-- Inside a schema that is not trusted: views, triggers, CHECK, generated columns, indexes.
PRAGMA trusted_schema = OFF;
CREATE TABLE k(v);
INSERT INTO k VALUES (1), (2);
CREATE VIEW built AS SELECT bloom_build(v, 10, 1e-6) AS f FROM k;
CREATE VIEW merged AS SELECT bloom_union(f) AS u, bloom_intersect(f) AS i FROM built;
CREATE VIEW facts AS SELECT bloom_count(f) AS count, bloom_fpr(f) < 1e-4 AS low, length(bloom_info(f)) > 100 AS info, length(bloom_explain(f, 1)) > 50 AS explained, bloom_size(10, 0.01) AS size, bloom_version() IS NOT NULL AS version, bloom_contains(bloom_ref(f), 1) AS found, length(bloom_new(10, 0.01)) AS empty, length(bloom_add(f, 3)) = length(f) AS added, bloom_remove(bloom_new(5, 0.1, 'counting'), 1) = bloom_new(5, 0.1, 'counting') AS removed, length(bloom_key(v, 'a')) AS key FROM built, (SELECT 1 AS v);
SELECT 'view', bloom_contains(f, 1), bloom_contains(f, 3) FROM built;
SELECT 'view of a view', bloom_contains(u, 2), bloom_contains(i, 2) FROM merged;
SELECT 'every function', * FROM facts;
CREATE TABLE log(v, known INTEGER);
CREATE TRIGGER seen AFTER INSERT ON k BEGIN INSERT INTO log SELECT NEW.v, bloom_contains((SELECT bloom_ref(f) FROM built), NEW.v); END;
INSERT INTO k VALUES (9);
SELECT 'trigger', v, known FROM log;
-- A blocklist: a trigger that refuses a row. OR IGNORE shows it without an error.
CREATE TABLE guard(f BLOB CHECK (bloom_count(f) >= 0));
INSERT INTO guard SELECT bloom_build(v, 10, 1e-6) FROM k;
CREATE TABLE guests(name);
CREATE TRIGGER refuse BEFORE INSERT ON guests WHEN bloom_contains((SELECT bloom_ref(f) FROM guard), NEW.name) BEGIN SELECT RAISE(IGNORE); END;
INSERT INTO guests VALUES (1), (5), (9), ('2'), (7);
SELECT 'refused', group_concat(name) FROM guests;
-- CHECK: keys of one short list, constant in the schema
CREATE TABLE c(day TEXT CHECK (bloom_contains(bloom_add(bloom_new(10, 1e-6), 'mon', 'tue', 'wed'), day)));
INSERT OR IGNORE INTO c VALUES ('mon'), ('xyz'), ('wed');
SELECT 'CHECK', group_concat(day) FROM c;
-- generated columns and an index on an expression
CREATE TABLE g(a, b, f BLOB, key BLOB AS (bloom_key(a, b)) STORED, has_one INTEGER AS (CASE WHEN f IS NOT NULL THEN bloom_contains(f, 1) END) VIRTUAL);
CREATE UNIQUE INDEX g_key ON g(key);
CREATE INDEX g_count ON g(bloom_count(f)) WHERE f IS NOT NULL;
INSERT INTO g(a, b, f) SELECT 1, 'x', f FROM built;
INSERT INTO g(a, b, f) VALUES (2, 'x', NULL), (3, 'y', bloom_new(5, 0.1));
INSERT OR IGNORE INTO g(a, b) VALUES ('1', 'x');
SELECT 'generated', a, has_one, key = bloom_key(a, b) FROM g ORDER BY a;
SELECT 'index', a FROM g INDEXED BY g_count WHERE f IS NOT NULL AND bloom_count(f) = 3;
PRAGMA integrity_check;
VACUUM;
SELECT 'after VACUUM', bloom_contains(f, 2) FROM g WHERE a = 1;
UPDATE g SET f = bloom_add(f, 1) WHERE a = 3;
SELECT 'update of a generated column', has_one FROM g WHERE a = 3;
