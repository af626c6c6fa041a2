#!/bin/sh
# Makes Node's packages:
#
#   npm.sh VERSION DIRECTORY                      the one that is installed, around ext/packages/node
#   npm.sh VERSION DIRECTORY PLATFORM LIBRARY     the one that brings it the library of a platform
set -eu
cd "$(dirname "$0")/../.."
version=$1 to=$(cd "$2" && pwd) platform=${3-} library=${4-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp LICENSE "$work"

if [ -z "$platform" ]; then
  cp ext/packages/node/* "$work"
else
  cp "$library" "$work/bloom.so"
  chmod 644 "$work/bloom.so"
fi

VERSION=$version PLATFORM=$platform node - "$work" <<'JS'
const { writeFileSync } = require('node:fs');
const { VERSION: version, PLATFORM: platform } = process.env;
const common = { version, license: 'MIT', keywords: ['sqlite', 'bloom filter'] };
const [os, cpu, libc = 'glibc'] = platform.split('-');
const content = platform ? {
  name: `sqlite-bloom-${platform}`,
  description: `The library of sqlite-bloom for ${platform}`,
  os: [os], cpu: [cpu], libc: [libc],
  files: ['bloom.so'],
} : {
  name: 'sqlite-bloom',
  description: 'Bloom filters for SQLite, as a loadable extension',
  main: 'index.js', types: 'index.d.ts',
  files: ['index.js', 'index.d.ts'],
  engines: { node: '>=18' },
  optionalDependencies: Object.fromEntries(
    ['linux-x64', 'linux-arm64', 'linux-x64-musl'].map((name) => [`sqlite-bloom-${name}`, version])),
};
writeFileSync(`${process.argv[2]}/package.json`,
  JSON.stringify({ ...content, ...common }, null, 2) + '\n');
JS
rm -f "$to/sqlite-bloom${platform:+-$platform}"-[0-9]*.tgz # of another version
(cd "$work" && npm pack --silent --pack-destination "$to" >/dev/null)
