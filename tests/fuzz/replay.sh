#!/bin/sh
# Replays the kept inputs, and those that seeds.sh makes of other files: replay.sh FUZZER ...
b=${B:-build}/fuzz code=0
for fuzzer in "$@"; do
  seeds=
  [ -d "$b/seeds/$fuzzer" ] && seeds=$b/seeds/$fuzzer
  # shellcheck disable=SC2086
  "$b/replay-$fuzzer" "tests/fuzz/corpus/$fuzzer" $seeds || code=1
done
exit $code
