// The reader in JavaScript and the extension, on random keys, filters and damage. Prints TAP.
//
//   agree.mjs [KEYS]      how many random keys, 20000 if not given
import { BadFilter, BloomFilter, compositeKey } from '../../ext/packages/js/reader.js';
import { Checks } from './checks.mjs';
import { prepared, sql } from './extension.mjs';
import { randomKey, randomFrom } from './random.mjs';
import { seal } from './seal.mjs';

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
  ['flat', '1000, 0.01', 1000], ['lines', '100000, 0.01', 100000], ['lines, L 5', '20000, 1e-6', 20000],
  ['grown', '2000, 0.02', 30000], ['counting', "20000, 0.02, 'counting'", 20000],
  ['counting, flat', "500, 0.05, 'counting'", 500],
];
for (const [name, made, keys] of FILTERS) {
  await Checks(`${name}: no key is lost, and others at the rate`, (checks) => {
    const blob = sql(`(SELECT bloom_build('kéy ' || value, ${made}) FROM (WITH RECURSIVE
      c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < ${keys}) SELECT * FROM c))`);
    const filter = new BloomFilter(blob), info = filter.info();
    let lost = 0, found = 0;
    for (let i = 1; i <= keys; i++) lost += !filter.contains(`kéy ${i}`);
    const absent = 200000;
    for (let i = 0; i < absent; i++) found += filter.contains(`other ${i}`);
    checks.equal('lost', lost, 0);
    // 5 sigma around what the filter's own cells promise, which is near p.
    const mean = absent * info.fpr, sigma = Math.sqrt(mean * (1 - info.fpr));
    checks.true(`${found} found, ${mean} expected`, Math.abs(found - mean) <= 5 * sigma);
    checks.true(`fpr ${info.fpr}, p ${info.p}`, info.fpr < 1.15 * info.p);
    const told = JSON.parse(sql('bloom_info(?)', blob));
    checks.equal('set cells', info.set, told.bits_set);
    checks.equal('count', info.count, sql('bloom_count(?)', blob));
    checks.equal('fpr', info.fpr.toPrecision(9), sql('bloom_fpr(?)', blob).toPrecision(9));
    checks.equal('types', info.types, told.key_types);
    const explain = prepared('bloom_explain(?, ?)');
    for (let i = 0; i < 200; i++) {
      const { layers } = JSON.parse(explain(blob, `key ${i}`));
      const mine = filter.explain(`key ${i}`).layers;
      checks.equal(i, mine.map((layer) => [layer.positions, layer.bits]),
        layers.map((layer) => [layer.positions, layer.bits ?? layer.counters]));
    }
  });
}

await Checks('damage: the verdict of both', (checks) => {
  const random = randomFrom(SEED), verdicts = new Set();
  const blobs = ['bloom_build(NULL)', 'bloom_build(1, 5, 0.1)', "bloom_build(1, 9, 0.1, 'counting')",
    'bloom_add(bloom_add(bloom_add(bloom_new(1, 0.5), 1), 2), 3)'].map((expression) => sql(expression));
  const info = prepared('bloom_info(?)');
  for (let i = 0; i < 4000; i++) {
    let blob = Uint8Array.from(blobs[random(blobs.length)]);
    const head = Math.min(40 + 32 * blob[9], blob.length);
    const changes = random(3);
    for (let j = 0; j < changes; j++) blob[random(head)] = [0, 1, 2, 127, 255, random(256)][random(6)];
    if (random(8) === 0) blob = blob.slice(0, random(blob.length));
    if (random(8) === 0) blob[blob.length - 1] ^= 1 << random(8);
    if (random(8) > 0) blob = seal(blob);
    let theirs = 'read', mine = 'read';
    try { info(blob); } catch (error) { theirs = error.message; }
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
