-- What README.md says of facts.tsv, for the one filter of the table kept.
SELECT length(filter), ifnull(bloom_count(filter), 'NULL'), printf('%.9g', bloom_fpr(filter)),
  (SELECT group_concat(printf('%02x', answers), '') FROM (
    SELECT sum(bloom_contains(filter, 1000000 + value) << (value % 8)) AS answers
    FROM generate_series(0, 255) GROUP BY value / 8 ORDER BY value / 8))
FROM kept;
