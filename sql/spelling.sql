-- spelling.sql: a spelling dictionary that fits into a few hundred kilobytes.
--
-- The first use that Bloom filters were known for. A word that is not in the filter is certainly
-- not in the dictionary, so it is misspelt (or new). A misspelt word passes as right at the rate
-- p, here one in a thousand. Use it where the word list is too large to ship, and a slip now and
-- then is fine.
--
--   sqlite3 < sql/spelling.sql
--
-- The list is Debian's package wamerican-huge.

.bail on
.load build/bloom

CREATE TABLE words(word TEXT);
.import /usr/share/dict/american-english-huge words
CREATE TABLE dictionary AS SELECT bloom_build(word, 350000, 0.001) AS filter FROM words;

SELECT printf('the list: %.1f MB; the filter: %.1f MB',
              (SELECT sum(length(CAST(word AS BLOB)) + 1) FROM words) / 1e6,
              length(filter) / 1e6)
  FROM dictionary;

.print
.print 'Misspelt in "Teh quick brown fox jumpd over teh lazzy dog":'
WITH RECURSIVE split(word, rest) AS (
  SELECT NULL, lower('Teh quick brown fox jumpd over teh lazzy dog') || ' '
  UNION ALL
  SELECT substr(rest, 1, instr(rest, ' ') - 1), substr(rest, instr(rest, ' ') + 1)
  FROM split WHERE rest <> '')
SELECT '  ' || word FROM split
 WHERE word IS NOT NULL
   AND NOT bloom_contains((SELECT bloom_ref(filter) FROM dictionary), word);

-- No word of the list is called misspelt. This is exact, for every word.
.print
SELECT printf('words of the list that the filter misses: %d', count(*)) FROM words
 WHERE NOT bloom_contains((SELECT bloom_ref(filter) FROM dictionary), word);

-- Words with one letter too many that are in no list: one in a thousand passes. (5 sigma of a
-- count of about 300,000 / 1000 are 30 %.)
CREATE INDEX words_word ON words(word);
CREATE TABLE wrong AS
  SELECT word || 'q' AS word FROM words
   WHERE NOT EXISTS (SELECT 1 FROM words AS other WHERE other.word = words.word || 'q');
SELECT iif(count(*) > 300000 AND passed BETWEEN 0.0007 AND 0.0013,
           'misspelt words that pass: 0.1 %, as p says',
           printf('misspelt words that pass: %.4f %% of %d', 100 * passed, count(*)))
  FROM (SELECT avg(bloom_contains((SELECT bloom_ref(filter) FROM dictionary), word)) AS passed
        FROM wrong), wrong;
