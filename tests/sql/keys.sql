-- Which values are one key. Each row: the key put in, the key asked, whether they are one.
-- Fed to filters of p = 1e-9, so that a chance hit does not happen here.
CREATE TABLE pairs(a, b, same INTEGER);
INSERT INTO pairs VALUES
  (1, 1, 1), (1, 1.0, 1), (1, '1', 1), (1, ' 1', 1), (1, '1 ', 1), (1, '01', 1), (1, '+1', 1), (1, '1.', 1), (1, '1.0', 1),
  (1, '1e0', 1), (1, '10e-1', 1), (1, '0.1e1', 1), (1, '1E+0', 1), (1, char(9, 10, 11, 12, 13) || '1' || char(10), 1),
  (1, 1.5, 0), (1, 2, 0), (1, -1, 0), (1, X'31', 0), (1, '1x', 0), (1, '0x1', 0), (1, '1 1', 0), (1, '', 0), (1, '1e', 0),
  (1, '--1', 0), (1, '+ 1', 0), (1, 'e0', 0), (1, '1' || char(0), 1), (1, '1' || char(0) || 'abc', 1), (1, ' 1.0 ' || char(0) || '2', 1), (1, char(0) || '1', 0), (1, '1x' || char(0), 0), (1, char(160) || '1', 0), (1, '1_0', 0), (1, '1,0', 0),
  (0, 0.0, 1), (0, -0.0, 1), (0, '0', 1), (0, '-0', 1), (0, '-0.0', 1), (0, '0e99', 1), (0, '.0', 1), (0, '0.', 1), (0, '00', 1),
  (0, '.', 0), (0, '-', 0), (0, '+', 0), (0, '', 0), (0, ' ', 0), (0, 'e', 0), (0, X'', 0), (0, X'00', 0), (0, char(0), 0),
  (0.5, '.5', 1), (0.5, '0.5', 1), (0.5, '5e-1', 1), (0.5, '0.50000000000000000000000000', 1), (0.5, '000000000000000000000.5', 1), (0.5, '-0.5', 0), (0.5, -0.5, 0),
  (0.1, '0.1', 1), (-0.1, '-.1', 1), (1e-9, '0.000000001', 1), (1e22, '1e22', 1), (1e22, '10000000000000000000000', 1), (1e36, '1e36', 1),
  (1e37, '1e37', 1), (1e-23, '1e-23', 1), (1e23, '100000000000000000000000', 1), (-1e300, '-10e299', 1), (1e23, '1e22', 0), ('1e309', '1e310', 0), ('340e2740', '340e2741', 0), ('1e309', '1e309', 1), (9e999, '1e308', 0), (-9e999, '-1e308', 0),
  (0, '1e-320', 1), (0, '1e-307', 0), (1e-307, '1e-307', 1), (0.446381, '0.446381', 1), (0.446381, '446381e-6', 1), (0.446381, '0.446382', 0), (1.23456789012345, '1.23456789012345', 1), (1.23456789012345, '1.23456789012346', 0),
  (100, '1e2', 1), (7, '+7', 1), (1e18, 1000000000000000000, 1), (1000000000000000000, '1e18', 1),
  (9223372036854775807, '9223372036854775807', 1), (-9223372036854775808, '-9223372036854775808', 1),
  (9223372036854775807, 9223372036854775806, 0), (9223372036854775807, '9223372036854775806', 0),
  (-9223372036854775808, -9223372036854775808.0, 1), (9223372036854775807, 9223372036854775807.0, 0), (9007199254740993, 9007199254740992.0, 0),
  (9223372036854775807, '9223372036854775808', 0), ('12345678901234567890', '12345678901234567891', 0),
  ('4111111111111111', 4111111111111111, 1), ('4111111111111111', '4111111111111112', 0),
  (9e999, 9e999, 1), (9e999, -9e999, 0), (9e999, 'inf', 0), (9e999, 'Infinity', 0), (9e999, 1e308, 0),
  ('a', 'a', 1), ('a', 'A', 0), ('a', 'a ', 0), ('a', X'61', 0), ('', '', 1), ('', X'', 0), ('', char(0), 0), ('', ' ', 0),
  ('a' || char(0) || 'b', 'a' || char(0) || 'b', 1), ('a' || char(0) || 'b', 'a' || char(0) || 'c', 0), ('a' || char(0), 'a', 0),
  (X'00', X'00', 1), (X'00', X'0000', 0), (X'FF00', X'FF', 0), (X'FF00', '\xFF\x00', 0), (X'', X'', 1),
  ('42', 42, 1), ('42', ' 42.0 ', 1), ('42', X'3432', 0), (1, 1 = 1, 1), (1, 0x1, 1), (1, CAST('1' AS INTEGER), 1),
  (char(233), char(233), 1), (char(233), 'e' || char(769), 0), (char(128512), char(128512), 1),
  ('2024-01-01', '2024-01-01 00:00:00', 0), ('123.0', 123, 1), ('123456789012345', 123456789012345, 1), (2.5, '2.5', 1), (0.1 + 0.2, 0.25, 0),
  -- REALs are keys by 15 digits, and so is text of 16 to 19 digits with a point
  (0.1 + 0.2, 0.3, 1), (0.3, '0.30000000000000004', 1), (0.3, '0.3000000000000004', 1), (0.3, '0.300000000000004', 0), (123456789012345.6, '123456789012345.6', 1), ('12345678901234567890', 12345678901234567890.0, 0);
