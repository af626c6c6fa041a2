-- fraud.sql: is this account blocked? No, at once; yes, only after asking the real table.
--
-- Payments come in all the time, and nearly none of them touches a blocked account. The filter
-- says no for those, surely and without touching the table. When it says maybe, the table
-- decides: a filter alone must never block anybody.
--
--   sqlite3 < sql/fraud.sql
--
-- Do not use a filter when you need the blocked accounts back, when a few hundred rows are all
-- that there is, or when accounts leave the list all day (removal.sql shows what that costs).

.bail on
.load build/bloom

CREATE TABLE blocked(account TEXT PRIMARY KEY, reason TEXT) WITHOUT ROWID;
INSERT INTO blocked
  SELECT printf('DE%020d', value * 7919), 'chargeback' FROM generate_series(1, 100000);
CREATE TABLE filters AS
  SELECT 'blocked' AS name, bloom_build(account, 100000, 0.001) AS filter FROM blocked;

-- 50,000 payments. Every 1,000th goes to a blocked account, and some name none.
CREATE TABLE payments(id INTEGER PRIMARY KEY, account TEXT, cents INTEGER);
INSERT INTO payments(account, cents)
  SELECT CASE WHEN value % 1000 = 0 THEN printf('DE%020d', value * 7919)
              WHEN value % 1000 = 1 THEN NULL
              ELSE printf('DE%020d', value * 7919 + 3) END, value
  FROM generate_series(1, 50000);

-- CASE decides the order: the table is asked only when the filter says maybe. A NULL account
-- gives NULL, which is not true either.
CREATE VIEW checked AS
  SELECT id, account,
         CASE WHEN bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'blocked'),
                                  account)
              THEN EXISTS (SELECT 1 FROM blocked WHERE blocked.account = payments.account)
              ELSE 0 END AS is_blocked
  FROM payments;
SELECT printf('payments %d, blocked %d', count(*), sum(is_blocked)) FROM checked;
SELECT printf('by the table alone: blocked %d', count(*))
  FROM payments JOIN blocked ON blocked.account = payments.account;

-- How much the table was spared: 50 payments are blocked, and of the others one in 1,000 is
-- asked for in vain (49,900 of them: 50 are expected, 5 sigma are 35).
SELECT iif(sum(maybe) BETWEEN 50 + 15 AND 50 + 85, 'asked of the table: about 100 of 50000',
           printf('asked of the table: %d', sum(maybe)))
  FROM (SELECT bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'blocked'),
                              account) AS maybe FROM payments);

-- An account that nobody blocked; one expected key; and a NULL, which is no key.
SELECT printf('clean account: %d',
              bloom_contains((SELECT filter FROM filters), 'DE00000000000000000042'));
SELECT printf('a list of one: %d %d', bloom_contains(filter, 'DE1'), bloom_contains(filter, 'DE2'))
  FROM (SELECT bloom_build('DE1', 1, 0.001) AS filter);
SELECT printf('a NULL added: %s',
              iif(bloom_add(filter, NULL) = filter, 'nothing changed', 'changed'))
  FROM filters;
-- n = 0, p = 0 and p = 1 are errors. For p = 1: bloom_build: p is 1, it must be a number from
-- 1e-9 to below 1.

-- Account numbers can be guessed, and so can a filter be searched for ones that pass. Where that
-- matters, put a secret into every key: bloom_key('the secret', account).
