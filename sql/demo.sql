-- demo.sql: one join, without and with a Bloom filter in front of it.
--
-- A table holds 348,454 real English words, each with the words around it in the list. A million
-- strings come in, and we want the rows of those that are words. Only one in a hundred is: the
-- others are words with one letter changed. The plain join looks each of them up in the table.
-- With the filter, bloom_contains says "certainly not a word" to 99 of 100 of the others, and
-- only the rest is looked up. Both must find the same rows.
--
--   make demo                     or, from this folder's parent:
--   sqlite3 < sql/demo.sql
--
-- It stops with an error when the rows differ, when the plain join does not use the table's key,
-- or when the filter does not make it at least twice as fast.

.bail on
.open ""
.load build/bloom
-- Above: a temporary file as database, with SQLite's usual cache of 2 MB.

-- The words, from Debian's package wamerican-huge, and a table with their key.
CREATE TEMP TABLE list(word TEXT);
.import /usr/share/dict/american-english-huge list
CREATE INDEX temp.list_word ON list(word);

CREATE TABLE words(word TEXT PRIMARY KEY, neighbours TEXT) WITHOUT ROWID;
INSERT INTO words
  SELECT word, group_concat(word, ' ') OVER (
                 ORDER BY rowid ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING)
  FROM list ORDER BY word;

-- 10,000 words and 990,000 strings that look like words, in an order that means nothing. h is a
-- number that scatters; it chooses the letter that changes, what it becomes, and the order.
CREATE TEMP TABLE scattered AS
  SELECT word, h, h / 7 % length(word) AS at, char(97 + h / 64 % 26) AS letter
  FROM (SELECT word, (list.rowid * 2654435761 + value * 40503) % 4294967296 AS h
        FROM list, json_each('[1, 2, 3]'));
CREATE TABLE probes(id INTEGER PRIMARY KEY, word TEXT);
INSERT INTO probes(word)
  SELECT word FROM (
    SELECT * FROM (SELECT word, h FROM scattered ORDER BY h LIMIT 10000)
    UNION ALL
    SELECT * FROM (SELECT substr(word, 1, at) || letter || substr(word, at + 2) AS changed, h
                   FROM scattered
                   WHERE NOT EXISTS (SELECT 1 FROM list WHERE list.word = changed)
                   LIMIT 990000))
  ORDER BY h * 2246822519 % 4294967296;
ANALYZE;

CREATE TEMP TABLE clock(id INTEGER PRIMARY KEY, what TEXT, at REAL DEFAULT (julianday('now')));

-- The filter, kept in a table like any other value.
INSERT INTO clock(what) VALUES ('start');
CREATE TABLE filters AS
  SELECT 'words' AS name, bloom_build(word, 350000, 0.01) AS filter FROM words;
INSERT INTO clock(what) VALUES ('build');

-- The two queries. bloom_ref reads the filter once and not once a row. CROSS JOIN keeps probes
-- on the outside, so that the filter is asked before the lookup.
CREATE VIEW plain AS
  SELECT probes.id, words.word, words.neighbours
  FROM probes CROSS JOIN words ON words.word = probes.word;
CREATE VIEW filtered AS
  SELECT probes.id, words.word, words.neighbours
  FROM probes CROSS JOIN words ON words.word = probes.word
  WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'words'), probes.word);

-- What must hold.
CREATE TEMP TABLE demands(demand TEXT, met INTEGER,
  CONSTRAINT "the plain join does not use the key of words" CHECK (demand <> 'key' OR met IS 1),
  CONSTRAINT "the two queries return different rows" CHECK (demand <> 'rows' OR met IS 1),
  CONSTRAINT "the filter's rate is far above p" CHECK (demand <> 'rate' OR met IS 1),
  CONSTRAINT "the filter saves less than half of the time" CHECK (demand <> 'ratio' OR met IS 1));

