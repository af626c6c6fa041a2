#!/bin/sh
# `make dist`, taken apart: which files, their checksums, the source tarball built in an empty place,
# and the library of each platform loaded there. Needs the compilers and emulators of a release, and
# SQLite's source in NEWEST. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}
NEWEST=$(cd "${NEWEST?}" && pwd)
unset MAKEFLAGS MAKELEVEL MFLAGS # of a make that runs this
. tests/packages/lib.sh

say "the version stands in bloom.h alone" "ext/bloom.h" "$(git grep -lF "$version" -- . \
  ':!CHANGELOG.md' ':!tests/golden' ':!tests/format' ':!tests/fuzz' | xargs)"
say "a version that CHANGELOG.md does not know" "dist: CHANGELOG.md has no chapter 99.0.0" \
  "$(make -s "B=$B" dist VERSION=99.0.0 2>&1 | head -n 1)"

make -s "B=$B" dist >"$work/log" 2>&1 || cat "$work/log"
tree=$PWD
cp -r "$B/dist" "$work/dist"
cd "$work/dist" || exit 2
say "the files" "CHANGELOG.md
SHA256SUMS
sqlite-bloom-V-amalgamation.tar.gz
sqlite-bloom-V-linux-arm64.tar.gz
sqlite-bloom-V-linux-x64-musl.tar.gz
sqlite-bloom-V-linux-x64.tar.gz
sqlite-bloom-V.tar.gz
sqlite-bloom-V.tgz
sqlite-bloom-linux-arm64-V.tgz
sqlite-bloom-linux-x64-V.tgz
sqlite-bloom-linux-x64-musl-V.tgz
sqlite_bloom-V-py3-none-manylinux_2_N_aarch64.whl
sqlite_bloom-V-py3-none-manylinux_2_N_x86_64.whl
sqlite_bloom-V-py3-none-musllinux_1_2_x86_64.whl" \
  "$(LC_ALL=C ls | sed "s/$version/V/; s/manylinux_2_[0-9]*/manylinux_2_N/")"
say "checksums of all of them" "13 0" "$(sha256sum -c SHA256SUMS 2>&1 | grep -c ': OK$') $(
  printf x >>CHANGELOG.md; sha256sum -c SHA256SUMS 2>&1 | grep -c 'CHANGELOG.md: OK$')"

# ---- the source ----

mkdir "$work/source"
tar xzf "sqlite-bloom-$version.tar.gz" -C "$work/source"
say "the source is one folder" "sqlite-bloom-$version" "$(ls "$work/source")"
built=$(make -s -j2 -C "$work/source/sqlite-bloom-$version" all 2>&1)
say "it builds without git, and loads" "$version" \
  "$built$(sqlite3 :memory: ".load $work/source/sqlite-bloom-$version/build/bloom" \
  'SELECT bloom_version()' 2>&1)"
say "make dist there says what it lacks" "dist: the source tarball is made from a git checkout" \
  "$(make -s -C "$work/source/sqlite-bloom-$version" dist 2>&1 | head -n 1)"

# ---- the libraries ----

expected=
platform() { # platform NAME MACHINE WHEEL COMPILER RUN ...: loads the library there
  name=$1 machine=$2 wheel=$3 compiler=$4
  shift 4
  tar xzf "sqlite-bloom-$version-$name.tar.gz"
  library=$work/dist/sqlite-bloom-$version-$name/bloom.so
  say "$name: made for it" "$machine" "$(readelf -h "$library" | sed -n 's/^ *Machine: *//p')"
  say "$name: exports one name, beside those of musl's start files" sqlite3_bloom_init \
    "$(readelf --dyn-syms -W "$library" | awk '$5 == "GLOBAL" && $7 != "UND" { print $8 }' |
      grep -vx '_init\|_fini' | xargs)"
  $compiler -O0 -I"$NEWEST" -o "$work/load-$name" "$tree/tests/packages/load.c" "$NEWEST/sqlite3.c" \
    -lm -lpthread -ldl >"$work/log" 2>&1 || cat "$work/log"
  got=$("$@" "$work/load-$name" "$library" 2>&1)
  expected=${expected:-$got}
  say "$name: the bytes and answers of the first" "$expected" "$got"
  say "$name: all keys are found, others not" "30000 1 0 $version" \
    "$(printf '%s' "$got" | tail -n 2 | xargs)"
  sum=$(sha256sum <"$library")
  say "$name: the same library in Node's package" "$sum" \
    "$(tar xzOf "sqlite-bloom-$name-$version.tgz" package/bloom.so | sha256sum)"
  mkdir "$work/wheel-$name"
  # shellcheck disable=SC2086
  /usr/bin/python3 -m zipfile -e sqlite_bloom-"$version"-py3-none-$wheel.whl "$work/wheel-$name"
  say "$name: and in the wheel" "$sum" "$(sha256sum <"$work/wheel-$name/sqlite_bloom/bloom.so")"
}

platform linux-x64 "Advanced Micro Devices X86-64" "manylinux_2_*_x86_64" cc env
platform linux-arm64 AArch64 "manylinux_2_*_aarch64" aarch64-linux-gnu-gcc-12 \
  qemu-aarch64 -L /usr/aarch64-linux-gnu
platform linux-x64-musl "Advanced Micro Devices X86-64" "musllinux_1_2_x86_64" musl-gcc env
