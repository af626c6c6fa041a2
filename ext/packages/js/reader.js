// Asks bloom's filters in a browser, an edge worker or Node, after ext/FORMAT.md.
//
//   const filter = new BloomFilter(bytes);                throws BadFilter, which says what is wrong
//   filter.contains('apple')                              false: certainly absent; true: perhaps there
//   filter.explain('apple')                               which cells it looks at, and their values
//
// A key is what it is in SQLite: a string is TEXT, a number REAL, a bigint INTEGER (and 5, 5n and '5'
// are one key), a Uint8Array BLOB, null or undefined NULL, about which the answer is null.

import { hi, high, lo, xxh3 } from './xxh3.js';

export class BadFilter extends Error { // reason: 'not a filter', 'unsupported' or 'damaged'
  constructor(reason, detail) {
    super(detail ? `${reason}: ${detail}` : reason);
    this.reason = reason;
  }
}
// ---- Keys: the canonical form is written to `form`, or is the blob; then it is hashed ----

const TWO32 = 2 ** 32, TYPES = ['integer', 'real', 'text', 'blob'], SEEDS = [1, 2, 0, 3];
const NUMBER = /^[\t-\r ]*([+-]?)(?:(\d+)(?:(\.)(\d*))?|(\.)(\d+))(?:([eE])([+-]?)(\d+))?[\t-\r ]*$/;
const encoder = new TextEncoder();
let bytes = new Uint8Array(1024), form = new DataView(bytes.buffer), type = 0, source = form;

function integer(value) { // a whole number of 64 bits
  form.setInt32(0, value, true);
  form.setInt32(4, Math.floor(value / TWO32), true);
  type = 0;
  return 8;
}

const twelve = (d, q) => { integer(d); form.setInt32(8, q, true); type = 1; return 12; };

function decimal(sign, d, q) { // sign * d * 10^q of at most 15 digits; 0: too large
  while (d % 10 === 0) { d /= 10; q++; }
  const digits = String(d).length, e = q + digits - 1;
  if (e < -307) return integer(0);
  if (e > 308 || (e === 308 && d * 10 ** (15 - digits) > 179769313486231)) return 0;
  return twelve(sign * d, q);
}

function real(value) {
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) return integer(value);
  const size = Math.abs(value), sign = value < 0 ? -1 : 1;
  if (size < Infinity) {
    let [digits, e] = size.toExponential().split('e'), tie = false; // the fewest that give it back
    if (digits.length > 16) { // more than 15, and a point
      [digits, e] = size.toExponential(14).split('e');
      // JavaScript rounds ties up, FORMAT.md to even. A tie has a 16th digit, 5, and no more.
      const odd = '13579'.includes(digits[15]), ties = (n) => /^.{16}50*e/.test(size.toExponential(n));
      tie = odd && ties(16) && ties(100);
    }
    const d = Number(digits.replace('.', '')) - tie;
    const written = decimal(sign, d, e - Math.max(digits.length - 2, 0));
    if (written) return written;
  }
  return twelve(sign, 2 ** 31 - 1);
}

// The number that a text spells; 0 if it is text. The steps are those of FORMAT.md.
function spelt(text) {
  const zero = text.indexOf('\0'), match = NUMBER.exec(zero < 0 ? text : text.slice(0, zero));
  if (!match) return 0;
  const [, minus, whole = '', point, right = '', point2, right2 = '', e, eMinus, eDigits] = match;
  const sign = minus === '-' ? -1 : 1, alone = !(point || point2 || e);
  const mantissa = (whole + right + right2).replace(/^0+/, '');
  let c = mantissa.length;
  while (mantissa[c - 1] === '0') c--;
  if (c > 19 || c === 0) return c ? 0 : integer(0);
  const exponent = e ? Number(eDigits.replace(/^0+/, '').slice(0, 6)) : 0;
  const digits = mantissa.slice(0, c);
  const q = (eMinus === '-' ? -exponent : exponent) - right.length - right2.length + mantissa.length - c;
  const nearest = () => Number(`${digits}e${q}`);
  if (q >= 0 && q + c <= 15) return integer(sign * nearest());
  if (q >= 0 && q + c <= 19) {
    const exact = BigInt(sign) * BigInt(digits) * 10n ** BigInt(q);
    if (exact === BigInt.asIntN(64, exact)) return alone ? bigInteger(exact) : real(sign * nearest());
  }
  if (c <= 15) return decimal(sign, Number(digits), q);
  return alone || nearest() === Infinity ? 0 : real(sign * nearest());
}

