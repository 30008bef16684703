import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOfLife } from '../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { artifactBytes, linkTo, publish } from '../testing/test-artifacts.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  nextRequests,
  report,
} from '../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  newDevice,
  type TestDevice,
} from '../testing/test-device.ts';
import { correctedOf, explanationOf, runInBash } from '../testing/test-explanations.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';
import { control, loggedInUser, secondTenant, testPassword } from '../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;
let folder: string;
let artifactId: string;
let count = 0;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: testPassword });
  device = await acceptedDevice(server, 'commands', 'ecdsa');
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
  artifactId = await publish(server);
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function keyFile({ privateKey }: TestDevice): Promise<string> {
  count += 1;
  const file = join(folder, `${count}.pem`);
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return file;
}

async function bodyFile(json: unknown): Promise<string> {
  count += 1;
  const file = join(folder, `${count}.json`);
  await writeFile(file, JSON.stringify(json));
  return file;
}

/** Runs the command of a refusal's explanation with the values that a reader would set. */
async function commandAfter(
  response: TestResponse,
  variables: Readonly<Record<string, string>> = {},
) {
  const explanation = await correctedOf(server, response);
  const known = { URL: server.baseUrl, TOKEN: device.token, PASSWORD: testPassword, ...variables };
  const ran = await runInBash(`set -u\n${explanation.command}`, known);
  const given = new Set([...Object.keys(known), 'KEY', 'ID_DATA', 'FILE', 'EMAIL']);
  const unset = Object.keys(explanation.variables).filter((name) => !given.has(name));
  return { explanation, ran, unset };
}

async function expectAfter(
  response: TestResponse,
  {
    refused,
    answered,
    ...variables
  }: { refused: number; answered: number } & Record<string, unknown>,
): Promise<void> {
  expect([response.status, response.text]).toEqual([refused, response.text]);
  const { ran, explanation, unset } = await commandAfter(
    response,
    variables as Readonly<Record<string, string>>,
  );
  expect({ status: ran.status, stderr: ran.stderr, unset, command: explanation.command }).toEqual({
    status: answered,
    stderr: expect.not.stringMatching(/error|not found|syntax/i),
    unset: [],
    command: explanation.command,
  });
}

const statusPath = (id: string): string =>
  operations['put-deployment-status'].path.replace('{id}', id);

describe('the proposed command for a malformed request', () => {
  it.each<[string, unknown]>([
    ['a wrong member', [{ name: 'kernel', value: true }]],
    ['a missing member', [{ name: 'it\'s $(x) `y` "z" \\ !' }]],
    ['another kind', { name: 'kernel', value: '1' }],
    ['text that looks like a variable', [{ name: `$NONE it's "$OTHER"` }]],
    ['an invisible character beside a quote and a variable', [{ name: `\u202eit's $NONE` }]],
  ])('sends a valid body: %s', async (_, json) => {
    const response = await server.call('patch-attributes', { token: device.token, json });
    await expectAfter(response, { refused: 400, answered: 200, VALUE_0: '"any"' });
  });

  it.each(['{"a":', 'a=b', ''])('sends a file in place of the body %j', async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await server.call('put-attributes', { token: device.token, headers, body });
    const BODY_FILE = await bodyFile([{ name: 'kernel', value: '1' }]);
    await expectAfter(response, { refused: 400, answered: 200, BODY_FILE });
  });

  it('sends a valid query', async () => {
    const response = await server.call('get-next-deployment', {
      token: device.token,
      query: { device_type: "b[1-3]{a,b}'&$(x)" },
    });
    const ARTIFACT_NAME = 'release 0&more=[1]';
    await expectAfter(response, { refused: 400, answered: 204, ARTIFACT_NAME });
  });

  it('opens a WebSocket with a complete handshake', async () => {
    const response = await server.call('connect', { token: device.token });
    await expectAfter(response, { refused: 400, answered: 101 });
  }, 15_000);

  it('sends JSON with the JSON media type', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    const call = { token: device.token, headers, body: '{"speed":"9600"}' };
    const response = await server.call('put-configuration', call);
    await expectAfter(response, { refused: 415, answered: 204 });
  });

  it('sends a file where the body was too large to record', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1_048_576) });
    const headers = { 'Content-Type': 'application/json' };
    const response = await server.call('put-configuration', { token: device.token, headers, body });
    const BODY_FILE = await bodyFile({ text: 'less' });
    await expectAfter(response, { refused: 413, answered: 204, BODY_FILE });
  });
});

it('the command defines all known values and names those that the reader must set', async () => {
  const response = await authenticate(server, device, { signature: null });
  const { command } = await correctedOf(server, response);
  const ran = await runInBash(`set -u; KEY=${await keyFile(device)}\n${command}`);
  expect([ran.status, ran.stderr]).toEqual([200, expect.not.stringMatching(/unbound|error/i)]);
  const wrong = await server.call('put-configuration', { token: device.token, json: { a: 1 } });
  const { stderr } = await runInBash((await correctedOf(server, wrong)).command);
  expect(stderr).toMatch(/TOKEN: set TOKEN to the token of the device or user/);
});

