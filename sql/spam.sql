-- spam.sql: a list of spam senders, far too long to ask for every mail.
--
-- The filter of a million addresses takes 1.8 MB, and answers from memory. "Certainly not a
-- spammer" is the answer for nearly every honest sender, and it is always right. The rest is
-- looked up in the list itself. Use it for any long list that is asked about far more often than
-- it says yes.
--
--   sqlite3 < sql/spam.sql

.bail on
.load build/bloom

-- How large is it? In MiB, by the number of addresses and the rate; behind it what the
-- textbook's formula says, which is a little too low to keep p (see numbers.sql).
.print ' addresses         p = 1 %           0.1 %          0.01 %'
SELECT printf('%10d   %5.2f (%5.2f)   %5.2f (%5.2f)   %5.2f (%5.2f)', n,
              bloom_size(n, 0.01) / mib, -n * ln(0.01) / pow(ln(2), 2) / 8 / mib,
              bloom_size(n, 0.001) / mib, -n * ln(0.001) / pow(ln(2), 2) / 8 / mib,
              bloom_size(n, 0.0001) / mib, -n * ln(0.0001) / pow(ln(2), 2) / 8 / mib)
  FROM (SELECT value AS n, 1048576.0 AS mib FROM json_each('[100000, 1000000, 10000000]'));

-- A million spammers.
CREATE TABLE spammers(address TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO spammers
  SELECT printf('offer%07d@mail%d.example', value, value % 97) FROM generate_series(1, 1000000);
CREATE TABLE filters AS
  SELECT 'spammers' AS name, bloom_build(address, 1000000, 0.001) AS filter FROM spammers;

-- None of them gets through.
.print
SELECT printf('spammers that the filter misses: %d of %d', count(*) - sum(maybe), count(*))
  FROM (SELECT bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'spammers'),
                              address) AS maybe
        FROM spammers);

-- 100,000 honest senders. One in a thousand has to be looked up; none is called a spammer. (100
-- are expected; 5 sigma are 50.)
CREATE TABLE mails AS
  SELECT printf('offer%07d@home%d.example', value, value % 97) AS sender
  FROM generate_series(1, 100000);
SELECT iif(sum(maybe) BETWEEN 50 AND 150, 'honest senders to look up: 0.1 %, as p says',
           printf('honest senders to look up: %d', sum(maybe)))
  FROM (SELECT bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'spammers'),
                              sender) AS maybe
        FROM mails);
SELECT printf('honest senders called spammers: %d', count(*)) FROM mails
 WHERE bloom_contains((SELECT bloom_ref(filter) FROM filters WHERE name = 'spammers'), sender)
   AND EXISTS (SELECT 1 FROM spammers WHERE address = sender);

-- The list cannot be read out of the filter, and an address cannot be taken from it: keep the
-- table. Writing the filter to a file is in file.sql. A list that changes all day: build it anew
-- at night, and let bloom_add take the day's few.
