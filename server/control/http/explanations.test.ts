import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operations } from '../../../fixtures/contract/operations.ts';
import { linkTo, publish } from '../../testing/test-artifacts.ts';
import { createDeployment } from '../../testing/test-deployments.ts';
import { acceptedDevice, authenticate, decide, signatureOf } from '../../testing/test-device.ts';
import { journalPage } from '../../testing/test-journal.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer({ explainHeader: true });
});

afterEach(() => server.close());

const named = (id: string) => ({ headers: { 'X-SVC-RequestID': id } });

function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const Authorization = `Bearer ${server.controlToken}`;
  return fetch(server.controlUrl + path, { headers: { Authorization, ...headers } });
}

describe('GET /explanations/{requestId}', () => {
  it('explains the newest refusal with this ID', async () => {
    await server.call('get-configuration', named('twice'));
    await server.call('list-users', named('twice'));
    const { status, text } = await control(server, 'GET', '/explanations/twice');
    expect([status, JSON.parse(text).request.operation]).toEqual([200, 'list-users']);
  });

  it('does not suggest a login to a device that sends an authentication request', async () => {
    const device = await acceptedDevice(server, 'FB-1');
    const explained = async (id: string) =>
      JSON.parse((await control(server, 'GET', `/explanations/${id}`)).text);
    await authenticate(server, device, {
      ...named('signed'),
      signature: signatureOf('x', device.privateKey),
    });
    const { before, diagnosis } = await explained('signed');
    expect([before, diagnosis.cause]).toEqual([undefined, 'unexplained']);
    expect(diagnosis.remedy).toContain('compare it with the body');
    await decide(server, device, 'rejected');
    await authenticate(server, device, named('rejected'));
    expect((await explained('rejected')).before).toMatch(
      /^nothing is wrong with the request, but a user has rejected the device; to allow it again, run "npx fleetbed accept /,
    );
  });

  it('says after how many bytes a download was cut off', async () => {
    const device = await acceptedDevice(server, 'FB-1');
    const content = randomBytes(8_000_000);
    const id = await publish(server, { files: [{ name: 'app.bin', content }] });
    await createDeployment(server, [device], { artifact_name: 'release-1' });
    const { uri } = await linkTo(server, device.token, id);
    const download = request(uri, { agent: false });
    download.end();
    const [response] = (await once(download, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    download.destroy();
    await control(server, 'GET', '/await?operation=download-artifact&whole=true&after=0');
    const { entries } = await journalPage(server, 'operation=download-artifact');
    const { text } = await control(server, 'GET', `/explanations/${entries[0]?.requestId}`);
    expect(JSON.parse(text).error).toMatch(
      /it was answered with 200, and the connection was closed after [\d,]+ bytes of the body$/,
    );
  });

  it('names the rule and the requirements of the contract for it', async () => {
    await server.call('get-configuration', named('rule'));
    const { text } = await control(server, 'GET', '/explanations/rule');
    expect(JSON.parse(text)).toMatchObject({
      request: { operation: 'get-configuration', heading: 'Device configuration' },
      rule: {
        heading: 'Authentication',
        requirements: expect.arrayContaining(['tokens.missing-is-401']),
      },
      problem: { path: 'header.Authorization', expected: 'Bearer <token>', actual: 'nothing' },
    });
  });

  it.each([
    ['text/plain', /^text\/plain/, /^request ID {2}shown at .*\ncommand\n.*curl .*\n$/s],
    ['application/json', /^application\/json/, /^\{"requestId":"shown"/],
    ['*/*', /^application\/json/, /^\{"requestId":"shown"/],
  ])('answers in the requested format: %s', async (accept, type, form) => {
    await server.call('get-configuration', named('shown'));
    const response = await ask('/explanations/shown', { Accept: accept });
    expect(response.headers.get('content-type')).toMatch(type);
    expect(await response.text()).toMatch(form);
  });

  it('accepts IDs of any printable characters', async () => {
    const id = 'a/b?c#d%2F "e" \'f\'';
    await server.call('get-configuration', named(id));
    const { text } = await control(server, 'GET', `/explanations/${encodeURIComponent(id)}`);
    expect(JSON.parse(text).requestId).toBe(id);
  });

  it("states the journal's bounds for an unknown request", async () => {
    const { status, text } = await control(server, 'GET', '/explanations/unknown');
    expect([status, JSON.parse(text).error]).toEqual([
      404,
      expect.stringMatching(
        /^no request with this ID is in the journal, .* 10000 exchanges and \d+ bytes/,
      ),
    ]);
  });

  it('reports a request that was not refused', async () => {
    const authorization = Buffer.from(`${server.adminEmail}:${server.adminPassword}`);
    const Authorization = `Basic ${authorization.toString('base64')}`;
    const { headers } = named('good');
    await server.call('login', { headers: { ...headers, Authorization } });
    const { status, text } = await control(server, 'GET', '/explanations/good');
    expect([status, JSON.parse(text).error]).toEqual([
      404,
      'the request was not refused; it was answered with 200',
    ]);
  });

  it('searches every tenant, or the named tenant only', async () => {
    const otherTenant = await secondTenant(server, 'Other');
    const call = { token: otherTenant.token, parameters: { id: 'nobody' }, ...named('in-other') };
    await server.call('get-user', call);
    const path = '/explanations/in-other';
    const { text } = await control(server, 'GET', path);
    expect(JSON.parse(text).tenant).toBe('Other');
    expect((await control(server, 'GET', `${path}?tenant=Other`)).status).toBe(200);
    expect((await control(server, 'GET', `${path}?tenant=Default`)).status).toBe(404);
    expect((await control(server, 'GET', `${path}?tenant=none`)).status).toBe(404);
  });

  it('returns 401 without the control token', async () => {
    await server.call('get-configuration', named('closed'));
    const response = await ask('/explanations/closed', { Authorization: 'Bearer other' });
    expect(response.status).toBe(401);
  });

  it('returns 405 to any POST request', async () => {
    expect((await control(server, 'POST', '/explanations/closed')).status).toBe(405);
  });
});

describe('the explanation header of refused responses', () => {
  const locationIn = (response: TestResponse) => response.headers.get('X-SVC-Testbed-Explain');

  it('links to the explanation', async () => {
    const id = 'a b/c';
    const response = await server.call('get-configuration', named(id));
    expect(locationIn(response)).toBe(`${server.controlUrl}/#request=a%20b%2Fc`);
    const explained = await ask(`/explanations/${encodeURIComponent(id)}`);
    expect(await explained.json()).toMatchObject({ requestId: id, status: 401 });
  });

  it('is set for an unknown path, and not on successful responses', async () => {
    expect(locationIn(await server.request('GET', '/nowhere'))).not.toBeNull();
    const path = operations['get-configuration'].path;
    expect(locationIn(await server.request('OPTIONS', path))).toBeNull();
  });

  it('is set only when the server is configured to send it', async () => {
    const plain = await startTestServer();
    expect(locationIn(await plain.call('get-configuration'))).toBeNull();
    await plain.close();
  });
});

describe('the log line of a refused request', () => {
  it('states the cause and where to read the explanation', async () => {
    const written: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    const talking = await startTestServer({ logLevel: 'info' });
    await talking.call('get-configuration', named("it's"));
    await talking.request('GET', '/nowhere', named('lost'));
    const form = new FormData();
    form.append('artifact', new Blob(['not an artifact']), 'release.mender');
    const upload = { ...named('form'), token: talking.adminToken, body: form };
    await talking.call('upload-artifact', upload);
    await talking.close();
    vi.restoreAllMocks();
    const path = operations['get-configuration'].path;
    expect(written.filter((line) => line.includes('401 GET'))).toEqual([
      `[info] 401 GET ${path}: the Authorization header is missing [header.Authorization: expected Bearer <token>, got nothing] (it's); explain with: npx fleetbed explain 'it'\\''s'\n`,
    ]);
    expect(written.join('')).toContain('(lost); explain with: npx fleetbed explain lost\n');
    expect(written.join('')).toContain(' [form.artifact] (form); explain with: ');
  });
});

describe('GET /explanations?device=', () => {
  it('explains before the first contact how to connect a device', async () => {
    const { status, text } = await control(server, 'GET', '/explanations?device=02:00:00:00:00:01');
    expect([status, text]).toEqual([
      404,
      expect.stringContaining('send an authentication request to the API, or run'),
    ]);
  });
});