function bigInteger(value) {
  if (value !== BigInt.asIntN(64, value)) throw new RangeError(`${value} is no integer of 64 bits`);
  form.setBigInt64(0, value, true);
  type = 0;
  return 8;
}

function utf8(text) {
  if (text.length * 3 > bytes.length) {
    source = form = new DataView((bytes = new Uint8Array(text.length * 3)).buffer);
  }
  type = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return encoder.encodeInto(text, bytes).written;
    bytes[i] = code;
  }
  return text.length;
}

// The size of a key's canonical form, which is then in `source`, and its type in `type`.
function canonical(key) {
  source = form;
  if (typeof key === 'string') return (key.charCodeAt(0) < 58 && spelt(key)) || utf8(key);
  if (typeof key === 'number') return real(key);
  if (typeof key === 'bigint') return bigInteger(key);
  if (!(key instanceof Uint8Array)) throw new TypeError(`a key cannot be of type ${typeof key}`);
  type = 3;
  source = new DataView(key.buffer, key.byteOffset, key.length);
  return key.length;
}

const isNull = (key) => key === null || key === undefined || Number.isNaN(key);

/** bloom_key(): one key of several values; null if one of them is. */
export function compositeKey(...parts) {
  if (parts.some(isNull)) return null;
  const out = [];
  for (const part of parts) {
    const size = canonical(part), length = new DataView(new ArrayBuffer(8));
    length.setBigUint64(0, BigInt(size), true);
    out.push(1 << type, ...type > 1 ? new Uint8Array(length.buffer) : []);
    for (let i = 0; i < size; i++) out.push(source.getUint8(i));
  }
  return Uint8Array.from(out);
}

function hash(key) { // into hi and lo
  const size = canonical(key);
  xxh3(source, size, SEEDS[type]);
}

// ---- Filters ----

const cells = new Float64Array(64), firsts = new Float64Array(16);

// mulhi() of (h, l) and m, for m up to 2^48.
function scaled(h, l, m) {
  if (m === 512) return h >>> 23;
  const mh = Math.floor(m / TWO32), middle = (l >>> 0) * mh + high(l, m) + (Math.imul(h, m) >>> 0);
  return high(h, m) + (h >>> 0) * mh + Math.floor(middle / TWO32);
}

// Writes a layer's cells of the key whose hash is (h, l) to `cells`.
function locate({ lines, lineBits, k, L }, h, l) {
  l |= 1;
  for (let j = 0; j < L + k; j++) { // (h, l) is a_j
    if (j < L) firsts[j] = scaled(h, l, lines) * lineBits;
    else cells[j - L] = scaled(h, l, lineBits);
    h = high(l, 0x2e62a9c5) + Math.imul(h, 0x2e62a9c5) + Math.imul(l, 0xf1357aea) | 0;
    l = Math.imul(l, 0x2e62a9c5);
  }
  const t = Math.floor(k / L), q = k % L; // the first q lines take t + 1 draws
  for (let i = 0, line = 0, end = t + (q > 0); i < k; i++) {
    if (i === end) end += t + (++line < q);
    cells[i] += firsts[line];
  }
}

const MIN_P = Math.fround(1e-9), MAX_N = 2n ** 63n - 1n;

