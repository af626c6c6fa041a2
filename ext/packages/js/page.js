// The page around the reader: a filter is dropped, or started empty and filled by hand.
import { info } from './info.js';
import { BadFilter, BloomFilter } from './reader.js';
import { tinyFilter, withKey } from './tiny.js';

const get = (id) => document.getElementById(id);
let filter = null, putIn = null; // the keys of a filter that is filled here; null for a file's

function cellBox(cell, value, touched) {
  const box = document.createElement('span');
  box.className = `cell ${value ? 'lit' : 'dark'}${touched ? ' touched' : ''}`;
  box.textContent = value > 1 ? `${cell}: ${value}` : cell;
  box.title = value > 1 ? `counter ${cell} is ${value}` : `bit ${cell} is ${value ? 'lit' : 'dark'}`;
  return box;
}

function typedKey() {
  const text = get('key').value;
  if (get('type').value === 'text') return text;
  const hex = text.replace(/\s/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new TypeError('a blob is written in pairs of hex digits');
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function showFacts() {
  const told = info(filter), percent = (x) => `${Number((100 * x).toPrecision(3))} %`;
  const facts = {
    'made for': told.n ? `${told.n} keys (n) at the rate ${percent(told.p)} (p)` : 'no keys',
    kind: `${told.kind}, ${told.layers} layer${told.layers === 1 ? '' : 's'}, ${told.bytes} bytes`,
    fill: `${told.set} of ${told.cells} ${told.kind === 'counting' ? 'counters' : 'bits'} are lit: ` +
      percent(told.fill),
    'rate now': `${percent(told.fpr)} of absent keys are answered "perhaps present"`,
    keys: told.count === null ? 'too many to tell' : `about ${told.count}`,
    types: told.types.join(', ') || 'none',
  };
  get('facts').replaceChildren(...Object.entries(facts).flatMap(([name, value]) => {
    const dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = value;
    return [dt, dd];
  }));
}

// Which of the keys that were put in lit the bits of this one.
function litBy(positions) {
  return positions.map((cell) => {
    const keys = putIn.filter((key) => filter.explain(key).layers[0].positions.includes(cell));
    return `bit ${cell} by ${keys.join(' and ')}`;
  }).join(', ');
}

function showAnswer() {
  get('wrong').textContent = '';
  let told = null, key = '';
  try {
    key = typedKey();
    if (get('key').value !== '') told = filter.explain(key);
  } catch (error) {
    get('wrong').textContent = error.message;
  }
  get('answer').textContent = !told ? '' : told.contains ? 'perhaps present' : 'certainly absent';
  get('why').textContent = told ? `${told.type}, hash ${told.hash}` : '';
  get('touched').replaceChildren(...(told?.layers ?? []).map(({ positions, bits }) => {
    const row = document.createElement('div');
    row.className = 'cells';
    row.append(...positions.map((cell, i) => cellBox(cell, bits[i], true)));
    return row;
  }));
  if (!putIn) return;
  const positions = told?.layers[0].positions ?? [];
  const hashes = putIn.map((each) => filter.explain(each).hash);
  if (told?.contains && !hashes.includes(told.hash)) {
    get('why').textContent += `. A false positive: it was never put in, but ${litBy(positions)}.`;
  }
  const [layer] = filter.layers;
  get('all').replaceChildren(...Array.from({ length: layer.lineBits }, (_, cell) =>
    cellBox(cell, filter.cell(layer, cell), positions.includes(cell))));
  get('keys').textContent = putIn.join(', ') || 'nothing yet';
}

function show(next, keys) {
  filter = next;
  putIn = keys;
  get('ask').disabled = !filter;
  for (const id of ['put', 'whole', 'save']) get(id).hidden = !putIn;
  if (!filter) {
    for (const id of ['facts', 'touched']) get(id).replaceChildren();
    for (const id of ['answer', 'why']) get(id).textContent = '';
    return;
  }
  showFacts();
  showAnswer();
}

async function open(file) {
  show(null, null);
  get('wrong').textContent = '';
  try {
    show(new BloomFilter(new Uint8Array(await file.arrayBuffer())), null);
  } catch (error) {
    const what = error instanceof BadFilter ? 'This file cannot be asked' : 'This file cannot be read';
    get('wrong').textContent = `${what}: ${error.message}`;
  }
}

get('file').addEventListener('change', ({ target }) => target.files.length && open(target.files[0]));
for (const [event, over] of [['dragover', true], ['dragleave', false], ['drop', false]]) {
  get('drop').addEventListener(event, (dragged) => {
    dragged.preventDefault();
    get('drop').classList.toggle('over', over);
    if (event === 'drop' && dragged.dataTransfer.files.length) open(dragged.dataTransfer.files[0]);
  });
}
get('start').addEventListener('click', () => {
  const n = Number(get('n').value), p = Number(get('p').value);
  if (Number.isInteger(n) && n >= 1 && n <= 50 && p >= 1e-6 && p <= 0.9) return show(tinyFilter(n, p), []);
  get('wrong').textContent = 'An empty filter is for 1 to 50 keys, at a rate from 0.000001 to 0.9';
});
get('put').addEventListener('click', () => {
  if (get('type').value !== 'text' || get('key').value === '') {
    get('wrong').textContent = 'Type a text or a number to put in';
    return;
  }
  show(withKey(filter, get('key').value), [...putIn, get('key').value]);
});
get('hunt').addEventListener('click', () => {
  const hashes = putIn.map((key) => filter.explain(key).hash);
  for (let i = 1; i <= 100000; i++) {
    const told = filter.explain(`key ${i}`);
    if (!told.contains || hashes.includes(told.hash)) continue;
    get('key').value = `key ${i}`;
    get('type').value = 'text';
    return showAnswer();
  }
  get('wrong').textContent = 'None of 100,000 keys was: put in more';
});
get('save').addEventListener('click', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([filter.blob]));
  link.download = 'tiny.bloom';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
for (const id of ['key', 'type']) get(id).addEventListener('input', showAnswer);
