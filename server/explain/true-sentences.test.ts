import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { linkTo, publish } from '../testing/test-artifacts.ts';
import { createDeployment } from '../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  newDevice,
} from '../testing/test-device.ts';
import { explanationOf } from '../testing/test-explanations.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'explained');
});

afterAll(() => server.close());

function openSocket(): WebSocket {
  const headers = { Authorization: `Bearer ${device.token}` };
  return new WebSocket(server.baseUrl.replace('http', 'ws') + operations.connect.path, { headers });
}

async function explanationAt(method: string, path: string, call: TestCall = {}) {
  return explanationOf(server, await server.request(method, path, call));
}

const configurationPath = operations['put-configuration'].path;
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('the explanation of a body that is not JSON', () => {
  it.each([
    ['downloading', 'breaks at position 0, near downloadin: the word downloading'],
    ['{"a":NaN}', 'breaks at position 5, near {"a":NaN}: NaN is not a JSON number'],
    ['{"a":"1",}', 'breaks at position 9, near {"a":"1",}: a comma before the closing }'],
    ['{"a":"x\ny"}', 'breaks at position 7, near {"a":"x\\u{a}y"}: a raw line feed'],
    [`{"${'y'.repeat(300)}": installing}`, 'breaks at position 305, near yyyyyyy": installing'],
    ['{"a":tru', 'ends too early: it is cut off with 1 of its { and [ open'],
    ['["x', 'ends too early: it is cut off within a string'],
  ])('names the place of the problem: %j', async (body, location) => {
    const call = { token: device.token, headers: JSON_TYPE, body };
    const { problem } = await explanationAt('PUT', configurationPath, call);
    expect(problem.actual).toContain(`text that is not JSON: it ${location}`);
  });
});

function tokenHeader(alg: string): string {
  return Buffer.from(JSON.stringify({ alg, typ: 'JWT' })).toString('base64url');
}

describe('the 401 response for a missing or misplaced token', () => {
  it.each<[string, (token: string) => TestCall, string]>([
    ['cut off', (token) => ({ token: token.slice(0, 60) }), 'it is cut off after 60 characters'],
    ['a word', () => ({ token: 'undefined' }), 'it is the text "undefined"'],
    ['with more', (token) => ({ token: `${token}\\n` }), '"\\n" follows it'],
    ['of no algorithm', () => ({ token: `${tokenHeader('none')}.e30.` }), 'it is not signed'],
    [
      'of another',
      (token) => ({ token: token.replace(/^[^.]+/, tokenHeader('HS256')) }),
      'alg is "HS256"',
    ],
    ['in a header', (token) => ({ headers: { 'X-Token': token } }), 'in the header X-Token'],
    ['in a cookie', (token) => ({ headers: { Cookie: `t=${token}` } }), 'in the cookie t'],
  ])('names the cause: %s', async (_, callOf, text) => {
    const response = await server.request('GET', configurationPath, callOf(device.token));
    expect([response.status, response.json().error]).toEqual([401, expect.stringContaining(text)]);
    expect(response.text).not.toContain(device.token.slice(0, 60));
  });

  it('names a token in the query or in a second header', async () => {
    const inQuery = await server.request('GET', `${configurationPath}?jwt=${device.token}`, {});
    expect(inQuery.json().error).toContain('a token was sent in the query parameter jwt');
    const twice = ['Authorization: Bearer x', `Authorization: Bearer ${device.token}`];
    const { body } = await sendRaw(server, rawRequest(`GET ${configurationPath}`, twice));
    expect(JSON.parse(body).error).toContain('more than once, and the first counts');
  });
});

