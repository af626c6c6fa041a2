# shellcheck shell=sh
# What the scripts of this folder share, sourced from the project's root: a folder to work in, which
# is gone at the end, and TAP. $0's name stands in front of each test's.
suite=$(basename "$0" .sh)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define BLOOM_VERSION "\([^"]*\)".*/\1/p' ext/bloom.h)
native=linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')

say() { # say NAME WANT GOT
  if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $suite: $1"; return; fi
  printf '%s\n' "$2" | sed 's/^/# want: /'
  printf '%s\n' "$3" | sed 's/^/# got: /'
  echo "not ok $suite: $1"
}

contains() { # contains NAME PART GOT
  case "$3" in
    *"$2"*) echo "ok $suite: $1" ;;
    *) say "$1" "... $2 ..." "$3" ;;
  esac
}
