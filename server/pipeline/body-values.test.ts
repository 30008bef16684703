import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'device');
});

afterAll(() => server.close());

const headers = { 'Content-Type': 'application/json' };
const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',');
const max = limits.bodyValuesMax;
const sentence = `body: holds more than ${max} values; send fewer in one request`;

describe('a JSON body with more values than the limit', () => {
  it('returns 413 from a device, and the connection stays open', async () => {
    const body = `{${members(max + 1)}}`;
    const call = { token: device.token, headers, body };
    const response = await server.call('put-configuration', call);
    expect([response.status, response.json().error]).toEqual([413, sentence]);
    expect(response.headers.get('connection')).not.toBe('close');
  });

  it('returns 413 without a token, before its signature is checked', async () => {
    const body = `{"id_data":"{}","pubkey":"x",${members(max + 1)}}`;
    const response = await server.call('post-auth-request', { headers, body });
    expect([response.status, response.json().error]).toEqual([413, sentence]);
  });

  it('is measured by values, so brackets in strings do not count', async () => {
    const body = JSON.stringify({ key: '[{,'.repeat(max) });
    const response = await server.call('put-configuration', { token: device.token, headers, body });
    expect(response.status).toBe(400);
    expect(response.json().error).not.toBe(sentence);
  });
});

it('an oversized id_data is refused before its JSON is parsed', async () => {
  const idData = `{${members(10_000)}`;
  const body = JSON.stringify({ id_data: idData, pubkey: device.publicKeyPem });
  const response = await server.call('post-auth-request', { headers, body });
  expect(response.json().error).toBe('body: id_data: must have at most 4096 bytes');
});
