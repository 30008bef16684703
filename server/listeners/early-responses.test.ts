import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { earlyControlResponsesTo, earlyResponsesTo } from '../testing/early-responses.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { startTlsServer } from '../testing/test-tls.ts';
import { writeFirst, writeFirstOften } from '../testing/write-first.ts';

const TRIES = 5;
const pace = { chunkBytes: 8192 };

/** A limit for a shared machine, on which the clients may take longer than the default. */
const connectionLimits = { discardMaxMs: 120_000 };

describe.each([
  ['plain', () => startTestServer({ connectionLimits })],
  ['encrypted', () => startTlsServer({}, { connectionLimits })],
])('a client that sends all before it reads, %s,', (_, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await start();
  });

  afterAll(() => server.close());

  it('receives every early response of the API', async () => {
    const device = await acceptedDevice(server, 'early');
    const results: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [status, name, request] of earlyResponsesTo(device, server.adminToken)) {
      expected[name] = { [status]: TRIES };
      results[name] = await writeFirstOften(TRIES, () => writeFirst(server.baseUrl, request, pace));
    }
    expect(results).toEqual(expected);
  });

  it('receives every early response of the control listener', async () => {
    const results: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [status, name, request] of earlyControlResponsesTo(server)) {
      expected[name] = { [status]: TRIES };
      results[name] = await writeFirstOften(TRIES, () =>
        writeFirst(server.controlUrl, request, pace),
      );
    }
    expect(results).toEqual(expected);
  });
});
