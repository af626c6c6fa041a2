-- rollup.sql: daily filters, and the week and the month made of them.
--
-- Each day's keys make a filter; the day's data can then go. bloom_union(filter) over the rows
-- of a table makes the filter of the week, and bloom_count says how many different keys that
-- were, without counting those twice that came on several days. Use it for visitors, seen
-- hashes, anything by day.
--
--   sqlite3 < sql/rollup.sql
--
-- All days get the same n and p, large enough for the whole that they will be merged to: merging
-- adds keys, and a filter that was made for a day has no room for a month. (A build may outgrow
-- n and keep its p; a union of full filters does not. bloom_fpr says where it stands.)

.bail on
.load build/bloom

-- 28 days. Each has 3,000 visitors, of whom 2,000 come every day and 1,000 are new.
CREATE TABLE visits(day INTEGER, visitor TEXT);
INSERT INTO visits
  SELECT day.value, 'visitor' || iif(v.value <= 2000, v.value, day.value * 10000 + v.value)
  FROM generate_series(1, 28) AS day, generate_series(1, 3000) AS v;

CREATE TABLE daily(day INTEGER PRIMARY KEY, filter BLOB);
INSERT INTO daily SELECT day, bloom_build(visitor, 40000, 0.01) FROM visits GROUP BY day;
INSERT INTO daily VALUES (29, NULL); -- a day whose job has not run; bloom_union skips it

CREATE TABLE weekly AS SELECT (day + 6) / 7 AS week, bloom_union(filter) AS filter
  FROM daily WHERE day <= 28 GROUP BY week;
CREATE TABLE monthly AS SELECT bloom_union(filter) AS filter FROM daily;

-- The estimates are within 2 % of the truth here (9,000 in a week, 30,000 in the month).
.print 'week   visitors, by the filter   in truth'
SELECT printf('%4d   %s                    %d', week,
              iif(bloom_count(filter) BETWEEN truth * 0.98 AND truth * 1.02, 'within 2 %',
                  'off       '), truth)
  FROM weekly, (SELECT (day + 6) / 7 AS w, count(DISTINCT visitor) AS truth FROM visits GROUP BY w)
  WHERE w = week;
SELECT printf('month: %s of %d', iif(bloom_count(filter) BETWEEN truth * 0.98 AND truth * 1.02,
              'within 2 %', 'off '), truth)
  FROM monthly, (SELECT count(DISTINCT visitor) AS truth FROM visits);
SELECT iif(bloom_fpr(filter) < 0.01, 'the month''s rate is below p = 1 %', 'the month is too full')
  FROM monthly;

-- The union of the days is the very filter that one build over all rows gives.
SELECT 'same bytes as one build over the month: ' ||
       (filter = (SELECT bloom_build(visitor, 40000, 0.01) FROM visits))
  FROM monthly;

-- Who came in week 1 and again in week 4? Perhaps those in both; certainly no other.
SELECT printf('regulars found in weeks 1 and 4: %d of 2000', count(*))
  FROM generate_series(1, 2000)
 WHERE bloom_contains((SELECT bloom_ref(filter) FROM weekly WHERE week = 1), 'visitor' || value)
   AND bloom_contains((SELECT bloom_ref(filter) FROM weekly WHERE week = 4), 'visitor' || value);
