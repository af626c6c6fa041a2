-- numbers.sql: what a Bloom filter is, and the arithmetic behind its size.
--
-- A filter is an array of bits. A key sets k of them. If one of a key's bits is 0, the key was
-- never put in. If all are 1, it probably was: other keys may have set them. With m bits, k bits
-- a key and n keys, the rate of such false positives is (1 - e^(-k n / m))^k; the best k is (m /
-- n) ln 2, and the bits that n keys need at rate p are -n ln p / (ln 2)^2.
--
-- Read this one when you want to know what bloom_build does with n and p.
--
--   sqlite3 < sql/numbers.sql

.bail on
.load build/bloom

.print 'A small filter: three keys in, then one of them and a stranger asked for, bit by bit.'
CREATE TABLE small AS
  SELECT bloom_build(value, 10, 0.05) AS filter FROM json_each('["apple", "pear", "plum"]');
SELECT printf('%d bits, k = %d', filter ->> '$.bits', filter ->> '$.k')
  FROM (SELECT bloom_info(filter) AS filter FROM small);
SELECT value || ': bits ' || (e -> '$.layers[0].positions') || ' hold ' ||
       (e -> '$.layers[0].bits') || iif(e ->> '$.contains', ', perhaps in', ', certainly not in')
  FROM (SELECT value, bloom_explain(filter, value) AS e
        FROM small, json_each('["pear", "quince"]'));

.print
.print 'The formula at n = 1000, m = 10,000, k = 10.'
SELECT printf('rate %.4f', pow(1 - exp(-10.0 * 1000 / 10000), 10));

.print
.print 'Bits a key and the best k by the formulas, and what bloom_build takes for a million keys.'
.print '       p   formula       k   bloom_build   k'
SELECT printf('%8s  %8.3f  %6.2f      %8.3f  %2d', p, -ln(p) / pow(ln(2), 2), -log(2, p),
              bloom_size(1000000, p) * 8 / 1000000.0,
              bloom_info(bloom_new(1000000, p)) ->> '$.k')
  FROM (SELECT value AS p FROM json_each('[0.1, 0.01, 0.001, 0.0001]'));
-- The formula forgets that k is a whole number and that the bits which n keys set vary;
-- bloom_build does not, and above 16 KiB it keeps a key's bits in few lines of the cache. That
-- costs 1 % at most.

.print
.print '100 keys at 1 %: bits by the formula; bits and bytes that bloom_new takes.'
SELECT printf('%.0f; %d; %d', -100 * ln(0.01) / pow(ln(2), 2),
              bloom_info(bloom_new(100, 0.01)) ->> '$.bits', bloom_size(100, 0.01));

.print
.print 'Filled with its n keys, a filter has its p and about half of its bits set.'
SELECT printf('%d keys: fill %.2f, rate %.4f', n, info ->> '$.fill', info ->> '$.fpr')
  FROM (SELECT n, bloom_info(bloom_build(value, n, 0.01)) AS info
        FROM (SELECT 1000 AS n UNION ALL SELECT 100000), generate_series(1, n) GROUP BY n);

-- Positions: the textbooks take two hashes a and b and the bits a, a + b, a + 2b ... That is too
-- regular when p is small or the filter is: it has a floor below which the rate does not fall.
-- Here each position comes from its own multiple of one 64-bit hash (see ext/FORMAT.md).
