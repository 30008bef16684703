import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from './testing/built-command.ts';

const piece = Buffer.alloc(1_048_576, ' ');
const server = createServer(async (_, answer) => {
  answer.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const endless = Readable.from(
    (function* () {
      for (;;) yield piece;
    })(),
  );
  // Whoever reads has had enough.
  await pipeline(endless, createGzip({ level: 1 }), answer).catch(() => undefined);
});
let url: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('gives up on an answer without end, also a compressed one', { timeout: 60_000 }, async () => {
  const { code, stderr } = await runCommand(['journal', '--control', url, '--token', 'any']);
  expect(stderr).toContain(`${url} answers with more than 268435456 bytes; ask for less.`);
  expect(code).toBe(3);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});
