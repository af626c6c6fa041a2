-- composite.sql: keys of several columns.
--
-- bloom_key(a, b, ...) makes one key of several values, so that different tuples are different
-- keys. Gluing texts together does not do that: 'ab' || 'c' and 'a' || 'bc' are one text. Use it
-- for (tenant, order number), (user, item seen), (file, block).
--
--   sqlite3 < sql/composite.sql

.bail on
.load build/bloom

SELECT 'ab, c against a, bc: glued ' || iif('ab' || 'c' = 'a' || 'bc', 'equal', 'different') ||
       ', bloom_key ' || iif(bloom_key('ab', 'c') = bloom_key('a', 'bc'), 'equal', 'different');
-- Parts are equal where SQLite's = can call them equal: 1, 1.0 and '1' are.
SELECT '1 against 1.0 and text 1: bloom_key ' ||
       iif(bloom_key('x', 1) = bloom_key('x', 1.0) AND bloom_key('x', 1) = bloom_key('x', '1'),
           'equal', 'different');
-- A NULL in it makes no key, as in a comparison.
SELECT 'with a NULL part: ' || quote(bloom_key('x', NULL));

-- Orders of 20 tenants; each counts its own orders from 1, so that a number alone says nothing.
CREATE TABLE orders(tenant TEXT, number INTEGER, item TEXT, PRIMARY KEY (tenant, number));
INSERT INTO orders
  SELECT 'tenant' || t.value, n.value, 'item' FROM generate_series(1, 20) AS t,
         generate_series(1, 1000) AS n WHERE n.value <= t.value * 50;
CREATE TABLE filters AS
  SELECT 'orders' AS name, bloom_build(bloom_key(tenant, number), 10500, 0.001) AS filter
  FROM orders;

.print
.print 'tenant    number   filter says'
SELECT printf('%-8s  %6d   %s', t, n,
              iif(bloom_contains(filter, bloom_key(t, n)), 'perhaps', 'certainly not'))
  FROM filters, (SELECT value ->> 0 AS t, value ->> 1 AS n
                 FROM json_each('[["tenant2", 100], ["tenant2", 101], ["tenant20", 101]]'));

-- As precheck of a join on both columns.
CREATE TABLE asked AS
  SELECT 'tenant' || t.value AS tenant, n.value AS number
  FROM generate_series(1, 20) AS t, generate_series(1, 1000) AS n;
SELECT printf('%d asked, %d found; without the filter %d', (SELECT count(*) FROM asked), count(*),
              (SELECT count(*) FROM asked JOIN orders USING (tenant, number)))
  FROM asked CROSS JOIN orders USING (tenant, number)
 WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'orders'),
                      bloom_key(asked.tenant, asked.number));
-- 9,500 absent ones at 0.001: 9.5 are expected, 5 sigma are 15.
SELECT iif(count(*) <= 25, 'looked up in vain: a few of 9500', 'looked up in vain: too many')
  FROM asked
 WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'orders'),
                      bloom_key(tenant, number))
   AND NOT EXISTS (SELECT 1 FROM orders
                   WHERE orders.tenant = asked.tenant AND orders.number = asked.number);
