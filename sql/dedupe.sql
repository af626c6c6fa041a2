-- dedupe.sql: events that are delivered again and again, written once.
--
-- A log arrives in batches, and many events come twice or more. The filter of all ids seen so
-- far says "certainly new" for what has to be written, without an index over years of ids. The
-- price: it takes a share p of the NEW events for old ones, and drops them. Choose a p that you
-- can live with, or look the maybes up in the log. An old event is never written again.
--
--   sqlite3 < sql/dedupe.sql

.bail on
.load build/bloom

-- 10 batches of 20,000 events: every second one is new, the others came in this batch or before.
CREATE TABLE delivered(batch INTEGER, id TEXT);
INSERT INTO delivered
  SELECT number / 10000, 'event-' || iif(at % 2, number * 7919 % (number + 1), number)
  FROM (SELECT value AS at, value / 2 AS number FROM generate_series(0, 199999));

-- What to do with a batch: write its certainly new events, then remember all of its ids.
CREATE TABLE log(id TEXT);
CREATE TABLE seen AS SELECT bloom_new(100000, 0.01) AS filter;
CREATE TABLE batches(batch INTEGER);
CREATE TRIGGER take_batch AFTER INSERT ON batches BEGIN
  INSERT INTO log
    SELECT DISTINCT id FROM delivered
    WHERE batch = new.batch AND NOT bloom_contains((SELECT bloom_ref(filter) FROM seen), id);
  UPDATE seen SET filter = bloom_union(filter, (
    SELECT bloom_build(id, 100000, 0.01) FROM delivered WHERE batch = new.batch));
END;
INSERT INTO batches SELECT value FROM generate_series(0, 9);

SELECT printf('delivered %d, of which %d are different', count(*), count(DISTINCT id))
  FROM delivered;
SELECT printf('written twice: %d', count(*) - count(DISTINCT id)) FROM log;
SELECT printf('written without having been delivered: %d', count(*))
  FROM (SELECT id FROM log EXCEPT SELECT id FROM delivered);

-- While it fills, the filter drops less than p. Now that it holds its 100,000 ids, it drops p of
-- what is new: of 20,000 events 200, give or take 5 sigma, which are 71.
SELECT iif(dropped BETWEEN 1 AND 1000, 'dropped while it filled: less than 1 % of 100000 new ones',
           printf('dropped while it filled: %d', dropped))
  FROM (SELECT 100000 - count(*) AS dropped FROM log);
SELECT iif(dropped BETWEEN 129 AND 271,
           'dropped now that it is full: 1 % of the new ones, as p says',
           printf('dropped now that it is full: %d of 20000', dropped))
  FROM (SELECT sum(bloom_contains((SELECT bloom_ref(filter) FROM seen), 'event-' || value))
                 AS dropped
        FROM generate_series(100001, 120000));

-- Nothing dropped: look the maybes up. Most old events are maybes, so this pays where events are
-- mostly new, and the log has an index.
CREATE INDEX log_id ON log(id);
INSERT INTO log
  SELECT DISTINCT id FROM delivered
  WHERE bloom_contains((SELECT bloom_ref(filter) FROM seen), id)
    AND NOT EXISTS (SELECT 1 FROM log WHERE log.id = delivered.id);
SELECT printf('with the maybes looked up: %d written, %d twice', count(*),
              count(*) - count(DISTINCT id))
  FROM log;
