// The reader in JavaScript and the extension, on random keys, filters and damage. Prints TAP.
//
//   agree.mjs [KEYS]      how many random keys, 20000 if not given
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { info } from '../../ext/packages/js/info.js';
import { BadFilter, BloomFilter, compositeKey } from '../../ext/packages/js/reader.js';
import { seal, tinyFilter, withKey } from '../../ext/packages/js/tiny.js';
import { Checks } from './checks.mjs';
import { prepared, sql } from './extension.mjs';
import { randomKey, randomFrom } from './random.mjs';

const KEYS = Number(process.argv[2] ?? 20000), SEED = 8;

await Checks(`the hashes of ${KEYS} random keys, and of pairs of them`, (checks) => {
  const random = randomFrom(SEED), types = new Set();
  const blob = sql('bloom_new(1, 0.5)'), filter = new BloomFilter(blob);
  const explain = prepared('bloom_explain(?, ?)'), key = prepared('hex(bloom_key(?, ?))');
  let last = 1;
  for (let i = 0; i < KEYS; i++) {
    const value = randomKey(random), told = JSON.parse(explain(blob, value));
    const mine = filter.explain(value);
    checks.equal(value, [mine.type, mine.hash], [told.key_type, told.hash]);
    types.add(`${typeof value} as ${mine.type}`);
    if (i % 16 === 0) {
      const composite = Buffer.from(compositeKey(last, value)).toString('hex').toUpperCase();
      checks.equal([last, value], composite, key(last, value));
    }
    last = value;
  }
  checks.equal('every kind of key came', [...types].sort(), ['bigint as integer', 'number as integer',
    'number as real', 'object as blob', 'string as integer', 'string as real', 'string as text']);
});

// Filters of `keys` texts, each with more or less of them than n.
const FILTERS = [
  ['flat', '1000, 0.01', 1000], ['lines', '100000, 0.01', 100000], ['lines, L 4', '20000, 1e-4', 20000],
  ['grown', '2000, 0.02', 30000], ['counting', "20000, 0.02, 'counting'", 20000],
  ['counting, flat', "500, 0.05, 'counting'", 500],
];
for (const [name, made, keys] of FILTERS) {
  await Checks(`${name}: no key is lost, and others at the rate`, (checks) => {
    const blob = sql(`(SELECT bloom_build('kéy ' || value, ${made}) FROM (WITH RECURSIVE
      c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < ${keys}) SELECT * FROM c))`);
    const filter = new BloomFilter(blob), mine = info(filter);
    let lost = 0, found = 0;
    for (let i = 1; i <= keys; i++) lost += !filter.contains(`kéy ${i}`);
    const absent = 200000;
    for (let i = 0; i < absent; i++) found += filter.contains(`other ${i}`);
    checks.equal('lost', lost, 0);
    // 5 sigma around what the filter's own cells promise, which is near p.
    const mean = absent * mine.fpr, sigma = Math.sqrt(mean * (1 - mine.fpr));
    checks.true(`${found} found, ${mean} expected`, Math.abs(found - mean) <= 5 * sigma);
    checks.true(`fpr ${mine.fpr}, p ${mine.p}`, mine.fpr < 1.15 * mine.p);
    const told = JSON.parse(sql('bloom_info(?)', blob));
    checks.equal('set cells', mine.set, told.bits_set);
    checks.equal('count', mine.count, sql('bloom_count(?)', blob));
    checks.equal('fpr', mine.fpr.toPrecision(9), sql('bloom_fpr(?)', blob).toPrecision(9));
    checks.equal('types', mine.types, told.key_types);
    const explain = prepared('bloom_explain(?, ?)');
    for (let i = 0; i < 200; i++) {
      const { layers } = JSON.parse(explain(blob, `key ${i}`));
      const seen = filter.explain(`key ${i}`).layers;
      checks.equal(i, seen.map((layer) => [layer.positions, layer.bits]),
        layers.map((layer) => [layer.positions, layer.bits ?? layer.counters]));
    }
  });
}

await Checks('damage: the verdict of both', (checks) => {
  const random = randomFrom(SEED), verdicts = new Set();
  const blobs = ['bloom_build(NULL)', 'bloom_build(1, 5, 0.1)', "bloom_build(1, 9, 0.1, 'counting')",
    'bloom_add(bloom_add(bloom_add(bloom_new(1, 0.5), 1), 2), 3)'].map((expression) => sql(expression));
  const read = prepared('bloom_info(?)');
  for (let i = 0; i < 4000; i++) {
    let blob = Uint8Array.from(blobs[random(blobs.length)]);
    const head = Math.min(40 + 32 * blob[9], blob.length);
    const changes = random(3);
    for (let j = 0; j < changes; j++) blob[random(head)] = [0, 1, 2, 127, 255, random(256)][random(6)];
    if (random(8) === 0) blob = blob.slice(0, random(blob.length));
    if (random(8) === 0) blob[blob.length - 1] ^= 1 << random(8);
    if (random(8) > 0) blob = seal(blob);
    let theirs = 'read', mine = 'read';
    try { read(blob); } catch (error) { theirs = error.message; }
    try { new BloomFilter(blob); } catch (error) {
      if (!(error instanceof BadFilter)) throw error;
      mine = error.reason;
    }
    const said = Object.entries({ 'not a bloom filter': 'not a filter', unsupported: 'unsupported',
      damaged: 'damaged', read: 'read' }).find(([part]) => theirs.includes(part));
    checks.equal(`${theirs}, ${Buffer.from(blob).toString('hex')}`, mine, said?.[1]);
    verdicts.add(mine);
  }
  checks.equal('every verdict came', verdicts.size, 4);
});

await Checks('tiny filters made here: the bytes that SQL makes', (checks) => {
  const random = randomFrom(SEED);
  for (let i = 0; i < 300; i++) {
    const n = 1 + random(40), p = [0.5, 0.3, 0.1, 0.01, 0.9, 1e-6, 1e-9][random(7)];
    const keys = Array.from({ length: 1 + random(n) }, () => randomKey(random));
    const empty = tinyFilter(n, p), filter = keys.reduce(withKey, empty);
    const theirs = sql(`(SELECT bloom_build(column1, ${n}, ${p}) FROM (VALUES ${
      keys.map(() => '(?)').join(', ')}))`, ...keys);
    checks.equal([n, p], Buffer.from(empty.blob).toString('hex'),
      sql('bloom_new(?, ?)', BigInt(n), p).toString('hex'));
    checks.equal([n, p, keys], Buffer.from(filter.blob).toString('hex'), theirs.toString('hex'));
  }
});

await Checks("README.md's program, with the modules copied", (checks) => {
  const program = readFileSync('README.md', 'utf8').split('```js\n').map((part) => part.split('```')[0])
    .find((part) => part.includes('./reader.js'));
  const work = mkdtempSync(join(tmpdir(), 'bloom-'));
  for (const name of ['reader.js', 'xxh3.js']) copyFileSync(`ext/packages/js/${name}`, join(work, name));
  writeFileSync(join(work, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(work, 'users.bloom'), sql("bloom_build('alice')"));
  writeFileSync(join(work, 'program.js'), program);
  const printed = execFileSync(process.execPath, ['program.js'], { cwd: work, encoding: 'utf8' });
  rmSync(work, { recursive: true });
  checks.equal('printed', printed.trim().split(/\s+/).join(' '), program.match(/^\/\/ prints: (.*)$/m)[1]);
});
