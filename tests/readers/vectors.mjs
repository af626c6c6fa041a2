// The reader in JavaScript against the vectors of tests/format. Prints TAP.
import { readFileSync } from 'node:fs';
import { info } from '../../ext/packages/js/info.js';
import { BadFilter, BloomFilter, compositeKey } from '../../ext/packages/js/reader.js';
import { Checks, fromHex } from './checks.mjs';

const vectors = JSON.parse(readFileSync(new URL('../format/vectors.json', import.meta.url)));

function keyOf(json) {
  if (json === null) return null;
  const [[kind, value]] = Object.entries(json);
  if (kind === 'integer') return BigInt(value);
  if (kind === 'real') return Buffer.from(value, 'hex').readDoubleBE();
  if (kind === 'blob') return fromHex(value);
  return kind === 'composite' ? compositeKey(...value.map(keyOf)) : value;
}

const empty = new BloomFilter(fromHex(vectors.filters.find(({ name }) => name === 'no rows').blob));

await Checks('hashes', (checks) => {
  for (const { key, type, hash } of vectors.hashes) {
    const told = empty.explain(keyOf(key));
    checks.equal(JSON.stringify(key), [told.type, told.hash], [type, hash]);
  }
});

await Checks('integers as numbers, where a number holds them', (checks) => {
  for (const { key, hash } of vectors.hashes.filter(({ key }) => 'integer' in key)) {
    if (BigInt(Number(key.integer)) !== BigInt(key.integer)) continue;
    checks.equal(key.integer, empty.explain(Number(key.integer)).hash, hash);
  }
});

await Checks('filters: answers', (checks) => {
  for (const { name, blob, contains } of vectors.filters) {
    const filter = new BloomFilter(fromHex(blob));
    for (const [json, wanted] of contains) {
      const key = keyOf(json), answer = wanted === null ? null : wanted === 1;
      checks.equal(`${name}: ${JSON.stringify(json)}`, filter.contains(key), answer);
      checks.equal(`${name}: ${JSON.stringify(json)}`, filter.explain(key)?.contains ?? null, answer);
    }
  }
});

await Checks('filters: the cells of a key', (checks) => {
  for (const { name, blob, cells } of vectors.filters) {
    const { layers } = new BloomFilter(fromHex(blob)).explain('apple');
    checks.equal(name, layers.map(({ positions, bits }) => positions.map((cell, i) => [cell, bits[i]])),
      cells);
  }
});

await Checks('filters: count and rate', (checks) => {
  for (const { name, blob, count, fpr } of vectors.filters) {
    const told = info(new BloomFilter(fromHex(blob)));
    checks.equal(`${name}: count`, told.count, count);
    checks.equal(`${name}: fpr`, Number(told.fpr.toPrecision(9)), fpr);
  }
});

await Checks('rejected, for the right reason and in words', (checks) => {
  for (const { name, blob, reason } of vectors.rejected) {
    let error;
    try { new BloomFilter(fromHex(blob)); } catch (thrown) { error = thrown; }
    checks.equal(name, [error instanceof BadFilter, error?.reason], [true, reason]);
    checks.equal(name, /^(not a filter|(unsupported|damaged): \S.+)$/.test(error?.message), true);
  }
});