describe('the explanation of a valid token in a wrong header', () => {
  it.each<[string, (token: string) => Record<string, string>, string]>([
    [
      'in quotes',
      (token) => ({ Authorization: `Bearer "${token}"` }),
      'remove the quotation marks',
    ],
    ['bare', (token) => ({ Authorization: token }), 'put "Bearer " before'],
    ['of JWT', (token) => ({ Authorization: `JWT ${token}` }), 'use Bearer as the scheme'],
    ['of Basic', () => ({ Authorization: 'Basic ZGV2aWNlOng=' }), 'send "Bearer " and the token'],
    ['twice', (token) => ({ Authorization: `Bearer Bearer ${token}` }), 'write "Bearer " once'],
    ['of none', () => ({ Authorization: 'Bearer ' }), 'put the token after "Bearer "'],
  ])(
    'names the correction of the header and proposes no new token: %s',
    async (_, headersOf, first) => {
      const explained = await explanationAt('GET', configurationPath, {
        headers: headersOf(device.token),
      });
      expect([explained.status, explained.problem.path]).toEqual([401, 'header.Authorization']);
      expect(explained.before).toContain(first);
      expect(explained.command).not.toContain(operations['post-auth-request'].path);
    },
  );

  it('names the cookie where it counts and where not', async () => {
    const headers = { Cookie: 'JWT=a.b.c' };
    const connect = await explanationAt('GET', operations.connect.path, { headers });
    expect(connect.problem.path).toBe('header.Cookie');
    const next = await explanationAt('GET', operations['get-next-deployment'].path, { headers });
    expect(next.problem.actual).toContain(
      'the cookie JWT is accepted only from users and at /connect',
    );
  });
});

describe('the explanation for a device that lost its acceptance', () => {
  it('says how to be accepted again, and the journal has the refusal', async () => {
    const own = await acceptedDevice(server, 'rejected');
    await decide(server, own, 'rejected');
    const { before } = await explanationAt('GET', configurationPath, { token: own.token });
    expect(before).toMatch(
      new RegExp(`^a user has rejected .* run "npx fleetbed accept ${own.id}", then authenticate`),
    );
    const { entries } = await journalPage(server, `device=${own.id}&operation=get-configuration`);
    expect(entries).toHaveLength(1);
  });
});

it('the explanation of a diagnosed signature gives no contradictory general advice', async () => {
  const response = await authenticate(server, device, { signature: '00'.repeat(64) });
  expect(response.status).toBe(401);
  expect(await explanationOf(server, response)).not.toMatchObject({
    diagnosis: expect.anything(),
    first: expect.anything(),
  });
});

describe('the explanation for a valid artifact link', () => {
  it.each([
    [
      416,
      { Range: 'bytes=99999999-' },
      'header.Range',
      /FIRST at most LAST and below \d+, the size/,
    ],
    [412, { 'If-Match': '"another"' }, 'header.If-Match', /^"[0-9a-f]{64}" or \*$/],
    [
      412,
      { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
      'header.If-Unmodified-Since',
      /GMT or later$/,
    ],
  ])('proposes no new link after a %i: %j', async (status, headers, path, expected) => {
    const id = await publish(server, { name: `release-${status}-${path.length}` });
    await createDeployment(server, [device]);
    const { uri } = await linkTo(server, device.token, id);
    const explained = await explanationAt('GET', uri.slice(server.baseUrl.length), { headers });
    expect([explained.status, explained.problem.path]).toEqual([status, path]);
    expect(explained.problem.expected).toMatch(expected);
    expect(explained.before).toMatch(/^send it again without .*the link is valid\b/);
  });
});

describe('the explanation of a second key of a device', () => {
  it('states its effect on the first and does not accept it', async () => {
    const own = await acceptedDevice(server, 'two keys');
    const second = { ...newDevice('two keys'), idData: own.idData };
    const explained = await explanationOf(server, await authenticate(server, second));
    expect([explained.status, explained.isUnchanged]).toEqual([401, true]);
    expect(explained.before).toMatch(
      /^authenticate with the accepted key .* ends the access of the other/,
    );
    expect(explained.command).not.toContain('"status":"accepted"');
  });

  it('says that nothing is to be done if already accepted', async () => {
    const own = await acceptedDevice(server, 'one key');
    const path = managementOperations['preauthorize-device'].path;
    const json = { identity_data: JSON.parse(own.idData), pubkey: own.publicKeyPem };
    const { status, before } = await explanationAt('POST', path, {
      token: server.adminToken,
      json,
    });
    expect([status, before]).toEqual([409, expect.stringMatching(/^nothing to do/)]);
  });
});

describe('the explanation of a malformed form', () => {
  it('reports a field in the wrong place when it follows the file', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ name: 'r', type: 'single-file' })) {
      form.append(name, value);
    }
    form.append('file', new Blob(['x']), 'x');
    form.append('device_types_compatible', 'board');
    const path = managementOperations['generate-artifact'].path;
    const { problem } = await explanationAt('POST', path, { token: server.adminToken, body: form });
    expect(problem).toMatchObject({
      path: 'form.device_types_compatible',
      expected: expect.stringMatching(/in a part before that of the file$/),
      actual: 'no such part before the file',
    });
  });
});

