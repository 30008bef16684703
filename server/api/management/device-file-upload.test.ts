import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../http/refusal.ts';
import { discardRest, receiveDeviceFile, UploadRefused } from './device-file-upload.ts';

const FILE_MAX_BYTES = 100_000;

let url: string;
let close: () => Promise<void>;

beforeEach(async () => {
  const server = createServer((request, response) => void answer(request, response));
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
});

afterEach(() => close());

/** Answers with the number of bytes of the file, or with the status of the refusal. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let received = 0;
  try {
    const upload = await receiveDeviceFile(request, FILE_MAX_BYTES);
    if (upload instanceof Refusal) {
      response.end(String(upload.status));
    } else {
      for await (const part of upload.content) received += part.length;
      response.end(`${received} bytes`);
    }
  } catch (error) {
    if (!(error instanceof UploadRefused)) throw error;
    response.end(`${error.refusal.status} after ${received}`);
  } finally {
    discardRest(request);
  }
}

async function send(bytes: number): Promise<string> {
  const form = new FormData();
  form.append('path', '/etc/motd');
  form.append('file', new Blob([new Uint8Array(bytes)]), 'motd');
  return (await fetch(url, { method: 'PUT', body: form })).text();
}

describe('the upload form of a device file with more parts than the limit', () => {
  async function sendWith(parts: { before: number; after: number }): Promise<string> {
    const form = new FormData();
    form.append('path', '/etc/motd');
    for (let part = 0; part < parts.before; part += 1) form.append('x', '');
    form.append('file', new Blob(['motd']), 'motd');
    for (let part = 0; part < parts.after; part += 1) form.append('x', '');
    return (await fetch(url, { method: 'PUT', body: form })).text();
  }

  it('returns 400 if the parts come before the file', async () => {
    expect(await sendWith({ before: 39, after: 0 })).toBe('400');
  });

  it('is accepted without the parts that come after the file', async () => {
    expect(await sendWith({ before: 0, after: 20_000 })).toBe('4 bytes');
  });
});

describe('a device file near the size limit', () => {
  it.each([
    [FILE_MAX_BYTES - 1, `${FILE_MAX_BYTES - 1} bytes`],
    [FILE_MAX_BYTES, `${FILE_MAX_BYTES} bytes`],
    [FILE_MAX_BYTES + 1, `413 after ${FILE_MAX_BYTES}`],
    [20 * FILE_MAX_BYTES, `413 after ${FILE_MAX_BYTES}`],
  ])('is accepted or refused correctly with %i bytes: %s', async (bytes, outcome) => {
    expect(await send(bytes)).toBe(outcome);
  });
});
