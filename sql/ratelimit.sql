-- ratelimit.sql: who went over the limit, one filter an hour.
--
-- A server forgets clients quickly but wants to remember for some hours who was too fast. Each
-- hour gets a filter of the addresses over its limit. An address in one of the last hours'
-- filters is slowed down; an old hour is forgotten by deleting its row, so nothing is ever
-- removed from a filter. Use it where a false alarm now and then is harmless (one in a thousand
-- is asked to wait).
--
--   sqlite3 < sql/ratelimit.sql

.bail on
.load build/bloom

-- Six hours of requests. In each hour one address in 50 makes 20 requests, the others make 3.
CREATE TABLE requests(hour INTEGER, address TEXT);
INSERT INTO requests
  SELECT hour.value, printf('10.%d.%d.%d', hour.value, client.value / 256, client.value % 256)
  FROM generate_series(1, 6) AS hour, generate_series(0, 1999) AS client,
       generate_series(1, 20) AS request
  WHERE request.value <= iif(client.value % 50 = 0, 20, 3);

CREATE TABLE limited(hour INTEGER PRIMARY KEY, filter BLOB);
INSERT INTO limited
  SELECT hour, bloom_build(address, 1000, 0.001)
  FROM (SELECT hour, address FROM requests GROUP BY hour, address HAVING count(*) > 10)
  GROUP BY hour;
SELECT printf('%d filters of %d bytes each, about %d addresses in all', count(*),
              max(length(filter)), sum(bloom_count(filter)))
  FROM limited;

-- A request comes in at hour 6. These small filters lie in their rows, and each is asked.
CREATE VIEW last_hours AS SELECT * FROM limited WHERE hour > 6 - 3;
.print
.print 'address     over the limit in the last 3 hours'
SELECT printf('%-10s  ', value) ||
       CASE WHEN EXISTS (SELECT 1 FROM last_hours WHERE bloom_contains(filter, value))
            THEN 'yes, slow down' ELSE 'no' END
  FROM json_each('["10.6.0.50", "10.6.0.51", "10.5.3.32", "10.2.0.50"]');

-- The current hour goes on: one address more.
UPDATE limited SET filter = bloom_add(filter, '10.6.0.51') WHERE hour = 6;
SELECT '10.6.0.51 now: ' ||
       EXISTS (SELECT 1 FROM last_hours WHERE bloom_contains(filter, '10.6.0.51'));

-- Forgetting.
DELETE FROM limited WHERE hour <= 6 - 3;
SELECT printf('%d filters left', count(*)) FROM limited;

-- For 10,000 addresses that did nothing, three filters at 0.001 give 0.3 % false alarms at most
-- when they are full; they hold 40 of 1,000 keys, so there are next to none.
SELECT printf('false alarms among 10000 strangers: %d', count(*)) FROM generate_series(1, 10000)
 WHERE EXISTS (SELECT 1 FROM last_hours WHERE bloom_contains(filter, '192.168.' || value));
