#!/bin/sh
# Joins the rooms of ext/ and xxHash into DIRECTORY/bloom.c, and puts bloom.h beside it:
#
#   ext/packages/amalgamate.sh DIRECTORY "KERNEL ROOMS" "SQL ROOMS"
#
# Each header goes in once, where it is first included. The SQL rooms are left out by
# -DBLOOM_NO_SQLITE. xxhash.h is the one that CC finds; what the strict flags of this project would
# say of it is turned off around it.
set -eu
cd "$(dirname "$0")/../.."
to=$1 kernel=$2 sql=$3
xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} -E -x c - |
  sed -n 's/^# [0-9]* "\(.*\/xxhash\.h\)".*/\1/p' | head -n 1)
[ -n "$xxhash" ] || { echo "amalgamate: xxhash.h is not found" >&2; exit 1; }
version=$(sed -n 's/^#define BLOOM_VERSION "\([^"]*\)".*/\1/p' ext/bloom.h)
mkdir -p "$to"
cp ext/bloom.h "$to/bloom.h"

join() {
  awk -v xxhash="$xxhash" '
    function put(file,   line) {
      while ((getline line <file) > 0) {
        if (line ~ /^#include "/) {
          split(line, part, "\"")
          include(part[2])
        } else if (line == "#include <xxhash.h>") {
          put_foreign(xxhash)
        } else {
          print line
        }
      }
      close(file)
    }
    function include(name) {
      if (name == "bloom.h" || seen[name]++) return
      put("ext/" name)
    }
    function put_foreign(file,   line, i, flag) {
      print "#if defined(__GNUC__)\n#pragma GCC diagnostic push"
      for (i = 1; i <= split("pedantic shadow conversion sign-conversion cast-qual cast-align " \
                             "unused-function undef", flag, " "); i++) {
        print "#pragma GCC diagnostic ignored \"-W" flag[i] "\""
      }
      print "#endif"
      while ((getline line <file) > 0) print line
      close(file)
      print "#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif"
    }
    BEGIN {
      for (i = 1; i < ARGC; i++) {
        if (ARGV[i] == "SQL") { print "#ifndef BLOOM_NO_SQLITE"; continue }
        print "\n/* ==== ext/" ARGV[i] ".c ==== */\n"
        put("ext/" ARGV[i] ".c")
      }
      print "\n#endif /* BLOOM_NO_SQLITE */"
    }' "$@"
}

{
  echo "/* bloom.c: bloom $version in one file, made by \`make amalgamation\`. bloom.h says how to use it."
  echo "**"
  sed 's/^/** /; s/ *$//' LICENSE
  echo "**"
  echo "** It contains xxHash's header, whose own licence stands in front of it."
  echo "*/"
  echo '#include "bloom.h"'
  # shellcheck disable=SC2086
  join $kernel SQL $sql
} >"$to/bloom.c"