CREATE TABLE filters AS SELECT rowid AS id, bloom_build(a, 1, 1e-9) AS f FROM pairs GROUP BY rowid;
SELECT 'wrong', quote(a), quote(b), same FROM pairs JOIN filters ON id = pairs.rowid WHERE bloom_contains(f, b) <> same;
CREATE TABLE others AS SELECT rowid AS id, bloom_build(b, 1, 1e-9) AS f FROM pairs GROUP BY rowid;
SELECT 'wrong the other way', quote(a), quote(b), same FROM pairs JOIN others ON id = pairs.rowid WHERE bloom_contains(f, a) <> same;
SELECT 'equal parts of composite keys', count(*) = sum(same = (bloom_key(a) = bloom_key(b))) FROM pairs;
SELECT 'pairs', count(*) > 100, sum(same) > 50, sum(NOT same) > 50 FROM pairs;
-- What `=` calls equal as it stands is one key.
SELECT 'every equal pair is one key', count(*) FROM pairs WHERE a = b AND NOT same;
-- NaN does not reach a function: SQLite makes it NULL.
SELECT 'not a number', bloom_contains(bloom_build(1, 1, 1e-9), 9e999 - 9e999);
-- Collations do not reach it either: a key is put in and asked in one form.
CREATE TABLE n(k TEXT COLLATE NOCASE);
INSERT INTO n VALUES ('Alice');
SELECT 'NOCASE', count(*), bloom_contains((SELECT bloom_build(k, 1, 1e-9) FROM n), 'ALICE'), bloom_contains((SELECT bloom_build(lower(k), 1, 1e-9) FROM n), lower('ALICE')) FROM n WHERE k = 'ALICE';
SELECT 'RTRIM', bloom_contains(bloom_build(rtrim('x  '), 1, 1e-9), rtrim('x'));
SELECT 'dates', bloom_contains(bloom_build(date('2024-01-01 00:00:00'), 1, 1e-9), date('2024-01-01'));
-- A number that a driver bound as REAL to a TEXT column
CREATE TABLE u(t TEXT);
INSERT INTO u VALUES (123.0);
SELECT 'stored as', t, bloom_contains((SELECT bloom_build(t, 1, 1e-9) FROM u), '123'), bloom_contains((SELECT bloom_build(t, 1, 1e-9) FROM u), 123) FROM u;