export class BloomFilter {
  /** A filter's bytes are checked and kept, not copied. verify: false leaves the cells unchecked. */
  constructor(blob, { verify = true } = {}) {
    if (blob instanceof ArrayBuffer) blob = new Uint8Array(blob);
    if (!(blob instanceof Uint8Array)) throw new TypeError('a filter is a Uint8Array');
    const size = blob.length, at = (start) => new DataView(blob.buffer, blob.byteOffset + start);
    const view = at(0), byte = (i) => view.getUint8(i), u64 = (i) => view.getBigUint64(i, true);
    const damaged = (wrong, detail) => { if (wrong) throw new BadFilter('damaged', detail); };
    const unsupported = (i, what) => {
      if (byte(i) !== 1) throw new BadFilter('unsupported', `${what} ${byte(i)}, and this reads 1`);
    };
    const matches = (data, length, i) => {
      xxh3(data, length, 0);
      return view.getInt32(i, true) === lo && view.getInt32(i + 4, true) === hi;
    };
    if (size < 4 || view.getUint32(0) !== 0xc14246f5) throw new BadFilter('not a filter');
    damaged(size < 40, `only ${size} bytes of a header`);
    unsupported(4, 'version');
    unsupported(6, 'hash scheme');
    const t = byte(9), head = 40 + 32 * t;
    damaged(t > 64 || size < head, `${t} layers in ${size} bytes`);
    damaged(!matches(view, head - 8, head - 8), "the header's checksum does not match");
    if (byte(5) < 1 || byte(5) > 2) throw new BadFilter('unsupported', `kind ${byte(5)}`);
    damaged(byte(7) > 15 || byte(8) > 15 || view.getUint16(10), 'reserved bits are set');
    const n = u64(16), p = view.getFloat32(12, true), counting = byte(5) === 2;
    damaged(t === 0 ? n || !Object.is(p, 0) || counting : n < 1 || n > MAX_N || !(p >= MIN_P && p < 1),
      'n or p is out of range');
    const types = TYPES.filter((_, i) => byte(8) >> i & 1), cellBits = counting ? 4 : 1;
    Object.assign(this, { blob, n, p, kind: counting ? 'counting' : 'plain', types, layers: [] });
    let start = head;
    for (let i = 0, e = 32; i < t; i++, e += 32) {
      const capacity = u64(e), lines = Number(u64(e + 8)), lineBits = Number(u64(e + 16));
      const rate = view.getFloat32(e + 24, true), k = byte(e + 28), L = byte(e + 29), flat = lines === 1;
      damaged(capacity < 1 || capacity > MAX_N || lines < 1 || lines > 2 ** 39 ||
        (flat ? lineBits < 2 || lineBits > 2 ** 48 : lineBits !== 512) || k < 1 || k > 64 ||
        !(rate >= 2 ** -64 && rate < 1) || L !== (flat ? 1 : Math.ceil(k / 4)) ||
        view.getUint16(e + 30), `layer ${i} is out of range`);
      this.layers.push({ capacity, rate, lines, lineBits, k, L, cellBits, start });
      start += Math.ceil(lines * lineBits * cellBits / 8);
    }
    damaged(start !== size, `${size} bytes where its header says ${start}`);
    damaged(counting && t > 1, `a counting filter of ${t} layers`);
    const [first] = this.layers;
    damaged(t && (first.capacity !== n || first.rate !== p), 'its first layer is not one of n and p');
    if (!verify) return;
    damaged(!matches(at(head), size - head, 24), "the cells' checksum does not match");
    for (const { lines, lineBits, start } of this.layers) {
      const end = lines * lineBits * cellBits, last = blob[start + Math.ceil(end / 8) - 1];
      damaged(end % 8 && last >> end % 8, 'bits behind the last cell are set');
    }
  }

  /** The value of a cell: a bit, or a counter up to 15. */
  cell({ start, cellBits }, cell) {
    return cellBits === 1 ? this.blob[start + Math.floor(cell / 8)] >> cell % 8 & 1
      : this.blob[start + Math.floor(cell / 2)] >> 4 * (cell % 2) & 15;
  }

  /** false: certainly absent; true: perhaps there; null for a NULL key. */
  contains(key) {
    if (isNull(key)) return null;
    hash(key);
    const h = hi, l = lo;
    for (const layer of this.layers) {
      locate(layer, h, l);
      let i = 0;
      while (i < layer.k && this.cell(layer, cells[i])) i++;
      if (i === layer.k) return true;
    }
    return false;
  }

  /** What contains() looks at, as bloom_explain() tells it: the key's type, its hash, its cells. */
  explain(key) {
    if (isNull(key)) return null;
    hash(key);
    const h = hi, l = lo, hex = (x) => (x >>> 0).toString(16).padStart(8, '0');
    const layers = this.layers.map((layer) => {
      locate(layer, h, l);
      const positions = [...cells.subarray(0, layer.k)];
      const bits = positions.map((cell) => this.cell(layer, cell));
      return { positions, bits, contains: bits.every(Boolean) };
    });
    return { type: TYPES[type], hash: hex(h) + hex(l), contains: layers.some((x) => x.contains), layers };
  }
}