it.each(keyTypes)(
  'the command for a malformed %s public key names the file with the key',
  async (type) => {
    const own = await acceptedDevice(server, `malformed ${type}`, type);
    const pubkey = own.publicKeyPem.slice(0, -40);
    const body = JSON.stringify({ id_data: own.idData, pubkey });
    const response = await authenticate(server, own, { body });
    const { command, variables } = await correctedOf(server, response);
    expect(variables).toHaveProperty('KEY');
    const ran = await runInBash(`set -u; KEY=${await keyFile(own)}\n${command}`);
    expect([response.status, ran.status, ran.stderr]).toEqual([400, 200, '']);
  },
);

it.each([
  ['{"iccid":89490200001234567890}', '@$BODY_FILE'],
  ['{"version":1.10}', '@$BODY_FILE'],
  ['{"text":"89490200001234567890","speed":96}', '{"text":"89490200001234567890","speed":"96"}'],
])('the command sends numbers with the digits that they came in: %s', async (body, expected) => {
  const headers = { 'Content-Type': 'application/json' };
  const response = await server.call('put-configuration', { token: device.token, headers, body });
  expect((await correctedOf(server, response)).correctedRequest.body).toBe(expected);
});

describe('the proposed command for a request that found nothing', () => {
  it('requests the nearest known path', async () => {
    const path = operations['put-configuration'].path.replace('deviceconfig', 'device-config');
    const call = { token: device.token, json: { speed: '9600' } };
    const BODY_FILE = await bodyFile(call.json);
    const response = await server.request('PUT', path, call);
    await expectAfter(response, { refused: 404, answered: 204, BODY_FILE });
  });

  it('uses a method that the path supports', async () => {
    const response = await server.request('DELETE', operations['get-configuration'].path);
    await expectAfter(response, { refused: 405, answered: 200 });
  });

  it('lists the existing resources when an ID is unknown', async () => {
    const call = { token: device.token, json: { status: 'success' } };
    const response = await server.request('PUT', statusPath('nothing'), call);
    const values = { ARTIFACT_NAME: 'release-0', DEVICE_TYPE: 'board' };
    await expectAfter(response, { refused: 404, answered: 204, ...values });
    const user = await server.call('get-user', {
      token: server.adminToken,
      parameters: { id: 'nobody' },
    });
    await expectAfter(user, { refused: 404, answered: 200, TOKEN: server.adminToken });
  });
});

describe('the proposed command for a request without a valid token', () => {
  it('gets a token with the key of the device', async () => {
    const response = await server.call('get-configuration');
    const KEY = await keyFile(device);
    await expectAfter(response, { refused: 401, answered: 200, KEY, ID_DATA: device.idData });
  });

  it('quotes the identity that the reader sets in the body', async () => {
    const body = JSON.stringify({ id_data: 'mac=1', pubkey: device.publicKeyPem });
    const response = await authenticate(server, device, { body });
    const KEY = await keyFile(device);
    await expectAfter(response, { refused: 400, answered: 200, KEY, ID_DATA: device.idData });
  });

  it.each(['say "hi"', 'a\\b', "it's $(x) & more"])(
    'puts any text safely into a body: %s',
    async (text) => {
      const response = await server.call('put-configuration', {
        token: device.token,
        json: { a: null },
      });
      await expectAfter(response, { refused: 400, answered: 204, VALUE_A: text });
      const stored = await server.call('get-configuration', { token: device.token });
      expect(stored.json()).toMatchObject({ a: text });
    },
  );

  it.each(keyTypes)('replaces a revoked token using a key of %s', async (type) => {
    const own = await acceptedDevice(server, `revoked '${type}"\\`, type);
    const parameters = { jti: own.authSetId };
    await server.call('revoke-token', { token: server.adminToken, parameters });
    const response = await server.call('get-configuration', { token: own.token });
    await expectAfter(response, { refused: 401, answered: 200, KEY: await keyFile(own) });
  });

  it('gets a token of the same tenant', async () => {
    const tenant = await secondTenant(server, 'Others');
    const own = newDevice('of-others');
    const body = JSON.stringify({
      id_data: own.idData,
      pubkey: own.publicKeyPem,
      tenant_token: tenant.tenantToken,
    });
    const pending = await authenticate(server, own, { body });
    const { explanation } = await commandAfter(pending);
    expect(explanation.command).not.toContain(tenant.tenantToken);
    expect(explanation.variables).toHaveProperty('TENANT_TOKEN');
    const ran = await runInBash(explanation.command, {
      URL: server.baseUrl,
      KEY: await keyFile(own),
      TENANT_TOKEN: tenant.tenantToken,
      EMAIL: tenant.adminEmail,
      PASSWORD: tenant.adminPassword,
    });
    expect([ran.status, ran.stderr]).toEqual([200, '']);
  });

  it('logs in as a user with the permission', async () => {
    const roles = ['RBAC_ROLE_CI'];
    const user = await loggedInUser(server, 'ci@first.example', { roles });
    const response = await server.call('list-devices', { token: user.token });
    const { ran } = await commandAfter(response);
    expect(ran.stderr).toContain('set EMAIL to the email address of a user who may do this');
    const EMAIL = server.adminEmail;
    await expectAfter(response, { refused: 403, answered: 200, EMAIL });
  });

  it('logs in with the correct password', async () => {
    const authorization = `Basic ${Buffer.from('admin@example.com:wrong').toString('base64')}`;
    const response = await server.call('login', { headers: { Authorization: authorization } });
    await expectAfter(response, { refused: 401, answered: 200 });
  });
});

