// Makes filters small enough to be drawn, with the bytes that bloom_build gives: the flat layout, one
// layer, kind plain, no growth.
import { BloomFilter } from './reader.js';
import { hi, lo, xxh3 } from './xxh3.js';

/** A copy of a filter's bytes with right checksums. */
export function seal(blob) {
  const head = 32 + 32 * blob[9];
  if (!(blob.length >= head + 8)) return blob;
  const out = Uint8Array.from(blob), view = new DataView(out.buffer);
  const put = (at, from, size) => {
    xxh3(new DataView(out.buffer, from), size, 0);
    view.setInt32(at, lo, true);
    view.setInt32(at + 4, hi, true);
  };
  put(24, head + 8, out.length - head - 8);
  put(head, 0, head);
  return out;
}

/** k and the bits of a flat layer for n keys at the rate r: Sizing of FORMAT.md. */
export function flatSize(n, r) {
  const units = (k) => Math.ceil(-k / Math.log1p(-(r ** (1 / k))) * 65536);
  let k = Math.min(64, Math.max(1, Math.floor(-Math.log2(r))));
  if (r < 0.5 && k < 64 && units(k + 1) < units(k)) k++;
  return { k, bits: Math.ceil(n * units(k) / 65536) + Math.floor((22 * (k - 1) + 99) / 100) + 1 };
}

/** An empty filter for n keys, at most 1000, at the rate p. */
export function tinyFilter(n, p) {
  const r = Math.fround(p), { k, bits } = flatSize(n, r);
  const blob = new Uint8Array(72 + Math.ceil(bits / 8)), view = new DataView(blob.buffer);
  blob.set([0xc1, 0x42, 0x46, 0xf5, 1, 1, 1, 0, 0, 1]);
  view.setFloat32(12, r, true);
  view.setUint32(16, n, true);
  view.setUint32(32, n, true); // the layer: capacity, lines, line_bits, rate, k, L
  view.setUint32(40, 1, true);
  view.setUint32(48, bits, true);
  view.setFloat32(56, r, true);
  blob.set([k, 1], 60);
  return new BloomFilter(seal(blob));
}

/** The filter with a key more. */
export function withKey(filter, key) {
  const { type, layers: [{ positions }] } = filter.explain(key);
  const blob = Uint8Array.from(filter.blob);
  blob[8] |= 1 << ['integer', 'real', 'text', 'blob'].indexOf(type);
  for (const cell of positions) blob[72 + (cell >> 3)] |= 1 << (cell & 7);
  return new BloomFilter(seal(blob));
}
