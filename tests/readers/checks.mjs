// What the tests here share: TAP, bytes, and a seeded source of random numbers.
import { inspect, isDeepStrictEqual } from 'node:util';

export const fromHex = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));

/** Runs a test and prints its TAP line: how much it compared, and the first that was wrong. */
export async function Checks(name, test) {
  const wrong = [];
  let made = 0;
  const checks = {
    equal(what, got, wanted) {
      made++;
      if (!isDeepStrictEqual(got, wanted)) {
        wrong.push(`${what}: got ${inspect(got)}, expected ${inspect(wanted)}`);
      }
    },
    true(what, condition) { checks.equal(what, Boolean(condition), true); },
  };
  try {
    await test(checks);
  } catch (error) {
    wrong.push(error.stack);
  }
  if (made === 0) wrong.push('nothing was compared');
  console.log(`${wrong.length ? 'not ok' : 'ok'} readers: ${name} (${made})`);
  for (const line of wrong.slice(0, 5)) console.log(`# ${line.slice(0, 600).replaceAll('\n', '\n# ')}`);
  if (wrong.length) process.exitCode = 1;
}
