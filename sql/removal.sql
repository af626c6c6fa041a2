-- removal.sql: filters from which keys can be taken.
--
-- In a plain filter a bit may belong to many keys, so no key can be taken out. A counting filter
-- keeps a small counter for each bit, at four times the size, and bloom_remove takes a key out
-- again. Use it for sets that shrink as well as grow: sessions, locks, items in stock.
--
--   sqlite3 < sql/removal.sql
--
-- Two rules. Remove only what was put in: removing a key that never was can take away other
-- keys' counters, if the filter says maybe to it. And give it the right n: a counting filter
-- does not grow.

.bail on
.load build/bloom

CREATE TABLE sessions(token TEXT PRIMARY KEY);
INSERT INTO sessions
  SELECT printf('%08x', value * 2654435761 % 4294967296) FROM generate_series(1, 1000);
CREATE TABLE filters AS SELECT bloom_build(token, 1000, 0.001, 'counting') AS filter FROM sessions;
SELECT printf('plain %d bytes, counting %d bytes', bloom_size(1000, 0.001), length(filter))
  FROM filters;

-- A session ends.
SELECT 'before: ' || bloom_contains(filter, '9e3779b1') FROM filters;
DELETE FROM sessions WHERE token = '9e3779b1';
UPDATE filters SET filter = bloom_remove(filter, '9e3779b1');
SELECT 'after:  ' || bloom_contains(filter, '9e3779b1') FROM filters;
SELECT printf('the other sessions: %d of %d found', sum(bloom_contains(filter, token)), count(*))
  FROM sessions, filters;

-- A key that was put in twice has to be taken out twice.
CREATE TABLE twice AS SELECT bloom_add(filter, 'again', 'again') AS filter FROM filters;
SELECT printf('put in twice: %d, taken once: %d, taken twice: %d', bloom_contains(filter, 'again'),
              bloom_contains(bloom_remove(filter, 'again'), 'again'),
              bloom_contains(bloom_remove(filter, 'again', 'again'), 'again'))
  FROM twice;

-- A key that is certainly not in it changes nothing.
SELECT 'removing a stranger: ' ||
       iif(bloom_remove(filter, 'stranger') = filter, 'nothing changed', 'changed')
  FROM filters;

-- Put in and taken out, all of it: the filter is as it was when it was new.
CREATE TABLE emptied AS SELECT filter FROM filters;
CREATE TRIGGER take_out AFTER DELETE ON sessions BEGIN
  UPDATE emptied SET filter = bloom_remove(filter, old.token);
END;
DELETE FROM sessions;
SELECT printf('all taken out: %d counters above 0, about %d keys',
              bloom_info(filter) ->> '$.bits_set', bloom_count(filter))
  FROM emptied;

-- On a plain filter bloom_remove is an error that names the two ways out: a counting filter, or
-- a new bloom_build without the key.
