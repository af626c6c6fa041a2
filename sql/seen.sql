-- seen.sql: have we seen this before? A stream without its repetitions, with a bloom table.
--
-- Events come in one by one, many of them again and again. The table `seen` says "certainly new"
-- or "maybe seen"; what is new is written and remembered in the same statement, and what a
-- transaction takes back is not seen. Nobody has to know how many will come: the table grows.
--
--   sqlite3 < sql/seen.sql
--
-- The price is p of the new events, which are taken for old ones and dropped (2p once it has
-- grown). Where that must not be, look the maybes up, as at the end. For whole batches at a time
-- see dedupe.sql.

.bail on
.load build/bloom

CREATE VIRTUAL TABLE seen USING bloom(n=10000, p=0.001);
CREATE TABLE events(id TEXT, payload TEXT);
CREATE TRIGGER again BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM seen WHERE key = new.id)
BEGIN
  SELECT raise(IGNORE);
END;
CREATE TRIGGER remember AFTER INSERT ON events BEGIN
  INSERT INTO seen(key) VALUES (new.id);
END;

INSERT INTO events VALUES ('e-1', 'first');
INSERT INTO events VALUES ('e-1', 'first, delivered again');
INSERT INTO events VALUES ('e-2', 'second'), ('e-2', 'second, in the same statement');
SELECT id || ' ' || payload FROM events;

BEGIN;
INSERT INTO events VALUES ('e-3', 'rolled back');
ROLLBACK;
INSERT INTO events VALUES ('e-3', 'third');
SELECT 'after a rollback: ' || count(*) FROM events WHERE id = 'e-3';

-- 50,000 different events, most of them more than once; the table was made for 10,000.
INSERT INTO events
  SELECT printf('event %d', value * 7919 % 50000), '' FROM generate_series(1, 50000);
INSERT INTO events
  SELECT printf('event %d', value * 104729 % 50000), '' FROM generate_series(1, 60000);
SELECT printf('written twice: %d', count(*) - count(DISTINCT id)) FROM events;

-- At most 2p = 100 of the 50,000 new ones may be dropped, and 4 sigma, which are 40.
SELECT iif(dropped BETWEEN 0 AND 140, 'dropped though new: at most 0.2 %',
           printf('dropped though new: %d', dropped))
  FROM (SELECT 50003 - count(*) AS dropped FROM events);
SELECT printf('n = %d, %s, in %d layers', status ->> '$.n',
              iif((status ->> '$.count') BETWEEN 49000 AND 51000, 'about 50000 keys',
                  (status ->> '$.count') || ' keys'), status ->> '$.layers')
  FROM (SELECT bloom_status('seen') AS status);

-- Nothing dropped: the maybes are looked up in the events themselves.
CREATE INDEX events_id ON events(id);
DROP TRIGGER again;
CREATE TRIGGER again BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM seen WHERE key = new.id)
 AND EXISTS (SELECT 1 FROM events WHERE id = new.id)
BEGIN
  SELECT raise(IGNORE);
END;
INSERT INTO events SELECT 'event ' || value, '' FROM generate_series(0, 49999);
SELECT printf('with the maybes looked up: %d written, %d twice', count(*),
              count(*) - count(DISTINCT id))
  FROM events;
