-- lightclient.sql: which blocks of a chain may touch my addresses?
--
-- A light client does not download every block. The server sends one small filter a block, of
-- the addresses that the block touches; the client downloads the blocks whose filter says maybe,
-- and looks into them. It misses none of its blocks, and the server does not learn its
-- addresses. Use it for any log of blocks, pages or archives that is read by few keys.
--
--   sqlite3 < sql/lightclient.sql

.bail on
.load build/bloom

-- 1,000 blocks that touch 150 addresses each.
CREATE TABLE touched(block INTEGER, address TEXT);
INSERT INTO touched
  SELECT block.value, printf('%08x%08x', (block.value * 150 + at.value) * 2654435761 % 4294967296,
                             block.value * 2246822519 % 4294967296)
  FROM generate_series(1, 1000) AS block, generate_series(1, 150) AS at;

-- My two addresses are in three of them.
CREATE TABLE mine(address TEXT);
INSERT INTO mine VALUES ('6d796164647265737331'), ('6d796164647265737332');
INSERT INTO touched VALUES (17, '6d796164647265737331'), (401, '6d796164647265737332'),
                           (998, '6d796164647265737331');

-- What the server sends.
CREATE TABLE headers AS
  SELECT block, bloom_build(address, 151, 0.001) AS filter FROM touched GROUP BY block;
SELECT printf('%d blocks, a filter of %d bytes each', count(*), max(length(filter))) FROM headers;

-- What the client downloads, and which of those really are its own.
CREATE TABLE downloads AS
  SELECT DISTINCT block FROM headers, mine WHERE bloom_contains(filter, address);
SELECT printf('block %d: mine', block) FROM downloads
 WHERE EXISTS (SELECT 1 FROM touched JOIN mine USING (address)
               WHERE touched.block = downloads.block)
 ORDER BY block;
-- 997 blocks and 2 addresses at 0.001: 2 downloads in vain are expected, and more than 11 would
-- be off by 5 sigma of such a small number.
SELECT iif(count(*) - 3 <= 11, 'downloaded in vain: a few', 'downloaded in vain: too many')
  FROM downloads;
