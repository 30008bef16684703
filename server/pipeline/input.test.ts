import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { Refusal } from '../http/refusal.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { readJson, readQuery } from './input.ts';

function problemOf(response: object): string {
  if (!(response instanceof Refusal)) throw new Error('it was taken');
  expect(response.status).toBe(400);
  return response.error;
}

function bodyProblem(id: keyof typeof operations, body: unknown): string {
  const { body: schema } = operations[id] as { body?: Parameters<typeof readJson>[0] };
  if (!schema) throw new Error(`${id} takes no body`);
  return problemOf(readJson(schema, Buffer.from(JSON.stringify(body))));
}

describe('the error for an invalid body', () => {
  it.each<[string, keyof typeof operations, unknown, string]>([
    ['a missing field', 'put-deployment-status', {}, 'body: status: is required'],
    [
      'a field under another name',
      'put-deployment-status',
      { state: 'success' },
      'body: status: is required; "state" was sent: did you mean "status"?',
    ],
    [
      'a field in other letters',
      'post-auth-request',
      { idData: '{}', pubkey: 'a key' },
      'body: id_data: is required; "idData" was sent: did you mean "id_data"?',
    ],
    [
      'a field under the name of another API',
      'post-auth-request',
      { id_data: '{}', public_key: 'a key' },
      'body: pubkey: is required; "public_key" was sent: did you mean "pubkey"?',
    ],
    [
      'a field without the beginning of its name',
      'post-next-deployment-v2',
      { provides: {} },
      'body: device_provides: is required; "provides" was sent: did you mean "device_provides"?',
    ],
    ['an empty key', 'put-configuration', { '': 'x' }, 'body: must not hold an empty key'],
    [
      'a field of an entry with a typing error',
      'put-attributes',
      [{ nmae: 'kernel', value: 1 }],
      'body: 0.name: is required; "nmae" was sent: did you mean "name"?',
    ],
    [
      'a provide in other letters beside free ones',
      'post-next-deployment-v2',
      { device_provides: { deviceType: 'b', artifact_name: 'a', device: 'x' } },
      'body: device_provides.device_type: is required; "deviceType" was sent: did you mean "device_type"?',
    ],
    [
      'a known field that is like a missing one',
      'post-monitor-configuration',
      [{ name: 'a', status: 'b' }],
      'body: 0.type: is required',
    ],
    [
      'JSON that was encoded twice',
      'put-attributes',
      '[]',
      'body: is a JSON string that holds JSON text; it was encoded twice, so encode it once',
    ],
    [
      'a word that is not in the list',
      'put-deployment-status',
      { status: 'done' },
      'body: status: must be one of installing, ',
    ],
    [
      'a field of another type',
      'post-auth-request',
      { id_data: 7 },
      'body: id_data: must be a string, not 7',
    ],
    ['null', 'post-auth-request', { id_data: null }, 'body: id_data: must be a string, not null'],
    ['an empty string', 'post-auth-request', { id_data: '' }, 'body: id_data: must not be empty'],
    ['no object at all', 'post-auth-request', 'text', 'body: must be an object, not "text"'],
    ['no list at all', 'post-alerts', {}, 'body: must be an array, not an object'],
    [
      'a field of an entry',
      'put-deployment-log',
      { messages: [{ timestamp: '2026-01-01T00:00:00Z', level: 'info' }] },
      'body: messages.0.message: is required',
    ],
    [
      'a time without an offset',
      'put-deployment-log',
      { messages: [{ timestamp: '2026-01-01T00:00:00', level: 'info', message: 'm' }] },
      'body: messages.0.timestamp: must be an RFC 3339 date-time with an offset (2026-01-31T12:00:00Z)',
    ],
    [
      'a provide of another type',
      'post-next-deployment-v2',
      { device_provides: { device_type: 'b', artifact_name: 'a', extra: 1 } },
      'body: device_provides.extra: must be a string, not 1',
    ],
    [
      'a value of a mixed kind',
      'put-attributes',
      [{ name: 'n', value: [1, 'a'] }],
      'body: 0.value: must be a number, a string, or an array of only numbers or only strings',
    ],
    [
      'a configured value that is not a string',
      'put-configuration',
      { a: 1 },
      'body: a: must be a string, not 1',
    ],
  ])('names the field and the problem: %s', (_, id, body, sentence) => {
    expect(bodyProblem(id, body).startsWith(sentence)).toBe(true);
  });

  it('names only the first of several problems', () => {
    expect(bodyProblem('post-auth-request', {})).toBe('body: id_data: is required');
  });

  it('has a bounded length, however long the body is', () => {
    const long = 'x'.repeat(100_000);
    expect(bodyProblem('put-deployment-status', { status: long }).length).toBeLessThanOrEqual(510);
    expect(bodyProblem('put-configuration', { [long]: '' }).length).toBeLessThanOrEqual(510);
  });
});

