// Right checksums for a filter whose bytes were changed.
import { hi, lo, xxh3 } from '../../ext/packages/js/xxh3.js';

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