describe('the proposed command for an authentication request', () => {
  it.each(keyTypes)('signs exactly the bytes of the body: %s', async (type) => {
    const own = await acceptedDevice(server, `signs '${type}" $(x)`, type);
    const body = `{ "id_data": ${JSON.stringify(own.idData)},\r\n\t"pubkey":${JSON.stringify(own.publicKeyPem)} }\n`;
    const response = await authenticate(server, own, { body, signature: 'bm90aGluZw==' });
    await expectAfter(response, { refused: 401, answered: 200, KEY: await keyFile(own) });
  });

  it('adds a missing signature', async () => {
    const response = await authenticate(server, device, { signature: null });
    await expectAfter(response, { refused: 400, answered: 200, KEY: await keyFile(device) });
  });

  it.each(keyTypes)('sends the public key in the required format: %s', async (type) => {
    const own = await acceptedDevice(server, `form of ${type}`, type);
    const pubkey = own.publicKeyPem.replaceAll('PUBLIC', 'RSA PUBLIC');
    const body = JSON.stringify({ id_data: own.idData, pubkey });
    const response = await authenticate(server, own, { body });
    await expectAfter(response, { refused: 400, answered: 200, KEY: await keyFile(own) });
  });

  it('accepts a device that waits for acceptance', async () => {
    const own = newDevice('waits');
    const response = await authenticate(server, own);
    await expectAfter(response, { refused: 401, answered: 200, KEY: await keyFile(own) });
  });
});

describe('the proposed command for a request that the state forbids', () => {
  it('polls again when the device has finished the current deployment', async () => {
    const id = await deploy(server, [device]);
    await nextRequests['GET v1'](server, device.token, board);
    await abort(server, id);
    await expectAfter(await report(server, device, { id, status: 'success' }), {
      refused: 409,
      answered: 204,
    });
  });

  it('uses another name when the name is taken', async () => {
    const call = { token: server.adminToken, json: { name: 'twice' } };
    await server.call('create-personal-token', call);
    const response = await server.call('create-personal-token', call);
    const taken = { TOKEN: server.adminToken, VALUE_NAME: 'once' };
    await expectAfter(response, { refused: 409, answered: 200, ...taken });
  });

  it('lists the deployments when the same one already exists', async () => {
    const own = await acceptedDevice(server, 'deployed');
    await deploy(server, [own]);
    const response = await createDeployment(server, [own]);
    await expectAfter(response, { refused: 409, answered: 200, TOKEN: server.adminToken });
  });

  it('names the devices for a deployment to an unknown device', async () => {
    const response = await createDeployment(server, [
      { id: '00000000-0000-4000-8000-000000000000' },
    ]);
    const chosen = { TOKEN: server.adminToken, DEVICE_ID: device.id };
    await expectAfter(response, { refused: 400, answered: 201, ...chosen });
  });

  it('deploys to a single device named without a list', async () => {
    const own = await acceptedDevice(server, 'alone');
    const { adminToken: token } = server;
    const body = (devices: unknown) => ({ name: 'to one', artifact_name: 'release-1', devices });
    for (const [devices, expected] of [
      [own.id, [own.id]],
      [[], ['$DEVICE_ID']],
      [undefined, ['$DEVICE_ID']],
    ]) {
      const response = await server.call('create-deployment', { token, json: body(devices) });
      const { correctedRequest } = await correctedOf(server, response);
      expect(JSON.parse(correctedRequest.body ?? '')).toEqual(body(expected));
    }
  });

  it('keeps the body that only another user may send', async () => {
    const { token } = await loggedInUser(server, 'reader@first.example', {
      roles: ['RBAC_ROLE_OBSERVER'],
    });
    const json = { name: 'kept', artifact_name: 'release-1', devices: [device.id] };
    const response = await server.call('create-deployment', { token, json });
    const { correctedRequest, before } = await correctedOf(server, response);
    expect([response.status, before]).toEqual([403, expect.stringMatching(/another user/)]);
    expect(correctedRequest.body).toBe('@$BODY_FILE');
  });

  it('reads a better password from a variable', async () => {
    const json = { email: 'new@first.example', password: 'short' };
    const response = await server.call('create-user-v1', { token: server.adminToken, json });
    const chosen = { TOKEN: server.adminToken, USER_PASSWORD: 'a long password of a user' };
    await expectAfter(response, { refused: 422, answered: 201, ...chosen });
  });

  it('sends a multipart form where the request had none', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: server.adminToken, headers, body: '{}' };
    const response = await server.call('upload-artifact', call);
    const FILE = join(folder, 'new.mender');
    await writeFile(FILE, await artifactBytes({ name: 'release-of-form' }));
    await expectAfter(response, { refused: 415, answered: 201, FILE, TOKEN: server.adminToken });
    const generated = await server.call('generate-artifact', call);
    await expectAfter(generated, {
      refused: 415,
      answered: 201,
      FILE,
      TOKEN: server.adminToken,
      ARTIFACT_NAME: 'generated',
      DEVICE_TYPES: 'board,other',
      DEST_DIR: '/opt/app',
    });
  });

  it('names the destination of a single file on the device', async () => {
    const body = new FormData();
    const fields = { name: 'nowhere', device_types_compatible: 'board', type: 'single-file' };
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const FILE = join(folder, 'motd');
    await writeFile(FILE, 'hello');
    body.append('file', new Blob(['hello']), 'motd');
    const response = await server.call('generate-artifact', { token: server.adminToken, body });
    await expectAfter(response, {
      refused: 400,
      answered: 201,
      FILE,
      TOKEN: server.adminToken,
      ARTIFACT_NAME: 'somewhere',
      DEVICE_TYPES: 'board',
      DEST_DIR: '/etc',
    });
  });

  it('sets another status when the requested one does not exist', async () => {
    const response = await decide(server, device, 'sleeping');
    const chosen = { TOKEN: server.adminToken, VALUE_STATUS: 'accepted' };
    await expectAfter(response, { refused: 400, answered: 204, ...chosen });
  });
});

