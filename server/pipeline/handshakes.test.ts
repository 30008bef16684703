import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom, systemRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { Semaphore } from '../http/open-files.ts';
import { createListener } from '../listeners/api-listener.ts';
import { Connections } from '../listeners/connections.ts';
import { StagedClosing } from '../listeners/staged-closing.ts';
import { createAuthority, freshSigningKey, longValidity } from '../listeners/tls/authority.ts';
import { completeConnectionLimits } from '../settings.ts';
import { startOfTest } from '../testing/test-server.ts';
import { Turns } from './turns.ts';

type Listener = ReturnType<typeof createListener>;
let listener: Listener | undefined;
const closing = new StagedClosing(completeConnectionLimits({}), new ByteBudget(1_000_000));
const openFiles = new Semaphore(10);
const connections = new Connections({ openFiles, surplusMax: 10, closing });

afterEach(async () => {
  if (!listener) return;
  const closed = once(listener, 'close');
  listener.close();
  connections.destroy();
  await closed;
});

/** An encrypted listener without any route, and its log. */
async function listen(handshakeMaxMs: number) {
  const lines: string[] = [];
  const random = seededRandom('handshakes');
  const [authority, key] = await Promise.all([
    createAuthority('test', { nowMs: startOfTest, random: systemRandom }),
    freshSigningKey(),
  ]);
  const validity = longValidity(startOfTest);
  const cert = authority.issue({ purpose: 'server', commonName: 'test', validity, key });
  listener = createListener({
    routes: {
      find: () => undefined,
      app: express(),
      unknown: () => undefined,
      refuse: () => undefined,
      opensSocket: () => false,
    },
    connections,
    turns: new Turns(systemClock),
    headerNames: vendorNames('X-SVC'),
    random,
    log: { info: (line) => lines.push(line) },
    tls: { key: key.pem, cert },
    handshakeMaxMs,
  });
  listener.listen({ host: '127.0.0.1', port: 0 });
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return { lines, port };
}

describe('a TLS handshake', () => {
  it.each([
    ['that never begins', ''],
    ['that stops within its first message', Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])],
  ])('is cut after its time limit: one %s', async (_, bytes) => {
    const { port, lines } = await listen(50);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    if (bytes.length > 0) socket.write(bytes);
    // A busy server may not have read the bytes, so that its end resets the connection.
    await new Promise((resolve) => socket.once('close', resolve));
    expect(lines).toEqual([expect.stringContaining('the TLS handshake did not end in time')]);
  });

  it('is logged when the client closes the connection within its first message', async () => {
    const { port, lines } = await listen(5000);
    const socket = connect(port, '127.0.0.1');
    socket.end(Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]));
    socket.resume();
    await once(socket, 'close');
    expect(lines).toEqual([expect.stringContaining('closed the connection during the TLS')]);
  });

  it('is not logged when the client closes the connection before it', async () => {
    const { port, lines } = await listen(5000);
    const socket = connect(port, '127.0.0.1');
    socket.end();
    socket.resume();
    await once(socket, 'close');
    expect(lines).toEqual([]);
  });

  it('is refused and logged when the client offers only HTTP/2', async () => {
    const { port, lines } = await listen(5000);
    const client = connectSecurely({ port, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    await once(client, 'error');
    expect(lines).toEqual([expect.stringContaining('by ALPN the client offers no protocol')]);
  });

  it.each([
    ['plain HTTP', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 400 /, 'plain HTTP was sent'],
    ['another protocol', 'SSH-2.0-client\r\n', /^(?!HTTP)/, 'ERR_SSL_WRONG_VERSION_NUMBER'],
  ])('is refused and logged when the client sends %s', async (_, text, answered, reason) => {
    const { port, lines } = await listen(10_000);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(text);
    await once(socket, 'close');
    expect(Buffer.concat(chunks).toString('latin1')).toMatch(answered);
    expect(lines).toEqual([expect.stringContaining(reason)]);
  });
});
