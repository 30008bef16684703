import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { earlyControlResponsesTo, earlyResponsesTo } from '../testing/early-responses.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { startTlsServer } from '../testing/test-tls.ts';
import { type WritePace, writeFirst, writeFirstOften } from '../testing/write-first.ts';

const TRIES = 100;

/** A limit for a shared machine, on which the clients may take longer than the default. */
const connectionLimits = { discardMaxMs: 120_000 };

describe.each([
  ['plain', () => startTestServer({ connectionLimits })],
  ['encrypted', () => startTlsServer({}, { connectionLimits })],
])('100 clients that send all before they read, %s,', (_, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await start();
  });

  afterAll(() => server.close());

  it.each<[string, WritePace, RegExp]>([
    ['2 kB without a pause', { chunkBytes: 2000 }, /./],
    // Each client takes six seconds, so one of each way to answer is enough.
    ['16 kB with pauses of 50 ms', { chunkBytes: 16_000, pauseMs: 50 }, /^(413|431|401.*token$)/],
  ])('receive every response, in pieces of %s', { timeout: 600_000 }, async (name, pace, some) => {
    const device = await acceptedDevice(server, name.slice(0, 2));
    const all = [
      [server.baseUrl, earlyResponsesTo(device, server.adminToken), 50],
      // The control listener reads sixteen bodies at a time.
      [server.controlUrl, earlyControlResponsesTo(server), 12],
    ] as const;
    const results: string[] = [];
    const expected: string[] = [];
    for (const [url, requests, atOnce] of all) {
      for (const [status, what, request] of requests) {
        if (!some.test(`${status} ${what}`)) continue;
        const counts = await writeFirstOften(TRIES, () => writeFirst(url, request, pace), atOnce);
        results.push(`${what}: ${JSON.stringify(counts)}`);
        expected.push(`${what}: ${JSON.stringify({ [status]: TRIES })}`);
      }
    }
    expect(results).toEqual(expected);
  });
});