describe('the error for an invalid query', () => {
  const next = operations['get-next-deployment'];
  const logs = operations['list-audit-logs'];

  it.each<[string, Parameters<typeof readQuery>[0], string, string]>([
    ['a missing parameter', next, 'device_type=b', 'query: artifact_name: is required'],
    [
      'an empty one',
      next,
      'artifact_name=&device_type=b',
      'query: artifact_name: must not be empty',
    ],
    [
      'one that is too long',
      next,
      `artifact_name=${'a'.repeat(4097)}&device_type=b`,
      'query: artifact_name: must have at most 4096 characters',
    ],
    [
      'one that is given twice',
      next,
      'artifact_name=a&artifact_name=b&device_type=b',
      'query: artifact_name: must be a string, not an array',
    ],
    ['a page that is not a number', logs, 'page=one', 'query: page: must be a whole number'],
    ['a fraction', logs, 'page=1.5', 'query: page: must be a whole number'],
    ['a number that is too small', logs, 'page=0', 'query: page: must be at least 1'],
    ['a number that is too large', logs, 'per_page=501', 'query: per_page: must be at most 500'],
    [
      'a word that is not in the list',
      logs,
      'sort=up',
      'query: sort: must be one of asc, desc, not',
    ],
    [
      'a parameter in capitals',
      next,
      'Artifact_Name=a&device_type=b',
      'query: artifact_name: is required; "Artifact_Name" was sent: did you mean "artifact_name"?',
    ],
    ['a missing one', next, 'device_type=b&board=1', 'query: artifact_name: is required'],
  ])('names the parameter and the problem: %s', (_, operation, search, sentence) => {
    expect(problemOf(readQuery(operation, search)).startsWith(sentence)).toBe(true);
  });
});

describe('a valid query', () => {
  const next = operations['get-next-deployment'];

  it.each([
    [
      'plus signs and escapes are decoded',
      'artifact_name=a+b%20c&device_type=%C3%A9',
      'a b c',
      '\u00e9',
    ],
    ['an equals sign belongs to the value', 'artifact_name=a=b&device_type=c', 'a=b', 'c'],
    ['a broken escape stays as it is', 'artifact_name=%zz&device_type=c', '%zz', 'c'],
  ])('is decoded: %s', (_, search, artifactName, deviceType) => {
    const expected = { artifact_name: artifactName, device_type: deviceType };
    expect(readQuery(next, search)).toEqual(expected);
  });

  it('is read without the parameters unknown to the operation', () => {
    const search = 'artifact_name=a&device_type=b&__proto__=c&tenant=d';
    expect(readQuery(next, search)).toEqual({ artifact_name: 'a', device_type: 'b' });
  });

  it('gets default values for absent parameters', () => {
    expect(readQuery(operations['list-audit-logs'], '')).toEqual({
      page: 1,
      per_page: 10,
      sort: 'desc',
    });
  });
});

describe('a call over HTTP', () => {
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer();
    device = await acceptedDevice(server, 'input');
  });

  afterAll(() => server.close());

  it('returns the sentence as the error with status 400', async () => {
    const { token } = device;
    const response = await server.call('get-next-deployment', {
      token,
      query: { device_type: 'b' },
    });
    expect(response.status).toBe(400);
    expect(response.json().error).toBe('query: artifact_name: is required');
  });

  it('ignores body members that the contract does not define', async () => {
    const json = { artifact_name: 'a', device_type: 'b', more: 'c' };
    const { token } = device;
    expect((await server.call('post-next-deployment', { token, json })).status).toBe(204);
    const alert = { device_provides: json, more: { deep: [1] } };
    expect((await server.call('post-next-deployment-v2', { token, json: alert })).status).toBe(204);
  });
});
