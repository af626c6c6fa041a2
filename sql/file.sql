-- file.sql: a filter as a file, from one program to another.
--
-- A filter is a BLOB with its own header: it can be written to a file, sent over the net, and
-- read on any machine, by any program that knows ext/FORMAT.md. The second half of this script
-- is another database that knows nothing of the first. Use it to ship the set of known keys to
-- clients.
--
--   sqlite3 < sql/file.sql
--
-- writefile and readfile are functions of the sqlite3 shell. Other programs bind the BLOB.

.bail on
.load build/bloom

CREATE TABLE users(email TEXT);
INSERT INTO users SELECT printf('user%d@example.org', value) FROM generate_series(1, 10000);
SELECT printf('written: %d bytes',
              writefile('build/users.bloom', (SELECT bloom_build(email, 10000, 0.001) FROM users)));

-- Another database, as another program would open it.
.open :memory:
.load build/bloom
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters VALUES ('users', readfile('build/users.bloom'));

-- Is it what it should be? bloom_info reads all of it and verifies its checksum; a file that was
-- cut or damaged is an error here, and not a wrong answer later.
SELECT printf('read: %s, n = %d, p = %g, about %d thousand keys, checksum %s', info ->> '$.kind',
              info ->> '$.n', info ->> '$.p', ((info ->> '$.count') + 500) / 1000,
              info ->> '$.checksum')
  FROM (SELECT bloom_info(filter) AS info FROM filters);
SELECT email || ': ' || bloom_contains(filter, email)
  FROM filters, (SELECT 'user77@example.org' AS email UNION ALL SELECT 'nobody@example.org');
SELECT printf('missed: %d of 10000', 10000 - sum(maybe))
  FROM (SELECT bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'users'),
                              printf('user%d@example.org', value)) AS maybe
        FROM generate_series(1, 10000));