it('a compressed body is explained with the name of the compression', async () => {
  const call = { token: device.token, headers: JSON_TYPE, body: gzipSync('{}') };
  const { problem, before } = await explanationAt('PUT', configurationPath, call);
  expect([problem.actual, before]).toEqual([
    'bytes compressed with gzip',
    expect.stringMatching(/^send the body uncompressed/),
  ]);
});

it('a wrong ID in a report is explained with the object that it names', async () => {
  const artifactId = await publish(server, { name: 'release-named' });
  const release = { artifact_name: 'release-named' };
  const own = await acceptedDevice(server, 'reports');
  const idOf = async (targetDevice: AcceptedDevice) => {
    const { headers } = await createDeployment(server, [targetDevice], {
      ...release,
      name: targetDevice.id,
    });
    return `${headers.get('location')?.split('/').at(-1)}`;
  };
  const ids: readonly (readonly [string, RegExp])[] = [
    [artifactId, /the ID of an artifact; that of a deployment is the member id/],
    [own.id, /the ID of the device itself/],
    ['release-named', /the name of an artifact; that of a deployment/],
    ['release-of-nobody', /, which is not a UUID; that of a deployment/],
    ['{id}', /a placeholder, as of a variable that is not set/],
    [await idOf(own), /a deployment for this device that it was not offered yet/],
    [await idOf(device), /a deployment for other devices/],
  ];
  for (const [id, text] of ids) {
    const path = pathOf(operations['put-deployment-status'], { id });
    const call = { token: own.token, headers: JSON_TYPE, body: '{"status":"installing"}' };
    const { status, problem } = await explanationAt('PUT', path, call);
    expect([status, problem.actual]).toEqual([404, expect.stringMatching(text)]);
  }
});

it('an artifact in use is explained with the deployment that uses it', async () => {
  const id = await publish(server, { name: 'release-used' });
  const deployed = await createDeployment(server, [device], { artifact_name: 'release-used' });
  const path = managementOperations['delete-artifact'].path.replace('{id}', id);
  const { problem } = await explanationAt('DELETE', path, { token: server.adminToken });
  expect(problem.actual).toBe(
    `one of the deployment ${deployed.headers.get('location')?.split('/').at(-1)}`,
  );
});

it('a link that was escaped is explained with the way in which it was escaped', async () => {
  const id = await publish(server, { name: 'release-escaped' });
  await createDeployment(server, [device], { artifact_name: 'release-escaped' });
  const { uri } = await linkTo(server, device.token, id);
  const path = uri.slice(server.baseUrl.length);
  for (const escaped of ['&amp;', '%26', '\\u0026', '%5Cu0026']) {
    const { before } = await explanationAt('GET', path.replaceAll('&', escaped));
    expect(before).toMatch(/^read the link with a JSON parser/);
  }
  const twice = path.replaceAll('%', '%25');
  for (const escaped of [twice, twice.replace('?', '%3F'), encodeURI(path).replace('?', '%3F')]) {
    const { before } = await explanationAt('GET', escaped);
    expect(before).toBe('send the link unchanged: it was URL-encoded a second time');
  }
});

it('a value of null is explained with the way to remove a key', async () => {
  const call = { token: device.token, json: { timezone: null } };
  const { before } = await explanationAt('PUT', configurationPath, call);
  expect(before).toBe('to remove a key, send an empty string as its value');
});

