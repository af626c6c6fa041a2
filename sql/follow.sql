-- follow.sql: a filter that keeps itself in step with a column.
--
-- CREATE VIRTUAL TABLE ... USING bloom(of='customers(email)') builds a filter from the column and
-- puts triggers beside it: whatever SQL does to the table, the filter knows. When it cannot know
-- any more, asking it is an error, never a wrong no. Use it where keys are asked one at a time and
-- the data changes.
--
--   sqlite3 < sql/follow.sql
--
-- What it costs: each insert or update of the source sets the key's bits too, about as much as an
-- index on the column. A plain table never forgets: keys that were deleted or changed answer
-- "maybe" until 'rebuild'. With kind=counting they are forgotten at once, at four times the size
-- (not those of rows that REPLACE deletes while PRAGMA recursive_triggers is off: no trigger sees
-- them).
--
-- Programs without the extension can read the source, but not write to it: the triggers need the
-- bloom module ("no such module: bloom"). Load the extension there, or let that program drop the
-- triggers, here email_known_insert and email_known_update: then asking the filter is an error,
-- until a program with the extension says 'rebuild'. Before a bulk load do the same, or drop the
-- table and create it again afterwards.
--
-- Not seen, since no trigger fires: incremental BLOB writes, writes while triggers are switched
-- off, a row that stays although another AFTER trigger on it ended with RAISE(IGNORE) or
-- RAISE(FAIL), or failed under OR FAIL. Say 'rebuild' after those.
-- PRAGMA integrity_check (SQLite 3.44 or later) tells when keys are missing.

.bail on
.open --new build/follow.db
.load build/bloom

CREATE TABLE customers(id INTEGER PRIMARY KEY, tenant INTEGER, email TEXT COLLATE NOCASE);
INSERT INTO customers(tenant, email)
  SELECT value % 10, printf('User%d@Example.org', value) FROM generate_series(1, 10000);

-- The column ignores case, a filter does not: lower() on both sides. n may be left out: room for
-- the rows that are there and a quarter more, and the filter grows when they become more still.
CREATE VIRTUAL TABLE email_known USING bloom(of='customers(lower(email))', p=0.001);
SELECT printf('n = %d, p = %g, %d bytes', status ->> '$.n', status ->> '$.p', status ->> '$.bytes')
  FROM (SELECT bloom_status('email_known') AS status);

-- Two ways to ask. In triggers and views use the second.
SELECT 'user77@example.org: ' || bloom_lookup('email_known', lower('USER77@example.org'));
SELECT 'nobody@example.org: ' ||
       EXISTS (SELECT 1 FROM email_known WHERE key = 'nobody@example.org');

-- Any statement is followed, and so is what a transaction takes back.
INSERT INTO customers(tenant, email) VALUES (1, 'New@Example.org');
UPDATE customers SET email = 'Changed@Example.org' WHERE id = 5;
INSERT INTO customers VALUES (6, 1, 'Upserted@Example.org')
  ON CONFLICT(id) DO UPDATE SET email = excluded.email;
SELECT key || ': ' || bloom_lookup('email_known', key)
  FROM (SELECT 'new@example.org' AS key UNION ALL SELECT 'changed@example.org'
        UNION ALL SELECT 'upserted@example.org');
BEGIN;
INSERT INTO customers(tenant, email) VALUES (1, 'undone@example.org');
SELECT 'in the transaction: ' || bloom_lookup('email_known', 'undone@example.org');
ROLLBACK;
SELECT 'rolled back: ' || bloom_lookup('email_known', 'undone@example.org');

-- Renames too: of the source, of its columns, of the table itself.
ALTER TABLE customers RENAME TO clients;
ALTER TABLE clients RENAME COLUMN email TO address;
INSERT INTO clients(tenant, address) VALUES (1, 'after@rename.org');
SELECT 'after the renames: ' || bloom_lookup('email_known', 'after@rename.org');
ALTER TABLE clients RENAME COLUMN address TO email;
ALTER TABLE clients RENAME TO customers;

-- Several columns are one key, as bloom_key makes it. This one counts, so it forgets.
CREATE VIRTUAL TABLE tenant_email USING
  bloom(of='customers(tenant, email)', p=0.001, n=20000, kind=counting);
DELETE FROM customers WHERE id = 77;
SELECT printf('deleted: tenant_email says %d, email_known still %d',
              bloom_lookup('tenant_email', bloom_key(7, 'User77@Example.org')),
              bloom_lookup('email_known', 'user77@example.org'));
INSERT INTO email_known(email_known) VALUES ('rebuild');
SELECT 'rebuilt: ' || bloom_lookup('email_known', 'user77@example.org');

-- A migration that makes the table anew takes its triggers away. Nobody gets a wrong answer: here
-- another process asks.
BEGIN;
CREATE TABLE new_customers(id INTEGER PRIMARY KEY, tenant INTEGER, email TEXT, phone TEXT);
INSERT INTO new_customers(id, tenant, email) SELECT * FROM customers;
DROP TABLE customers;
ALTER TABLE new_customers RENAME TO customers;
INSERT INTO customers(tenant, email) VALUES (1, 'unseen@example.org');
COMMIT;
.shell sqlite3 -cmd '.load build/bloom' build/follow.db "SELECT bloom_lookup('email_known', 'unseen@example.org')" 2>&1 | sed 's/.*bloom_lookup: //'
INSERT INTO email_known(email_known) VALUES ('rebuild');
INSERT INTO tenant_email(tenant_email) VALUES ('rebuild');
SELECT printf('rebuilt: %d; all keys found: %s', bloom_lookup('email_known', 'unseen@example.org'),
              iif(min(bloom_lookup('email_known', lower(email)) AND
                      bloom_lookup('tenant_email', bloom_key(tenant, email))), 'yes', 'no'))
  FROM customers;

-- Dropped, it takes its triggers along.
DROP TABLE email_known;
DROP TABLE tenant_email;
SELECT 'left: ' || group_concat(name) FROM sqlite_master;
