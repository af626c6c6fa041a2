-- segments.sql: a store of many segments, one filter in each segment's row.
--
-- A log-structured store keeps its data in segments that never change. A key may be in any of
-- them, so each has a filter, and only the segments whose filter says maybe are opened. Use it
-- for archives, partitions, monthly files: anything that is written once and costs much to open.
--
--   sqlite3 < sql/segments.sql
--
-- What it costs. Asking all segments reads all filters from the database, once each. 1,000
-- filters of 16 KB are 16 MB, which took 4 to 6 ms; each lies on a chain of 4 pages outside its
-- row. A filter that fits into its row, which is up to about 4,000 bytes with SQLite's usual
-- pages of 4,096 bytes, costs one page: 1,000 of them took 1.2 ms. So cut segments to about
-- 3,200 keys at p = 0.01, or 2,100 at p = 0.001; or, where segments must be larger, set PRAGMA
-- page_size = 65536 before the first table (2 to 3 ms for the 16 KB filters). Keep other columns
-- in front of the filter.

.bail on
.load build/bloom

.print 'keys a segment   filter   pages a row'
ATTACH ':memory:' AS large;
ATTACH ':memory:' AS inrow;
CREATE TABLE large.segments(id INTEGER PRIMARY KEY, file TEXT, filter BLOB);
CREATE TABLE inrow.segments(id INTEGER PRIMARY KEY, file TEXT, filter BLOB);
INSERT INTO large.segments
  SELECT value / 50, 'segment' || (value / 50), bloom_build(value, 13600, 0.01)
  FROM generate_series(0, 49999) GROUP BY value / 50;
INSERT INTO inrow.segments
  SELECT value / 50, 'segment' || (value / 50), bloom_build(value, 3200, 0.01)
  FROM generate_series(0, 49999) GROUP BY value / 50;
SELECT printf('%14d   %6d   %.0f', 13600, max(length(filter)), 1.0 * page_count / count(*))
  FROM large.segments, pragma_page_count('large');
SELECT printf('%14d   %6d   %.0f', 3200, max(length(filter)), 1.0 * page_count / count(*))
  FROM inrow.segments, pragma_page_count('inrow');
DETACH large;
DETACH inrow;

-- 1,000 segments of 300 keys, and filters for just as many. The newest five are still being
-- written and have no filter: NULL.
CREATE TABLE segments(id INTEGER PRIMARY KEY, file TEXT, filter BLOB);
INSERT INTO segments
  SELECT value / 300, 'segment' || (value / 300), bloom_build('key' || value, 300, 0.01)
  FROM generate_series(0, 299999) GROUP BY value / 300;
UPDATE segments SET filter = NULL WHERE id >= 995;

-- Which segments to open for a key? A segment without a filter has to be opened: say so, since a
-- NULL filter is an error otherwise (it would be a silent "never" for the whole segment).
.print
CREATE TABLE opened AS
  SELECT key, id, filter IS NULL AS unfiltered
  FROM (SELECT 'key' || (value * 1009) AS key FROM generate_series(0, 199)) CROSS JOIN segments
  WHERE filter IS NULL OR bloom_contains(filter, key);
SELECT printf('200 keys, 1000 segments: each key''s own segment opened %d times', count(*))
  FROM opened WHERE id = substr(key, 4) / 300;
SELECT printf('without a filter, opened by every key: %d', count(DISTINCT id)) FROM opened
 WHERE unfiltered AND id IN (SELECT id FROM opened GROUP BY id HAVING count(*) = 200);
-- 200 keys and 994 or 995 other segments with a filter, at 0.01: 9.9 a key are expected.
SELECT iif(wrong BETWEEN 9 AND 11, 'opened in vain: about 10 a key, 1 % of 1000',
           printf('opened in vain: %.2f a key', wrong))
  FROM (SELECT count(*) / 200.0 AS wrong FROM opened
        WHERE NOT unfiltered AND id <> substr(key, 4) / 300);
