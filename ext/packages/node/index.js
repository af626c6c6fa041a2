'use strict';

// Each platform's library is a package of its own.
const packages = Object.keys(require('./package.json').optionalDependencies);

// musl's C library does not say its version in the process's report; glibc does.
function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

function getLoadablePath() {
  const platform = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
  const name = `sqlite-bloom-${platform}`;
  if (!packages.includes(name)) {
    throw new Error(`sqlite-bloom has no library for ${platform}, only ${packages.join(', ')}: ` +
      'build the extension from its source');
  }
  try {
    return require.resolve(`${name}/bloom.so`);
  } catch (error) {
    throw new Error(`sqlite-bloom needs the package ${name}, which is not installed: ` +
      'install it too, and do not omit optional dependencies', { cause: error });
  }
}

function load(db) {
  if (typeof db?.loadExtension !== 'function') {
    throw new TypeError('sqlite-bloom: the database has no loadExtension(): it must be one of ' +
      'better-sqlite3, or a DatabaseSync of node:sqlite');
  }
  // SQLite adds the suffix. Given with it, its message about a library that it cannot load would
  // name one with two.
  db.loadExtension(getLoadablePath().replace(/\.so$/, ''));
}

exports.getLoadablePath = getLoadablePath;
exports.load = load;
