#!/bin/sh
# Checkers that read the source: analyse.sh fanalyzer | tidy | cppcheck. Any warning is a failure.
# From the project's root; prints TAP, a line for each file of ext/. Two files at a time.
tool=$1

# false positives of gcc's analyzer, by file: why
#   draft.c   it takes the offsets for unset that bloom_append_layer set in the loop before
exceptions() {
  case $1 in
    ext/draft.c) echo -Wno-analyzer-use-of-uninitialized-value ;;
  esac
}

# variableScope is left out: a variable that holds one call's code after another may stand on top.
analyse() {
  case $tool in
    fanalyzer)
      gcc -std=c11 -D_DEFAULT_SOURCE -O1 -fanalyzer -Wall -Wextra -Werror $(exceptions "$1") -c -o /dev/null "$1"
      ;;
    tidy) clang-tidy --quiet "$1" -- -std=c11 -D_DEFAULT_SOURCE -Iext ;;
    cppcheck)
      cppcheck -q --std=c11 --enable=warning,style,performance,portability --inline-suppr \
        --suppress=variableScope --error-exitcode=1 -Iext "$1"
      ;;
    *) echo "usage: analyse.sh fanalyzer | tidy | cppcheck" >&2; exit 2 ;;
  esac
}

if [ $# = 2 ]; then
  if said=$(analyse "$2" 2>&1); then
    echo "ok $tool $2"
  else
    printf 'not ok %s %s\n%s\n' "$tool" "$2" "$said" | sed '2,$s/^/# /'
  fi
  exit
fi
printf '%s\n' ext/*.c | xargs -n 1 -P 2 "$0" "$tool"