.once build/demo.plan
EXPLAIN QUERY PLAN SELECT * FROM plain;
INSERT INTO demands
  SELECT 'key', plan LIKE '%SEARCH words USING %' AND plan NOT LIKE '%SCAN words%'
                AND plan NOT LIKE '%AUTOMATIC%'
  FROM (SELECT CAST(readfile('build/demo.plan') AS TEXT) AS plan);

-- Three rounds, one after the other; the best of each counts.
CREATE TEMP TABLE results(query TEXT, id INTEGER, word TEXT, neighbours TEXT);
INSERT INTO clock(what) VALUES ('start');
INSERT INTO results SELECT 'plain', * FROM plain;
INSERT INTO clock(what) VALUES ('plain');
INSERT INTO results SELECT 'filtered', * FROM filtered;
INSERT INTO clock(what) VALUES ('filtered');
INSERT INTO results SELECT 'plain', * FROM plain;
INSERT INTO clock(what) VALUES ('plain');
INSERT INTO results SELECT 'filtered', * FROM filtered;
INSERT INTO clock(what) VALUES ('filtered');
INSERT INTO results SELECT 'plain', * FROM plain;
INSERT INTO clock(what) VALUES ('plain');
INSERT INTO results SELECT 'filtered', * FROM filtered;
INSERT INTO clock(what) VALUES ('filtered');

CREATE TEMP TABLE seconds AS
  SELECT what, min(took) AS took
  FROM (SELECT what, (at - lag(at) OVER (ORDER BY id)) * 86400 AS took FROM clock)
  WHERE what <> 'start' GROUP BY what;
CREATE TEMP TABLE found AS
  SELECT query, count(*) / 3 AS rows,
         sum(id * 31 + length(word) * length(neighbours)) / 3 AS checksum
  FROM results GROUP BY query;
CREATE TEMP TABLE facts AS
  SELECT (SELECT took FROM seconds WHERE what = 'plain') AS plain,
         (SELECT took FROM seconds WHERE what = 'filtered') AS filtered,
         (SELECT took FROM seconds WHERE what = 'build') AS build,
         (SELECT count(*) FROM probes) AS probes,
         (SELECT rows FROM found WHERE query = 'plain') AS rows,
         (SELECT count(*) FROM probes WHERE bloom_contains(
            (SELECT bloom_ref(filter) FROM filters WHERE name = 'words'), word)) AS maybe;

SELECT printf('%,d words; %,d probes, of which %,d are words', (SELECT count(*) FROM words), probes,
              rows) FROM facts;
SELECT printf('  plain join                %.3f s', plain) FROM facts;
SELECT printf('  with bloom_contains       %.3f s', filtered) FROM facts;
SELECT printf('  ratio                     %.1f', plain / filtered) FROM facts;
SELECT printf('  rows, checksum            plain %d, %d; with the filter %d, %d',
              a.rows, a.checksum, b.rows, b.checksum)
  FROM found AS a, found AS b WHERE a.query = 'plain' AND b.query = 'filtered';
SELECT printf('  the filter                %,d bytes, built in %.3f s', length(filter), build)
  FROM filters, facts;
SELECT printf('  false positives           %.3f %% of the absent; p was 1 %%',
              100.0 * (maybe - rows) / (probes - rows)) FROM facts;

INSERT INTO demands SELECT 'rows', rows > 0 FROM facts;
INSERT INTO demands SELECT 'rows', count(*) = 2 AND count(DISTINCT rows) = 1
                                   AND count(DISTINCT checksum) = 1 FROM found;
INSERT INTO demands SELECT 'rows', NOT EXISTS (
  SELECT id, word, neighbours FROM results WHERE query = 'plain'
  EXCEPT SELECT id, word, neighbours FROM results WHERE query = 'filtered');
INSERT INTO demands SELECT 'rows', NOT EXISTS (
  SELECT id, word, neighbours FROM results WHERE query = 'filtered'
  EXCEPT SELECT id, word, neighbours FROM results WHERE query = 'plain');
INSERT INTO demands SELECT 'rate', (maybe - rows) / (probes - rows + 0.0) < 0.011 FROM facts;
INSERT INTO demands SELECT 'ratio', plain / filtered >= 2 FROM facts;
