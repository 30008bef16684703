import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { endOf } from '../testing/test-sockets.ts';
import { closeAll, closeWith } from './closing.ts';

let server: WebSocketServer;
let ours: WebSocket;
let theirs: WebSocket;

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  theirs = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  [[ours]] = await Promise.all([once(server, 'connection'), once(theirs, 'open')]);
});

afterEach(() => {
  theirs.terminate();
  server.close();
});

describe('the reason of a close frame', () => {
  it.each([
    ['nothing', '', ''],
    ['a sentence', 'device disconnected', 'device disconnected'],
    ['123 bytes', 'x'.repeat(123), 'x'.repeat(123)],
    ['124 bytes', 'x'.repeat(124), 'x'.repeat(123)],
    ['4096 bytes', 'x'.repeat(4096), 'x'.repeat(123)],
    ['a character that would be split', '\u00fc'.repeat(62), '\u00fc'.repeat(61)],
    [
      'a longer one that would be split',
      `x${'\u{1f600}'.repeat(31)}`,
      `x${'\u{1f600}'.repeat(30)}`,
    ],
    ['replaced characters that fit', '\ufffd'.repeat(41), '\ufffd'.repeat(41)],
  ])('is shortened to the length that fits a close frame: %s', async (_, given, sent) => {
    const ended = endOf(theirs);
    closeWith(ours, 1011, given);
    expect(await ended).toEqual({ code: 1011, reason: sent });
  });
});

describe('closing many sockets together', () => {
  it('ends even when a peer has stopped reading', async () => {
    theirs.pause();
    await closeAll([ours], 'server shutting down');
    expect(ours.readyState).toBe(WebSocket.CLOSED);
  });
});
