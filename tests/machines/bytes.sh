#!/bin/sh
# The machine's sql-bytes against this machine's: the same checksums of the same filters. B is the
# machine's, HERE what this one built.
there=$(BLOOM=$B/bloom.so "$B/sql-bytes" 2>&1)
here=$(BLOOM=$HERE/bloom.so "$HERE/sql-bytes" 2>&1)
count=$(printf '%s\n' "$here" | grep -c '^[0-9.]* [0-9]* [0-9a-f]*$')
if [ "$count" -gt 400 ] && [ "$there" = "$here" ]; then
  echo "ok bytes of $count filters"
else
  printf '%s\n' "# $count here; there" "$there" | head -n 20 | sed 's/^/# /'
  echo "not ok bytes of filters"
fi