describe('the explanation of a request beyond a limit', () => {
  it.each<[string, string, unknown, string, string]>([
    [
      'PUT',
      configurationPath,
      { a: 'x'.repeat(5000) },
      'at most 4096 characters',
      '5000 characters',
    ],
    [
      'PUT',
      configurationPath,
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, 'v'])),
      'at most 100 keys',
      '101 keys',
    ],
  ])('states limit and actual number: %s %s', async (method, path, json, expected, actual) => {
    const { problem } = await explanationAt(method, path, { token: device.token, json });
    expect(problem.expected?.replace(',', '')).toContain(expected);
    expect(problem.actual).toBe(actual);
  });
});

it('a device that is not connected is explained with the advice to wait', async () => {
  const path = managementOperations['check-device-update'].path.replace('{id}', device.id);
  const { before } = await explanationAt('POST', path, { token: server.adminToken });
  expect(before).toBe('wait until its WebSocket is open, and send the request again');
});

it("a refusal by a planned fault is explained with the fault's name", async () => {
  const act = { kind: 'respond', status: 502 };
  const rules = [{ id: 'planned', match: { operation: 'get-configuration' }, act, times: 'once' }];
  await control(server, 'POST', '/faults', { rules });
  const response = await server.call('get-configuration', { token: device.token });
  await expect(explanationOf(server, response)).rejects.toThrow(
    /met the planned fault \\"planned\\" \(respond\); it was answered with 502/,
  );
});

it('a WebSocket that ends after a text frame names that frame as the reason', async () => {
  const socket = openSocket();
  await once(socket, 'open');
  socket.send('hello');
  const [code, reason] = await once(socket, 'close');
  expect([code, String(reason)]).toEqual([
    1003,
    expect.stringMatching(/^a text frame: send a bin/),
  ]);
});

it("the command for a WebSocket warns that it closes the device's current one", async () => {
  const { before } = await explanationAt('GET', operations.connect.path, { token: device.token });
  expect(before).toMatch(/opens a new WebSocket, which closes the current one/);
});

it('the journal records the code with which the server closed a WebSocket', async () => {
  const socket = openSocket();
  await once(socket, 'open');
  socket.send(Buffer.from([0xc1]));
  await once(socket, 'close');
  const { entries } = await journalPage(server, `device=${device.id}&kind=frame`);
  expect(entries.at(-1)).toMatchObject({ opcode: 'close', from: 'server', code: 1011 });
});

it('a status in other letter case breaks no rule about its type', async () => {
  const path = pathOf(operations['put-deployment-status'], { id: randomUUID() });
  const requirementsOf = async (status: unknown) => {
    const call = { token: device.token, headers: JSON_TYPE, body: JSON.stringify({ status }) };
    return (await explanationAt('PUT', path, call)).rule.requirements;
  };
  expect(await requirementsOf(5)).toEqual(['status.is-string']);
  expect(await requirementsOf('Downloading')).toEqual(['status.other-values-are-400']);
});

describe('the explanation of a write that would lose data', () => {
  it('says of PUT that it replaces all attributes', async () => {
    const { path } = operations['put-attributes'];
    const call = { token: device.token, headers: JSON_TYPE, body: '{"mem":"1"}' };
    const { before, correctedRequest } = await explanationAt('PUT', path, call);
    expect(before).toContain('PUT replaces everything');
    expect(correctedRequest?.body).toBe('[{"name":"mem","value":"1"}]');
  });

  it('proposes no command after another write', async () => {
    const path = pathOf(managementOperations['replace-tags'], { id: device.id });
    const headers = { ...JSON_TYPE, 'If-Match': '"old"' };
    const body = '[{"name":"site","value":"b"}]';
    const { status, command, before } = await explanationAt('PUT', path, {
      token: server.adminToken,
      headers,
      body,
    });
    expect([status, command]).toEqual([412, undefined]);
    expect(before).toMatch(/^read the resource again/);
  });

  it('keeps the content of an unknown member', async () => {
    const { path } = managementOperations['create-deployment'];
    const map = { ArtifactInstall_Enter: { action: 'pause' } };
    const json = { name: 'n', artifact_name: 'a', all_devices: true, update_control_map: map };
    const { correctedRequest } = await explanationAt('POST', path, {
      token: server.adminToken,
      json,
    });
    expect(correctedRequest?.body).toBe('@$BODY_FILE');
  });
});
