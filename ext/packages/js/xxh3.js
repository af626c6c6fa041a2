// XXH3 with 64 bits in the 32-bit integers that JavaScript multiplies fast; no BigInt.

// ---- 64 bits in two halves: the results of these functions are in hi and lo ----

const TWO32 = 2 ** 32;
export let hi = 0, lo = 0;

/** The upper half of a product of two unsigned numbers of 32 bits, from products of 16. */
export function high(a, b) {
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const t = Math.imul(ah, bl) + (Math.imul(al, bl) >>> 16) | 0;
  const u = Math.imul(al, bh) + (t & 0xffff) | 0;
  return Math.imul(ah, bh) + (t >>> 16) + (u >>> 16) >>> 0;
}
const set = (h, l) => { hi = h | 0; lo = l | 0; };
const add = (h, l) => {
  const sum = (lo >>> 0) + (l >>> 0);
  set(hi + h + (sum >= TWO32), sum);
};
const multiply = (h, l) => set(Math.imul(hi, l) + Math.imul(lo, h) + high(lo, l), Math.imul(lo, l));
const xorShift = (n) => n < 32 ? set(hi ^ hi >>> n, lo ^ (lo >>> n | hi << 32 - n))
  : set(hi, lo ^ hi >>> n - 32);
const swap = (x) => x << 24 | (x & 0xff00) << 8 | x >>> 8 & 0xff00 | x >>> 24;

// Adds the two halves, XORed, of the 128-bit product of (ah, al) and (bh, bl).
function addFolded(ah, al, bh, bl) {
  const low = high(al, bl) + (Math.imul(ah, bl) >>> 0) + (Math.imul(al, bh) >>> 0);
  const top = high(ah, bl) + high(al, bh) + (Math.imul(ah, bh) >>> 0) + Math.floor(low / TWO32);
  add(low ^ high(ah, bh) + Math.floor(top / TWO32), Math.imul(al, bl) ^ top);
}

// ---- XXH3, 64 bits, of the first `size` bytes of a DataView; seeds below 256 ----

const SECRET = `b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825a
d07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46
a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa13
63eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e`;
const secret = new DataView(Uint8Array.from(SECRET.match(/\w\w/g), (x) => parseInt(x, 16)).buffer);
const word = (at) => secret.getInt32(at, true);

function avalanche() {
  xorShift(37); multiply(0x16566791, 0x9e3779f9); xorShift(32);
}
function avalancheXxh64() {
  xorShift(33); multiply(0xc2b2ae3d, 0x27d4eb4f);
  xorShift(29); multiply(0x165667b1, 0x9e3779f9); xorShift(32);
}

export function xxh3(data, size, seed) {
  const d = (at) => data.getInt32(at, true);
  if (size > 240) return xxh3Large(data, size, seed);
  if (size > 16) return xxh3Medium(data, size, seed);
  if (size > 8) {
    set(word(28) ^ word(36), word(24) ^ word(32)); add(0, seed);
    const ah = hi ^ d(4), al = lo ^ d(0);
    set(word(44) ^ word(52), word(40) ^ word(48)); add(-(seed > 0), -seed);
    const bh = hi ^ d(size - 4), bl = lo ^ d(size - 8);
    set(bh, bl); add(0, size); add(swap(al), swap(ah)); addFolded(ah, al, bh, bl);
    avalanche();
  } else if (size > 3) {
    set(word(12) ^ word(20), word(8) ^ word(16)); add(-(seed > 0) - (seed << 24), -seed);
    const h = hi ^ d(0), l = lo ^ d(size - 4);
    set(h ^ (l << 17 | h >>> 15) ^ (h << 24 | l >>> 8), l ^ (h << 17 | l >>> 15) ^ (l << 24 | h >>> 8));
    multiply(0x9fb21c65, 0x1e98df25);
    const xh = hi, xl = lo;
    set(0, hi >>> 3); add(0, size); set(hi ^ xh, lo ^ xl);
    multiply(0x9fb21c65, 0x1e98df25); xorShift(28);
  } else if (size > 0) {
    const byte = (at) => data.getUint8(at);
    set(0, word(0) ^ word(4)); add(0, seed);
    set(hi, lo ^ (byte(size - 1) | size << 8 | byte(0) << 16 | byte(size >> 1) << 24));
    avalancheXxh64();
  } else {
    set(word(60) ^ word(68), word(56) ^ word(64) ^ seed); avalancheXxh64();
  }
}

