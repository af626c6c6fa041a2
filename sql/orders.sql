-- orders.sql: a list of orders in one file, which several processes fill and ask.
--
-- A filter in the memory of one server is lost with it, and its neighbour has another. Here the
-- database file is what they share: each process adds order numbers one at a time and asks one at
-- a time, and the filter outlives them all. A yes is never the last word: the real table confirms
-- it.
--
--   sqlite3 < sql/orders.sql
--
-- The processes are started by this script as shells of their own.

.bail on
.open --new build/orders.db
PRAGMA journal_mode = WAL;
.load build/bloom

-- The blocked orders, and a filter that follows them.
CREATE TABLE blocked_orders(number TEXT PRIMARY KEY, reason TEXT) WITHOUT ROWID;
CREATE VIRTUAL TABLE blocked USING bloom(of='blocked_orders(number)', n=10000, p=0.001);
INSERT INTO blocked_orders VALUES ('ORD-99821', 'card stolen');

-- Another process asks, key by key.
.shell sqlite3 -cmd '.load build/bloom' build/orders.db "SELECT 'ORD-99821: ' || bloom_lookup('blocked', 'ORD-99821'); SELECT 'ORD-10001: ' || bloom_lookup('blocked', 'ORD-10001')"

-- It blocks an order, and this process knows.
.shell sqlite3 -cmd '.load build/bloom' build/orders.db "INSERT INTO blocked_orders VALUES ('ORD-10001', 'velocity')"
SELECT 'blocked by another process: ' || bloom_lookup('blocked', 'ORD-10001');

-- Four processes at once, each in small transactions of its own.
.shell for p in 1 2 3 4; do (for i in 1 2 3 4 5; do echo "INSERT INTO blocked_orders SELECT 'P$p-$i-' || value, 'batch' FROM generate_series(1, 100);"; done) | sqlite3 -cmd '.timeout 60000' -cmd '.load build/bloom' build/orders.db & done; wait
SELECT printf('%d orders are blocked, the filter misses %d', count(*),
              sum(NOT bloom_lookup('blocked', number)))
  FROM blocked_orders;

-- What a process takes back nobody sees.
.shell sqlite3 -cmd '.load build/bloom' build/orders.db "BEGIN; INSERT INTO blocked_orders VALUES ('ORD-5', 'mistake'); SELECT 'in its transaction: ' || bloom_lookup('blocked', 'ORD-5'); ROLLBACK"
SELECT 'for the others: ' || bloom_lookup('blocked', 'ORD-5');

-- The precheck of a payment: no at once in the common case, and yes only after the table said so.
-- CASE decides the order.
CREATE TABLE payments(id INTEGER PRIMARY KEY, number TEXT);
INSERT INTO payments(number)
  SELECT CASE WHEN value % 500 = 0 THEN printf('P1-2-%d', value / 500)
              WHEN value % 500 = 1 THEN NULL
              ELSE printf('ORD-%d', value * 7919) END
  FROM generate_series(1, 50000);
SELECT printf('%d payments, %d of them stopped', count(*), sum(stopped))
  FROM (SELECT CASE WHEN bloom_lookup('blocked', number)
                    THEN EXISTS (SELECT 1 FROM blocked_orders AS b WHERE b.number = p.number)
                    ELSE 0 END AS stopped
        FROM payments AS p);
SELECT printf('by the table alone: %d', count(*)) FROM payments JOIN blocked_orders USING (number);

-- 100 payments are stopped, and of the others at most one in 1,000 is asked for in vain: 50, and 5
-- sigma, which are 35.
SELECT iif(sum(maybe) BETWEEN 100 AND 185, 'asked of the table: 100 and a few of 50000',
           printf('asked of the table: %d', sum(maybe)))
  FROM (SELECT bloom_lookup('blocked', number) AS maybe FROM payments);
