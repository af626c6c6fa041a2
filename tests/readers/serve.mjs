// Serves the page and its modules on loopback: serve.mjs [PORT], until it is interrupted.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = new URL('../../ext/packages/js/', import.meta.url);
const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

/** The server, once it listens; port 0 takes a free one. */
export async function serve(port) {
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    try {
      if (!/^[a-z0-9]+\.(html|js)$/.test(name)) throw new Error('no such file');
      const content = readFileSync(new URL(name, root));
      response.writeHead(200, { 'content-type': TYPES[extname(name)] }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready, failed) => server.on('error', failed).listen(port, '127.0.0.1', ready));
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(Number(process.argv[2] ?? 8080));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
