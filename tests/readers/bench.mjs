// Probes a second, of wall time and of the processor's, of the reader in JavaScript on a filter that SQL
// built; only the answers are asserted. Prints TAP.
//
//   bench.mjs [KEYS]      keys in the filter, 10,000,000 (12 MB) if not given
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BloomFilter } from '../../ext/packages/js/reader.js';
import { Checks } from './checks.mjs';

const KEYS = Number(process.argv[2] ?? 1e7), PROBES = Math.min(1e6, KEYS);
const work = mkdtempSync(join(tmpdir(), 'bloom-'));
const file = join(work, 'filter');
execFileSync('sqlite3', [':memory:', '-cmd', `.load ${resolve(process.env.B ?? 'build', 'bloom')}`,
  `SELECT writefile('${file}', bloom_build(iif(value % 2, value, 'user' || value || '@example.org'),
  ${KEYS}, 0.01)) FROM generate_series(1, ${KEYS})`]);
const blob = new Uint8Array(readFileSync(file));
rmSync(work, { recursive: true });

const started = performance.now();
const filter = new BloomFilter(blob);
console.log(`# ${blob.length} bytes, checked in ${(performance.now() - started).toFixed(1)} ms`);

const spread = (i) => i * 7919 % (KEYS / 2) * 2; // all over the filter, as the probes of a join
const KINDS = { // a probed key, and how often one is in the filter
  'text, all present': [(i) => `user${spread(i) + 2}@example.org`, 1],
  'text, all absent': [(i) => `user${spread(i) + 1}@example.org`, 0],
  'numbers, all present': [(i) => spread(i) + 1, 1],
  'numbers, all absent': [(i) => spread(i) + 2, 0],
  'numbers spelt as text, present': [(i) => String(spread(i) + 1), 1],
  'fractions, all absent': [(i) => spread(i) + 0.25, 0],
};
for (const [name, [keyOf, share]] of Object.entries(KINDS)) {
  await Checks(name, (checks) => {
    const keys = Array.from({ length: PROBES }, (_, i) => keyOf(i));
    let wall = Infinity, busy = Infinity, found;
    for (let round = 0; round < 3; round++) {
      const start = performance.now(), cpu = process.cpuUsage();
      found = 0;
      for (const key of keys) found += filter.contains(key);
      wall = Math.min(wall, performance.now() - start);
      busy = Math.min(busy, process.cpuUsage(cpu).user / 1000);
    }
    const rate = (ms) => (PROBES / 1000 / ms).toFixed(2);
    console.log(`# ${name}: ${rate(wall)} million probes a second, ${rate(busy)} of processor time`);
    if (share === 1) checks.equal('found', found, PROBES);
    // The rate of the probes is the filter's; they repeat if it is small, so the margin is 10 %.
    else checks.true(`${found} of ${PROBES}`, Math.abs(found / PROBES - 0.01) < 0.001);
  });
}
