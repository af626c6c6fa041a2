// The extension, by better-sqlite3 from NODE_PATH.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const Database = createRequire(import.meta.url)('better-sqlite3');
const db = new Database(':memory:');
db.loadExtension(resolve(process.env.B ?? 'build', 'bloom'));

/** The value of one SQL expression, with its parameters. */
export const sql = (expression, ...values) => db.prepare(`SELECT ${expression}`).pluck().get(...values);

/** A statement that is asked often. */
export function prepared(expression) {
  const statement = db.prepare(`SELECT ${expression}`).pluck();
  return (...values) => statement.get(...values);
}
