-- bulk.sql: many keys at once, as a JSON array.
--
-- A client has a list of ids and asks which of them the server may know, in one statement and
-- one parameter. The answer is the short list that is worth a real lookup. Use it wherever keys
-- come in batches: the filter is read once a statement, so a batch pays for it once.
--
--   sqlite3 < sql/bulk.sql

.bail on
.load build/bloom

CREATE TABLE orders(id INTEGER PRIMARY KEY, item TEXT);
INSERT INTO orders SELECT value * 10, 'item ' || value FROM generate_series(1, 50000);

.parameter init
INSERT INTO temp.sqlite_parameters SELECT '@filter', bloom_build(id, 50000, 0.0001) FROM orders;
INSERT INTO temp.sqlite_parameters
  VALUES ('@keys', '[10, 15, "20", 25.0, 30.0, null, "forty", 40]');

-- One row per key. A number and the text that spells it are one key, as in a column with
-- affinity; null is no key.
.print 'perhaps known:'
SELECT '  ' || value || ' (' || type || ')' FROM json_each(@keys)
 WHERE bloom_contains(@filter, value);
.print 'certainly unknown:'
SELECT '  ' || value || ' (' || type || ')' FROM json_each(@keys)
 WHERE NOT bloom_contains(@filter, value);

-- The answer as an array again, to send back; and the confirmed rows.
SELECT json_group_array(value) FROM json_each(@keys) WHERE bloom_contains(@filter, value);
SELECT orders.id, orders.item FROM json_each(@keys) CROSS JOIN orders ON orders.id = value
 WHERE bloom_contains(@filter, value);

-- A long list: 10,000 keys, of which 1,000 are known.
UPDATE temp.sqlite_parameters
   SET value = (SELECT json_group_array(value) FROM generate_series(1, 10000)) WHERE key = '@keys';
SELECT printf('of %d keys %d are worth a lookup, %d are known',
              count(*), sum(bloom_contains(@filter, value)), count(orders.id))
  FROM json_each(@keys) LEFT JOIN orders ON orders.id = value;
