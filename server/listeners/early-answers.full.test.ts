import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { earlyAnswersTo, earlyControlAnswersTo } from '../testing/early-answers.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { startTlsServer } from '../testing/test-tls.ts';
import { type Pace, writeFirst, writeFirstOften } from '../testing/write-first.ts';

const TRIES = 100;

describe.each([
  ['plain', startTestServer],
  ['encrypted', startTlsServer],
])('100 clients that read once they have sent all, %s,', (_, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await start();
  });

  afterAll(() => server.close());

  it.each<[string, Pace]>([
    ['2 kB without a pause', { pieceBytes: 2000 }],
    ['16 kB with pauses of 50 ms', { pieceBytes: 16_000, pauseMs: 50 }],
  ])('all have their answers, in pieces of %s', { timeout: 900_000 }, async (name, pace) => {
    const device = await acceptedDevice(server, name.slice(0, 2));
    const all = [
      [server.baseUrl, earlyAnswersTo(device, server.adminToken)],
      [server.controlUrl, earlyControlAnswersTo(server)],
    ] as const;
    const results: string[] = [];
    const expected: string[] = [];
    for (const [url, requests] of all) {
      for (const [status, what, request] of requests) {
        const counts = await writeFirstOften(TRIES, () => writeFirst(url, request, pace));
        results.push(`${what}: ${JSON.stringify(counts)}`);
        expected.push(`${what}: ${JSON.stringify({ [status]: TRIES })}`);
      }
    }
    expect(results).toEqual(expected);
  });
});
