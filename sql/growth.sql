-- growth.sql: the filter was made for 100,000 keys, and 5,000,000 came.
--
-- This happens to everybody once: a crawler's filter of known pages, sized years ago. A filter
-- of fixed size fills up and says yes to nearly everything, and nobody notices. bloom_build
-- grows instead: it opens a second layer, of the right size, and keeps p. It never loses a key
-- either way. You need not do anything; this script only shows it.
--
--   sqlite3 < sql/growth.sql        (takes some seconds)

.bail on
.load build/bloom

CREATE VIEW pages AS
  SELECT 'https://example.org/page/' || value AS url FROM generate_series(1, 5000000);

-- A filter of fixed size, for comparison: counting filters do not grow. And ours; and, to
-- compare the size, what the right number would have taken.
CREATE TABLE fixed AS SELECT bloom_build(url, 100000, 0.0001, 'counting') AS filter FROM pages;
CREATE TABLE grown AS SELECT bloom_build(url, 100000, 0.0001) AS filter FROM pages;

-- 1,000,000 pages that nobody has seen. At 0.0001, 100 are expected, and 5 sigma are 50.
CREATE VIEW unseen AS
  SELECT 'https://example.org/other/' || value AS url FROM generate_series(1, 1000000);
SELECT printf('fixed size: says yes to %d %% of the unseen pages, and bloom_fpr reports %d %%',
              round(100 * avg(bloom_contains((SELECT bloom_ref(filter) FROM fixed), url))),
              round(100 * bloom_fpr((SELECT filter FROM fixed))))
  FROM unseen;
SELECT printf('grown:      %s', iif(yes <= 150, 'says yes to 0.01 % of the unseen pages, as p says',
                                    printf('says yes to %d of 1000000', yes)))
  FROM (SELECT sum(bloom_contains((SELECT bloom_ref(filter) FROM grown), url)) AS yes FROM unseen);
SELECT printf('missed by the grown filter, of every tenth page: %d', count(*))
  FROM (SELECT 'https://example.org/page/' || value AS url FROM generate_series(1, 5000000, 10))
 WHERE NOT bloom_contains((SELECT bloom_ref(filter) FROM grown), url);

-- What it costs: at most 12 % more bytes than the right n would have taken.
SELECT printf('layers %d; bytes: %s', info ->> '$.layers',
              iif((info ->> '$.bytes') <= 1.12 * bloom_size(5000000, 0.0001),
                  'at most 1.12 times those for n = 5000000', 'too many'))
  FROM (SELECT bloom_info(filter) AS info FROM grown);

-- bloom_add grows too, by layers of n, 2n, 4n ... keys, and stays at most at 2 p in all.
.print
CREATE TABLE added AS SELECT bloom_new(1000, 0.001) AS filter, 0 AS keys;
CREATE TRIGGER add_thousand AFTER UPDATE OF keys ON added BEGIN
  UPDATE added SET filter = (
    WITH RECURSIVE a(filter, i) AS (
      SELECT new.filter, 1
      UNION ALL
      SELECT bloom_add(filter, old.keys + i, old.keys + i + 1, old.keys + i + 2, old.keys + i + 3,
                       old.keys + i + 4), i + 5
      FROM a WHERE i <= 1000)
    SELECT filter FROM a WHERE i > 1000);
END;
UPDATE added SET keys = keys + 1000;
UPDATE added SET keys = keys + 1000;
UPDATE added SET keys = keys + 1000;
UPDATE added SET keys = keys + 1000;
UPDATE added SET keys = keys + 1000;
SELECT printf('made for 1000, %d added: missed %d, rate %s, layers %d', keys,
              (SELECT sum(NOT bloom_contains(filter, value)) FROM generate_series(1, 5000)),
              iif(bloom_fpr(filter) <= 0.002, 'at most 2 p', 'above 2 p'),
              bloom_info(filter) ->> '$.layers')
  FROM added;
