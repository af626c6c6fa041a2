#!/bin/sh
# suites.sh MACHINE COMMAND ...: runs the commands, each of which prints TAP, and puts the machine's
# name into every line. A command that fails without saying so, or says nothing, is a failure.
machine=$1
shift

# Why a suite is not for a machine; nothing where it is.
left_out() {
  case "$machine $1" in
    *' CC='*linking.sh) [ "$machine" != musl ] || echo "it names the files of glibc" ;;
    m32*unit/filter | m32*unit/platform) echo "their reference needs a 128-bit type" ;;
    sqlite-3.34.0*examples/run.sh | sqlite-3.34.0*readme-blocks*)
      echo "the scripts use ->>, of 3.38"
      ;;
  esac
}

status=0
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
for command in "$@"; do
  why=$(left_out "$command")
  if [ "$why" ]; then echo "# $machine: $command is left out: $why"; continue; fi
  start=$(date +%s)
  sh -c "$command" >"$out" 2>&1 </dev/null
  code=$?
  grep -q '^not ok' "$out" && status=1
  sed "s/^\(not \)*ok /&$machine: /" "$out"
  if [ "$code" != 0 ] && ! grep -q '^not ok' "$out"; then
    echo "not ok $machine: $command: exit code $code"
  elif ! grep -q '^\(not \)*ok' "$out"; then
    echo "not ok $machine: $command: no test ran"
  fi
  echo "# $machine: $command: $(grep -c '^ok' "$out") passed, $(($(date +%s) - start)) s"
done
exit $status
