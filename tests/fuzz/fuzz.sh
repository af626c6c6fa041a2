#!/bin/sh
# Runs each fuzzer for some seconds: fuzz.sh SECONDS FUZZER ... What it learns is kept in
# build/fuzz/corpus, what it finds in build/fuzz/found; README.md says what to do then.
seconds=$1
shift
b=${B:-build}/fuzz code=0
mkdir -p "$b/found"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for fuzzer in "$@"; do
  mkdir -p "$b/corpus/$fuzzer" "$b/seeds/$fuzzer"
  log=$b/$fuzzer.log
  case $fuzzer in
    blob | merge) longest=20000 ;;
    sql | keys) longest=2000 ;;
    *) longest=500 ;;
  esac
  dictionary=
  [ -f "tests/fuzz/$fuzzer.dict" ] && dictionary=-dict=tests/fuzz/$fuzzer.dict
  # shellcheck disable=SC2086
  if "$b/fuzz-$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len="$longest" \
      -len_control=20 -reload=0 -print_final_stats=1 -artifact_prefix="$b/found/$fuzzer-" \
      $dictionary "$b/corpus/$fuzzer" "tests/fuzz/corpus/$fuzzer" "$b/seeds/$fuzzer" \
      >"$log" 2>&1; then
    runs=$(awk '/number_of_executed_units/{print $2}' "$log")
    echo "ok fuzz $fuzzer: $runs inputs in $seconds s"
    echo "# fuzz $fuzzer: $runs inputs, $(grep -c . "$log") lines in $log"
  else
    echo "not ok fuzz $fuzzer"
    grep -aE 'not ok|ERROR|SUMMARY|runtime error|Test unit' "$log" | head -n 20
    code=1
  fi
done
exit $code
