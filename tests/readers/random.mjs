// Random keys of every kind, more of them near the rules' ends than chance would bring.

/** random(n): a whole number below n, at most 2^32; always the same ones for a seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed;
  return (n) => {
    state = state + 0x6d2b79f5 | 0;
    let x = Math.imul(state ^ state >>> 15, 1 | state);
    x = x + Math.imul(x ^ x >>> 7, 61 | x) ^ x;
    return Math.floor(((x ^ x >>> 14) >>> 0) / 2 ** 32 * n);
  };
}

const pick = (random, list) => list[random(list.length)];
const digits = (random, most) => {
  let out = '';
  for (let i = random(most + 1); i > 0; i--) out += pick(random, ['0', '9', String(random(10))]);
  return out;
};

function randomReal(random) {
  const view = new DataView(new ArrayBuffer(8));
  switch (random(5)) {
    case 0: // any bits, but NaN
      view.setUint32(0, random(2 ** 32));
      view.setUint32(4, random(2 ** 32));
      return Number.isNaN(view.getFloat64(0)) ? Infinity : view.getFloat64(0);
    case 1: // halves of what 15 digits hold: ties
      return (random(2 ** 30) * 2 ** 20 + random(2 ** 20)) / 2 ** random(25);
    case 2: return (random(2001) - 1000) / 2 ** random(30);
    case 3: return Number(`${1 + random(9)}${digits(random, 16)}e${random(640) - 320}`);
    default: return pick(random, [0, -0, 2 ** 53, 2 ** 63, -(2 ** 63), Infinity, -Infinity, 5e-324,
      Number.MAX_VALUE, 1e-307, 9.9999999999999999e-308, 1.797693134862315e308]);
  }
}

function randomSpelling(random) {
  const space = () => pick(random, ['', '', '', ' ', '\t', '\r\n', '\v', '\u00a0']);
  let text = space() + pick(random, ['', '', '-', '+']) + digits(random, 20);
  if (random(2)) text += `.${digits(random, 20)}`;
  if (random(2)) text += pick(random, ['e', 'E']) + pick(random, ['', '-', '+']) + digits(random, 4);
  return text + space() + pick(random, ['', '', '', '', '\0', '\0x', 'x']);
}

function randomText(random) {
  const letters = pick(random, [['a', 'b', 'Z', '7', ' '], ['é', 'ß', 'a'], ['日', '🙂', '\0', 'x']]);
  let text = '';
  for (let i = random(pick(random, [4, 20, 300, 3000])); i > 0; i--) text += pick(random, letters);
  return text;
}

export function randomKey(random) {
  switch (random(5)) {
    case 0: return BigInt.asIntN(64, (BigInt(random(2 ** 32)) << BigInt(random(64))) - BigInt(random(3)));
    case 1: return randomReal(random);
    case 2: return randomText(random);
    case 3: return randomSpelling(random);
    default: return Buffer.from(Array.from({ length: random(pick(random, [5, 20, 300, 2000])) },
      () => random(256)));
  }
}
