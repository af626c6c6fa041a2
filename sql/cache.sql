-- cache.sql: "certainly not there" without asking the database.
--
-- A program looks things up that mostly do not exist: profiles by e-mail, files by hash, short
-- links. It holds the filter of all keys, and asks the table only when the filter says maybe.
-- Here the filter is a bound parameter, which is how a program hands it over (in the shell:
-- .parameter).
--
--   sqlite3 < sql/cache.sql
--
-- The filter must know every key: one that was inserted after it was built would be called
-- absent.

.bail on
.load build/bloom

CREATE TABLE links(slug TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
INSERT INTO links
  SELECT printf('%x', value * 2654435761 % 4294967296), 'https://example.org/' || value
  FROM generate_series(1, 200000);

.parameter init
INSERT INTO temp.sqlite_parameters SELECT '@filter', bloom_build(slug, 200000, 0.01) FROM links;

-- 20,000 requests, of which 2,000 exist.
CREATE TABLE requests AS
  SELECT printf('%x', (value + (value % 10 > 0) * 200000) * 2654435761 % 4294967296) AS slug
  FROM generate_series(1, 20000);

CREATE TABLE answers AS
  SELECT slug, bloom_contains(@filter, slug) AS maybe,
         CASE WHEN bloom_contains(@filter, slug)
              THEN (SELECT url FROM links WHERE links.slug = requests.slug) END AS url
  FROM requests;
SELECT printf('%d requests, %d found', count(*), count(url)) FROM answers;
SELECT printf('found by the table alone: %d', count(*)) FROM requests JOIN links USING (slug);
-- 18,000 do not exist; 180 of them are asked for in vain, give or take 5 sigma, which are 67.
SELECT iif(sum(maybe) - count(url) BETWEEN 113 AND 247,
           'asked of the table in vain: 1 % of the absent, as p says',
           printf('asked of the table in vain: %d', sum(maybe) - count(url)))
  FROM answers;

-- A new link: into the table, and into the filter at once.
INSERT INTO links VALUES ('new', 'https://example.org/new');
SELECT 'before bloom_add: ' || bloom_contains(@filter, 'new');
UPDATE temp.sqlite_parameters SET value = bloom_add(value, 'new') WHERE key = '@filter';
SELECT 'after bloom_add:  ' || bloom_contains(@filter, 'new');
