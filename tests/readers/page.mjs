// The page in headless Chromium: files dropped, keys asked, a tiny filter filled by hand. Prints TAP.
// Needs playwright-core in NODE_PATH and /usr/bin/chromium.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checks, fromHex } from './checks.mjs';
import { serve } from './serve.mjs';

const { chromium } = createRequire(import.meta.url)('playwright-core');
const vectors = JSON.parse(readFileSync(new URL('../format/vectors.json', import.meta.url)));

const server = await serve(0);
const profile = mkdtempSync(join(tmpdir(), 'bloom-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: '/usr/bin/chromium', headless: true, acceptDownloads: true, timeout: 120000,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const page = context.pages()[0] ?? await context.newPage();
page.setDefaultTimeout(60000);
const errors = [];
page.on('pageerror', (error) => errors.push(error.message));
page.on('response', (response) => { if (!response.ok()) errors.push(response.url()); });

const text = (id) => page.locator(`#${id}`).textContent();
const type = (key, as = 'text') => page.locator('#type').selectOption(as)
  .then(() => page.locator('#key').fill(key));
const boxes = (id) => page.locator(`#${id} .cell`).evaluateAll((all) =>
  all.map(({ classList, textContent }) => [textContent, classList.contains('lit')]));

/** Drops a file on the page, as a person does. */
async function drop(bytes) {
  await page.evaluate((content) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(content)], 'dropped'));
    document.getElementById('drop').dispatchEvent(
      new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [...bytes]);
  await page.waitForFunction(() => !document.getElementById('ask').disabled ||
    document.getElementById('wrong').textContent);
}

try {
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForLoadState('load');

  await Checks('the page: a dropped filter, and every kind of vector', async (checks) => {
    for (const name of ['text', 'spelt numbers', 'blobs', 'grown once', 'counting', 'no rows', 'lines']) {
      const entry = vectors.filters.find((each) => each.name === name);
      await drop(fromHex(entry.blob));
      checks.equal(`${name}: wrong`, await text('wrong'), '');
      const typed = entry.contains.filter(([key]) => key && ('text' in key || 'blob' in key));
      for (const [key, answer] of typed.slice(-12)) {
        // A field of one line has no line breaks, and an empty one is no key yet.
        if ('text' in key ? !key.text || /[\r\n\0]/.test(key.text) : !key.blob) continue;
        await type(key.text ?? key.blob, 'text' in key ? 'text' : 'blob');
        checks.equal(`${name}: ${JSON.stringify(key)}`, await text('answer'),
          answer ? 'perhaps present' : 'certainly absent');
      }
    }
  });

  await Checks('the page: n, p, fill and rate, and the bits of a key', async (checks) => {
    // The example of FORMAT.md: apple, 42 and 1.5 in 17 bits.
    const format = readFileSync(new URL('../../ext/FORMAT.md', import.meta.url), 'utf8');
    const dump = format.split("over the keys `'apple'`, 42 and `'1.5'`")[1].split('```')[1];
    const lines = [...dump.matchAll(/^..  ((?:[0-9a-f]{2} )+)/gm)].map(([, hex]) => hex);
    await drop(fromHex(lines.join('').replaceAll(' ', '')));
    const facts = await text('facts');
    for (const part of ['3 keys (n) at the rate 10 % (p)', '75 bytes', '8 of 17 bits are lit: 47.1 %',
      '10.4 % of absent keys', 'about 3', 'integer, real, text']) {
      checks.equal(part, facts.includes(part) ? part : facts, part);
    }
    await type('apple');
    checks.equal('apple', [await text('answer'), await boxes('touched')],
      ['perhaps present', [['7', true], ['4', true], ['16', true]]]);
    await type('pear');
    checks.equal('pear', [await text('answer'), await boxes('touched')],
      ['certainly absent', [['16', true], ['3', true], ['6', false]]]);
    await type('1.50');
    checks.equal('1.50', [await text('answer'), (await text('why')).slice(0, 4)], ['perhaps present', 'real']);
    await type('0', 'blob');
    checks.equal('half a byte', await text('wrong'), 'a blob is written in pairs of hex digits');
  });

  await Checks('the page: what is no filter says so', async (checks) => {
    for (const { name, blob, reason } of vectors.rejected) {
      await drop(fromHex(blob));
      const wrong = await text('wrong');
      checks.equal(name, wrong.startsWith(`This file cannot be asked: ${reason}`) ? '' : wrong, '');
      checks.equal(name, [await page.locator('#key').isDisabled(), await text('facts')], [true, '']);
    }
  });

  await Checks('the page: a tiny filter is filled by hand, and a false positive found', async (checks) => {
    await page.locator('#start').click();
    checks.equal('dark', (await boxes('all')).map(([, lit]) => lit), Array(17).fill(false));
    for (const key of ['apple', '42', '1.5']) {
      await type(key);
      checks.equal(`${key}, before`, await text('answer'), 'certainly absent');
      await page.locator('#put').click();
      checks.equal(`${key}, after`, await text('answer'), 'perhaps present');
    }
    checks.equal('lit', (await boxes('all')).filter(([, lit]) => lit).map(([cell]) => Number(cell)),
      [3, 4, 5, 7, 12, 13, 15, 16]);
    await page.locator('#hunt').click();
    const key = await page.locator('#key').inputValue(), why = await text('why');
    checks.equal(key, await text('answer'), 'perhaps present');
    checks.true(why, /A false positive: it was never put in, but bit \d+ by .*(apple|42|1\.5)/.test(why));
    const saving = page.waitForEvent('download');
    await page.locator('#save').click();
    const saved = readFileSync(await (await saving).path());
    checks.equal('saved', saved.subarray(64, 75).toString('hex'), '912d59382ee10a4db8b001');
    await page.locator('#n').fill('0');
    await page.locator('#start').click();
    checks.true('n 0', (await text('wrong')).includes('1 to 50 keys'));
  });

  await Checks('the page: no error in it, and nothing missing', (checks) => checks.equal('errors', errors, []));
} finally {
  await context.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
