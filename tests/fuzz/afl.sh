#!/bin/sh
# The same with AFL++: afl.sh SECONDS FUZZER ... Findings are in build/fuzz/afl-FUZZER/default/crashes.
seconds=$1
shift
b=${B:-build}/fuzz code=0
export AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
for fuzzer in "$@"; do
  rm -rf "$b/afl-in-$fuzzer" "$b/afl-out-$fuzzer"
  mkdir -p "$b/afl-in-$fuzzer"
  # A folder for AFL++ holds small files only.
  find "tests/fuzz/corpus/$fuzzer" "$b/seeds/$fuzzer" -type f -size -4k -exec cp {} \
    "$b/afl-in-$fuzzer" \; 2>/dev/null
  dictionary=
  [ -f "tests/fuzz/$fuzzer.dict" ] && dictionary="-x tests/fuzz/$fuzzer.dict"
  # shellcheck disable=SC2086
  afl-fuzz -V "$seconds" -t 1000+ -i "$b/afl-in-$fuzzer" -o "$b/afl-out-$fuzzer" $dictionary -- \
    "$b/afl-$fuzzer" @@ >"$b/afl-$fuzzer.log" 2>&1
  stats=$b/afl-out-$fuzzer/default/fuzzer_stats
  runs=$(awk '/^execs_done/{print $3}' "$stats" 2>/dev/null)
  crashes=$(awk '/^saved_crashes/{print $3}' "$stats" 2>/dev/null)
  if [ "${runs:-0}" -gt 0 ] && [ "$crashes" = 0 ]; then
    echo "ok afl $fuzzer: $runs inputs in $seconds s"
  else
    echo "not ok afl $fuzzer: ${crashes:-it did not start, see} $b/afl-$fuzzer.log"
    tail -n 5 "$b/afl-$fuzzer.log"
    code=1
  fi
done
exit $code
