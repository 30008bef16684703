import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  deviceDeploymentOf,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let deploymentId: string;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `log-${deviceCount}`);
  deploymentId = await deploy(server, [device]);
  await nextRequests['POST v1'](server, device.token, board);
});

const entry = { timestamp: '2026-11-21T11:59:58Z', level: 'info', message: 'begun' };

function upload(json: unknown, from = device, id = deploymentId): Promise<TestResponse> {
  return server.call('put-deployment-log', { token: from.token, parameters: { id }, json });
}

function readLog(id = deploymentId, reporter = device): Promise<TestResponse> {
  const parameters = { id, device_id: reporter.id };
  return server.call('get-deployment-log', { token: server.adminToken, parameters });
}

describe('the deployment log of a device', () => {
  it('is shown to users as text with one line per message in UTC', async () => {
    const response = await upload({
      messages: [
        { timestamp: '2026-11-21T11:59:58Z', level: 'INFO', message: 'begun' },
        {
          timestamp: '2026-11-21T13:00:00.123456789+01:00',
          level: 'debug',
          message: 'müde: 100 %',
        },
        { timestamp: '2026-11-21t09:29:59.5-02:30', level: 'error', message: 'ended' },
      ],
    });
    expect([response.status, response.text]).toEqual([204, '']);
    const log = await readLog();
    expect(log.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(log.text).toBe(
      [
        '2026-11-21T11:59:58.000Z INFO: begun\n',
        '2026-11-21T12:00:00.123Z debug: müde: 100 %\n',
        '2026-11-21T11:59:59.500Z error: ended\n',
      ].join(''),
    );
    expect((await deviceDeploymentOf(server, deploymentId, device))?.log).toBe(true);
  });

  it('replaces the earlier log of the same deployment', async () => {
    await upload({ messages: [entry, entry] });
    await upload({ messages: [{ ...entry, message: 'another' }] });
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: another\n');
  });

  it.each(['success', 'failure', 'rebooting'])(
    'is accepted after a report of %s',
    async (status) => {
      await report(server, device, { id: deploymentId, status });
      expect((await upload({ messages: [entry] })).status).toBe(204);
    },
  );

  it('is accepted after the deployment is aborted', async () => {
    await abort(server, deploymentId);
    expect((await upload({ messages: [entry] })).status).toBe(204);
  });

  it('is accepted with unknown fields', async () => {
    expect((await upload({ messages: [{ ...entry, pid: 7 }], tags: [] })).status).toBe(204);
  });

  it('returns 204 for 12,499 of the shortest messages, and 413 for 12,501', async () => {
    const short = { timestamp: '2026-11-21T11:59:58Z', level: 'i', message: 'm' };
    const response = await upload({ messages: new Array(12_499).fill(short) });
    expect(response.status).toBe(204);
    expect((await readLog()).text.split('\n')).toHaveLength(12_500);
    expect((await upload({ messages: new Array(12_501).fill(short) })).status).toBe(413);
  });

  it('returns 413 if it contains more than 50000 values', async () => {
    const extra = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, 1]));
    const response = await upload({ messages: [entry], ...extra });
    expect([response.status, response.json().error]).toEqual([
      413,
      'body: holds more than 50000 values; send fewer in one request',
    ]);
  });

  it('returns 404 to users before the device has sent one', async () => {
    expect((await readLog()).status).toBe(404);
    expect((await deviceDeploymentOf(server, deploymentId, device))?.log).toBe(false);
  });
});

describe('a log for a deployment that was not offered', () => {
  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', '%2e%2e'])(
    'returns 404 for the ID %s',
    async (id) => {
      expect((await upload({ messages: [entry] }, device, id)).status).toBe(404);
    },
  );

  it('returns 404 and keeps the log of the other device', async () => {
    await upload({ messages: [entry] });
    const otherDevice = await acceptedDevice(server, `log-stranger-${deviceCount}`);
    const response = await upload({ messages: [{ ...entry, message: 'forged' }] }, otherDevice);
    expect(response.status).toBe(404);
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: begun\n');
    expect((await readLog(deploymentId, otherDevice)).status).toBe(404);
  });

  it('returns 404 before the device has polled', async () => {
    const otherDevice = await acceptedDevice(server, `log-early-${deviceCount}`);
    const id = await deploy(server, [otherDevice]);
    expect((await upload({ messages: [entry] }, otherDevice, id)).status).toBe(404);
  });
});

const { timestamp, level, message } = entry;

describe('a malformed deployment log', () => {
  it.each([
    ['no timestamp', { level, message }],
    ['no level', { timestamp, message }],
    ['no message', { timestamp, level }],
    ['an empty timestamp', { ...entry, timestamp: '' }],
    ['an empty level', { ...entry, level: '' }],
    ['an empty message', { ...entry, message: '' }],
    ['a timestamp without an offset', { ...entry, timestamp: '2026-11-21T11:59:58' }],
    ['a timestamp without a time', { ...entry, timestamp: '2026-11-21' }],
    ['a timestamp with a blank', { ...entry, timestamp: '2026-11-21 11:59:58Z' }],
    ['a timestamp on a day that does not exist', { ...entry, timestamp: '2026-02-29T11:59:58Z' }],
    ['a timestamp at an hour that does not exist', { ...entry, timestamp: '2026-11-21T24:00:00Z' }],
    ['a timestamp in Unix seconds', { ...entry, timestamp: 1_795_262_398 }],
    ['a timestamp of the syslog kind', { ...entry, timestamp: 'Nov 21 11:59:58' }],
    ['a timestamp that is null', { ...entry, timestamp: null }],
    ['a level that is a number', { ...entry, level: 7 }],
    ['a message that is an object', { ...entry, message: { text: 'begun' } }],
    ['a string in place of the message', 'begun'],
    ['null in place of the message', null],
  ])('returns 400 for %s in one message, and the earlier log stays', async (_, bad) => {
    await upload({ messages: [entry] });
    const response = await upload({ messages: [{ ...entry, message: 'good' }, bad] });
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/^body: messages\.1/);
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: begun\n');
  });

  it.each([
    ['no messages', {}],
    ['empty messages', { messages: [] }],
    ['messages that are null', { messages: null }],
    ['messages that are a string', { messages: 'begun' }],
    ['messages that are an object', { messages: { 0: entry } }],
    ['the messages alone', [entry]],
    ['null', null],
  ])('returns 400 for %s as the body, and the earlier log stays', async (_, json) => {
    await upload({ messages: [entry] });
    const response = await upload(json);
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/^body: /);
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: begun\n');
  });

  it('returns 413 above the size limit, and the earlier log stays', async () => {
    await upload({ messages: [entry] });
    const response = await upload({ messages: [{ ...entry, message: 'x'.repeat(1_048_576) }] });
    expect(response.status).toBe(413);
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: begun\n');
  });
});

describe('a deployment log with special characters', () => {
  it('preserves a message that contains a NUL', async () => {
    await upload({ messages: [{ ...entry, message: 'before\u0000after' }, entry] });
    expect((await readLog()).text).toBe(
      '2026-11-21T11:59:58.000Z info: before\u0000after\n2026-11-21T11:59:58.000Z info: begun\n',
    );
  });

  it('returns 400 for half a surrogate pair, and the earlier log stays', async () => {
    await upload({ messages: [entry] });
    expect((await upload({ messages: [{ ...entry, message: 'a\ud83d' }] })).status).toBe(400);
    expect((await readLog()).text).toBe('2026-11-21T11:59:58.000Z info: begun\n');
  });
});