function xxh3Medium(data, size, seed) {
  const mix = (at, s) => {
    const a = (word(s) >>> 0) + seed, b = (word(s + 8) >>> 0) - seed, d = (i) => data.getInt32(i, true);
    addFolded(d(at + 4) ^ word(s + 4) + (a >= TWO32), d(at) ^ a,
      d(at + 12) ^ word(s + 12) - (b < 0), d(at + 8) ^ b);
  };
  set(0, size); multiply(0x9e3779b1, 0x85ebca87);
  if (size <= 128) {
    for (let i = size - 1 >> 5; i >= 0; i--) {
      mix(i * 16, i * 32); mix(size - i * 16 - 16, i * 32 + 16);
    }
  } else {
    for (let i = 0; i < 8; i++) mix(i * 16, i * 16);
    avalanche();
    for (let i = 8; i < size >> 4; i++) mix(i * 16, i * 16 - 125);
    mix(size - 16, 119);
  }
  avalanche();
}

function xxh3Large(data, size, seed) {
  const key = new DataView(new ArrayBuffer(192));
  for (let i = 0; i < 192; i += 8) {
    set(word(i + 4), word(i)); add(i & 8 ? -(seed > 0) : 0, i & 8 ? -seed : seed);
    key.setInt32(i, lo, true); key.setInt32(i + 4, hi, true);
  }
  const lows = Int32Array.of(0xc2b2ae3d, 0x85ebca87, 0x27d4eb4f, 0x9e3779f9, 0xc2b2ae63, 0x85ebca77,
    0x165667c5, 0x9e3779b1);
  const highs = Int32Array.of(0, 0x9e3779b1, 0xc2b2ae3d, 0x165667b1, 0x85ebca77, 0, 0x27d4eb2f, 0);
  const accumulate = (at, keyAt) => {
    for (let i = 0; i < 8; i++, at += 8, keyAt += 8) {
      const l = data.getInt32(at, true), h = data.getInt32(at + 4, true);
      const xl = l ^ key.getInt32(keyAt, true), xh = h ^ key.getInt32(keyAt + 4, true);
      const other = (lows[i ^ 1] >>> 0) + (l >>> 0);
      highs[i ^ 1] += h + (other >= TWO32);
      lows[i ^ 1] = other;
      const own = (lows[i] >>> 0) + (Math.imul(xl, xh) >>> 0);
      highs[i] += high(xl, xh) + (own >= TWO32);
      lows[i] = own;
    }
  };
  const stripes = Math.floor((size - 1) / 64);
  for (let stripe = 0; stripe < stripes; stripe++) {
    accumulate(stripe * 64, stripe % 16 * 8);
    for (let i = 0; stripe % 16 === 15 && i < 8; i++) { // the end of a block
      set(highs[i], lows[i]); xorShift(47);
      set(hi ^ key.getInt32(132 + 8 * i, true), lo ^ key.getInt32(128 + 8 * i, true));
      multiply(0, 0x9e3779b1);
      highs[i] = hi; lows[i] = lo;
    }
  }
  accumulate(size - 64, 121);
  set(Math.floor(size / TWO32), size); multiply(0x9e3779b1, 0x85ebca87);
  const end = (i) => [highs[i] ^ key.getInt32(15 + 8 * i, true), lows[i] ^ key.getInt32(11 + 8 * i, true)];
  for (let i = 0; i < 8; i += 2) addFolded(...end(i), ...end(i + 1));
  avalanche();
}
