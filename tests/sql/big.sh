#!/bin/sh
# Filters of more than 2^32 bits, and n over 2^31 and 2^32; needs 2 GB of memory. Prints TAP.
B=${B-build}
failed=0
is() { # name got expected
  if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2 instead of $3"; failed=1; fi
}
ask() { sqlite3 -batch -list :memory: ".load $B/bloom" "$@" 2>&1; }
numbers="WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000)"
# 9.59 bits a key, of which lines take at most 1.014 times: 539 to 548 MB. 450,000,000 keys of room,
# 1,000 keys in: absent ones are found with a probability of (1000 * 7 / 4.3e9)^7. The estimate of
# the keys has a sigma of 0.6, since a key draws one cell twice with a chance of 1.8 %.
is "539 MB: size, members, absent keys" "$(ask "CREATE TABLE big AS $numbers SELECT bloom_build(i, 450000000, 0.01) AS f FROM c;
  SELECT length(f) BETWEEN 539000000 AND 548000000 FROM big;
  $numbers SELECT sum(bloom_contains((SELECT bloom_ref(f) FROM big), i)), sum(bloom_contains((SELECT bloom_ref(f) FROM big), i + 1000000)) FROM c;
  SELECT abs(bloom_count(f) - 1000) <= 2, bloom_fpr(f) BETWEEN 0 AND 1e-20 FROM big;
  SELECT length(f) = bloom_size(450000000, 0.01) FROM big;" | tr '\n' ' ')" "1 1000|0 1|1 1 "
# c = 1 / ln 2 at p = 0.5: 1.4427 bits a key
is "n of 2^31" "$(ask "SELECT length(f) BETWEEN 387000000 AND 393000000, bloom_contains(f, 1) FROM (SELECT bloom_build(1, 2147483648, 0.5) AS f);")" "1|1"
is "n of 2^32" "$(ask "SELECT length(f) BETWEEN 774000000 AND 786000000, bloom_contains(f, 1) FROM (SELECT bloom_build(1, 4294967296, 0.5) AS f);")" "1|1"
is "n of 1e7" "$(ask "SELECT length(bloom_build(1, 10000000, 0.001)) BETWEEN 17970000 AND 18230000;")" 1
exit $failed