describe('the proposed command for an artifact link', () => {
  it('asks for a new link when the link was changed', async () => {
    const { uri } = await linkTo(server, device.token, artifactId);
    const path = uri.slice(server.baseUrl.length);
    await expectAfter(await server.request('GET', `${path}x`), { refused: 403, answered: 200 });
    await expectAfter(await server.request('GET', path.split('?')[0] ?? ''), {
      refused: 400,
      answered: 200,
    });
  });

  it('asks for a new link when the link has expired', async () => {
    const { uri } = await linkTo(server, device.token, artifactId);
    await control(server, 'POST', '/clock', { advanceSeconds: 2 * 86_400 });
    const response = await server.request('GET', uri.slice(server.baseUrl.length));
    await expectAfter(response, { refused: 403, answered: 200 });
    const { explanation } = await commandAfter(response);
    expect(JSON.stringify(explanation)).not.toContain(
      new URL(uri).searchParams.get('x-svc-signature'),
    );
  });
});

describe('the proposed command for what has expired', () => {
  it("replaces an expired token, also a user's", async () => {
    const own = await acceptedDevice(server, 'expired', 'rsa');
    const users = await server.call('get-configuration', { token: server.adminToken });
    const variables = { KEY: await keyFile(own), ID_DATA: own.idData };
    await expectAfter(users, { refused: 401, answered: 200, ...variables });
    await control(server, 'POST', '/clock', { advanceSeconds: 8 * 86_400 });
    const response = await server.call('get-configuration', { token: own.token });
    await expectAfter(response, { refused: 401, answered: 200, KEY: variables.KEY });
    const user = await server.call('list-users', { token: server.adminToken });
    await expectAfter(user, { refused: 401, answered: 200 });
  });

  it('calls the successor of a retired operation', async () => {
    await control(server, 'POST', '/clock', { now: `${endOfLife}T00:00:00Z` });
    const credentials = `Basic ${Buffer.from(`${server.adminEmail}:${testPassword}`).toString('base64')}`;
    const login = await server.call('login', { headers: { Authorization: credentials } });
    const response = await server.call('list-deployments-v1', { token: login.text });
    await expectAfter(response, { refused: 410, answered: 200, TOKEN: login.text });
    const path = `${managementOperations['list-deployments-v1'].path}?search=spring&odd=1`;
    const searched = await server.request('GET', path, { token: login.text });
    const { correctedRequest } = await explanationOf(server, searched);
    expect(correctedRequest?.path).toMatch(/v2\/deployments\/deployments\?name=spring$/);
  });
});
