#!/bin/sh
# Makes the Python wheel of a platform: wheel.sh PLATFORM LIBRARY VERSION DIRECTORY
#
# The tag says which systems may install it: for glibc the newest version of which the library needs
# a symbol, and no older one than pip knows.
set -eu
cd "$(dirname "$0")/../.."
platform=$1 library=$2 version=$3 to=$(cd "$4" && pwd)
python=${PYTHON-/usr/bin/python3}

case $platform in
  *-x64*) machine=x86_64 ;;
  *-arm64*) machine=aarch64 ;;
  *) echo "wheel: unknown platform $platform" >&2; exit 2 ;;
esac
case $platform in
  *-musl) tag=musllinux_1_2_$machine ;;
  *)
    glibc=$(readelf -V "$library" | grep -o 'GLIBC_2\.[0-9]*' | cut -c 9- |
      sort -n | { cat; echo 17; } | sort -n | tail -n 1)
    tag=manylinux_2_${glibc}_$machine
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r ext/packages/python "$work/source"
cp "$library" "$work/source/sqlite_bloom/bloom.so"
cp LICENSE "$work/source"
echo "$version" >"$work/source/VERSION"
echo "$tag" >"$work/source/PLATFORM"
(cd "$work/source" && $python setup.py --quiet bdist_wheel --dist-dir "$work/made") >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; exit 1; }
[ ! -L "$to/$platform.whl" ] || rm -f "$to/$(readlink "$to/$platform.whl")" # of another version
made=$(basename "$work"/made/*.whl)
cp "$work/made/$made" "$to/$made"
ln -sf "$made" "$to/$platform.whl"
