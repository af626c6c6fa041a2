/** The library of this platform, for whatever loads extensions itself. Throws where there is none. */
export function getLoadablePath(): string;

/**
 * Loads the extension into an open database: one of better-sqlite3, or a DatabaseSync of node:sqlite
 * that was opened with `{ allowExtension: true }`. Throws what the driver throws.
 */
export function load(db: { loadExtension(path: string): unknown }): void;
