-- shards.sql: filters built apart and merged.
--
-- The data lie in several databases, on several machines, or are read by several processes. Each
-- builds the filter of its part; the filters travel, and bloom_union makes one of them. No row
-- travels. Use it to build in parallel, or to know what a remote shard cannot have.
--
--   sqlite3 < sql/shards.sql
--
-- All shards are given the same n and p, with n for the whole. Left out, n is the shard's own
-- number of keys, and such filters differ in size and do not merge; the error says so.

.bail on
.load build/bloom

ATTACH ':memory:' AS shard1;
ATTACH ':memory:' AS shard2;
ATTACH ':memory:' AS shard3;
CREATE TABLE shard1.files AS SELECT printf('%08x', value * 2654435761 % 4294967296) AS hash
  FROM generate_series(1, 30000);
CREATE TABLE shard2.files AS SELECT printf('%08x', value * 2654435761 % 4294967296) AS hash
  FROM generate_series(25001, 70000);
CREATE TABLE shard3.files(hash TEXT); -- a new one, still empty

-- Each shard's own work.
CREATE TABLE shard1.summary AS SELECT bloom_build(hash, 100000, 0.001) AS filter FROM shard1.files;
CREATE TABLE shard2.summary AS SELECT bloom_build(hash, 100000, 0.001) AS filter FROM shard2.files;
CREATE TABLE shard3.summary AS SELECT bloom_build(hash, 100000, 0.001) AS filter FROM shard3.files;
SELECT printf('shard %d: %d bytes, about %d thousand keys', 1, length(filter),
              (bloom_count(filter) + 500) / 1000) FROM shard1.summary;
SELECT printf('shard %d: %d bytes, about %d thousand keys', 2, length(filter),
              (bloom_count(filter) + 500) / 1000) FROM shard2.summary;
SELECT printf('shard %d: %d bytes, about %d thousand keys', 3, length(filter),
              (bloom_count(filter) + 500) / 1000) FROM shard3.summary;

-- The whole: as an expression over a few, or as an aggregate over rows.
CREATE TABLE whole AS SELECT bloom_union(a.filter, b.filter, c.filter) AS filter
  FROM shard1.summary AS a, shard2.summary AS b, shard3.summary AS c;
SELECT printf('whole: %d bytes, about %d thousand keys', length(filter),
              (bloom_count(filter) + 500) / 1000) FROM whole;
SELECT 'the aggregate gives the same: ' || (filter = (SELECT bloom_union(filter) FROM (
         SELECT filter FROM shard3.summary UNION ALL SELECT filter FROM shard1.summary
         UNION ALL SELECT filter FROM shard2.summary)))
  FROM whole;
SELECT 'and so does one build over all rows: ' || (filter = (SELECT bloom_build(hash, 100000, 0.001)
         FROM (SELECT hash FROM shard2.files UNION ALL SELECT hash FROM shard1.files)))
  FROM whole;

-- Which shard may have this file? Only those are asked.
.print
CREATE TEMP VIEW shards AS
  SELECT 'shard1' AS name, filter FROM shard1.summary
  UNION ALL SELECT 'shard2', filter FROM shard2.summary
  UNION ALL SELECT 'shard3', filter FROM shard3.summary;
SELECT printf('file %d: ask %s', n, coalesce(group_concat(name, ', '), 'nobody'))
  FROM (SELECT value AS n, printf('%08x', value * 2654435761 % 4294967296) AS hash
        FROM json_each('[10, 27000, 60000, 80000]'))
       LEFT JOIN shards ON bloom_contains(filter, hash)
 GROUP BY n ORDER BY n;

-- What two shards may have in common: the files of both, and few others.
SELECT printf('in both: about %d thousand',
              (bloom_count(bloom_intersect(a.filter, b.filter)) + 500) / 1000)
  FROM shard1.summary AS a, shard2.summary AS b;
