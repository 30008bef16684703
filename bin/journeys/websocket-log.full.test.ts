/**
 * Sources from which a firmware author learns about a broken WebSocket: the close frame, the log
 * and the journal.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { operations } from '../../fixtures/contract/operations.ts';
import { encodeConnectMessage } from '../../fixtures/formats/connect-message.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from '../testing/built-command.ts';

const START_MAX_MS = 60_000;
const unknownSession = 'b0b5c3f2-0000-4000-8000-000000000000';

let running: RunningCommand;
let ready: ServerReady;

beforeAll(async () => {
  ({ running, ready } = await startServe(['--auto-accept', '--log-level', 'info']));
}, START_MAX_MS);

afterAll(() => running.end());

/** Signs a new device in and opens its WebSocket. */
async function openAs(mac: string, options: ClientOptions = {}): Promise<WebSocket> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pubkey = publicKey.export({ type: 'spki', format: 'pem' });
  const body = JSON.stringify({ id_data: JSON.stringify({ mac }), pubkey });
  const signature = sign(null, Buffer.from(body), privateKey).toString('base64');
  const headers = { 'Content-Type': 'application/json', 'X-SVC-Signature': signature };
  const url = ready.baseUrl + operations['post-auth-request'].path;
  // The first request is always refused; the server accepts the device after it.
  await fetch(url, { method: 'POST', headers, body });
  const token = await (await fetch(url, { method: 'POST', headers, body })).text();
  const socket = new WebSocket(ready.baseUrl + operations.connect.path, {
    ...options,
    headers: { Authorization: `Bearer ${token}` },
  });
  await once(socket, 'open');
  return socket;
}

/** Returns the lines of `fleetbed journal` about the frames of a device. */
async function journalOf(mac: string): Promise<string> {
  const at = ['--control-url', ready.controlUrl, '--control-token', ready.controlToken];
  return (await runCommand(['journal', ...at, '--kind', 'frame', '--device', mac])).stdout;
}

describe('a device whose WebSocket breaks a rule', () => {
  it('reads the same reason in the close frame, the log and the journal', async () => {
    const mac = '02:00:00:00:00:01';
    const socket = await openAs(mac, { skipUTF8Validation: true });
    const ended = once(socket, 'close');
    Reflect.get(socket, '_socket').write(Buffer.from([0x82, 1, 0x61]));
    const [code, reason] = (await ended) as [number, Buffer];
    const problem = 'a frame is not masked; a client masks every frame';
    expect([code, reason.toString()]).toEqual([1002, problem]);
    const line = new RegExp(
      `the WebSocket of a device was closed with 1002: ${problem} \\(device `,
    );
    expect(await running.waitForOutput('stderr', line)).toMatch(line);
    const last = (await journalOf(mac)).trim().split('\n').at(-1);
    expect(last).toMatch(new RegExp(`<- server +close 1002 +${problem}`));
  });

  it('logs why a message is not delivered, and the WebSocket stays open', async () => {
    const socket = await openAs('02:00:00:00:00:02');
    socket.send(encodeConnectMessage({ proto: 1, typ: 'shell', sid: unknownSession }));
    const line = new RegExp(`stays open: no session .* the hdr.sid "${unknownSession}", so`);
    expect(await running.waitForOutput('stderr', line)).toMatch(line);
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });

  it('reads in the journal that it ended the connection without a close frame', async () => {
    const mac = '02:00:00:00:00:03';
    const socket = await openAs(mac);
    socket.terminate();
    const problem = /-> server +close 1006 +the client ended the connection without a close frame/;
    await expect.poll(() => journalOf(mac), { timeout: 10_000 }).toMatch(problem);
  });
});
