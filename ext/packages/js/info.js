// What a filter's cells tell about it: Estimates of ext/FORMAT.md.

const bitsOf = (x) => x && (x & 1) + bitsOf(x >> 1);
const OCCUPIED = { // how many cells of a byte are not 0, by the bits of a cell
  1: Uint8Array.from(Array(256).keys(), bitsOf),
  4: Uint8Array.from(Array(256).keys(), (x) => (x > 15) + (x % 16 > 0)),
};

/** Cells that are not 0, their share, and the estimates of bloom_count() and bloom_fpr(). */
export function info(filter) {
  let all = 0, set = 0, count = 0, fpr = 0, none = 1;
  for (const { lines, lineBits, k, L, start, cellBits } of filter.layers) {
    const t = Math.floor(k / L), q = k % L, perLine = Math.ceil(lineBits * cellBits / 8);
    let occupied = 0, low = 0, high = 0;
    for (let line = 0, i = start; line < lines; line++) {
      let here = 0;
      for (const end = i + perLine; i < end; i++) here += OCCUPIED[cellBits][filter.blob[i]];
      occupied += here;
      low += (here / lineBits) ** t / lines;
      high += (here / lineBits) ** (t + 1) / lines;
    }
    const taken = (draws) => 1 - (1 - 1 / 512) ** draws; // of the cells of a line
    const f = lines === 1 ? k * Math.log1p(-1 / lineBits)
      : -((L - q) * taken(t) + q * taken(t + 1)) / lines;
    if (occupied > 0) count += Math.log1p(-occupied / (lines * lineBits)) / f / none;
    const rate = low ** (L - q) * high ** q;
    fpr += rate * none;
    none *= 1 - rate;
    all += lines * lineBits;
    set += occupied;
  }
  return { kind: filter.kind, n: filter.n, p: filter.p, types: filter.types, bytes: filter.blob.length,
    layers: filter.layers.length, cells: all, set, fill: all && set / all,
    count: count < 9e18 ? Math.round(count) : null, fpr };
}
