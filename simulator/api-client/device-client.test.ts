import { createPublicKey, verify } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type KeyType, keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { StatusError } from '../network/errors.ts';
import { ClientFixture, sessionOf, token } from '../testing/client-fixture.ts';
import { type Responses, StubServer } from '../testing/stub-server.ts';
import { type ClientSession, tokenSubject } from './session.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const granted = () => ({ status: 200, body: token });
const provides = { device_type: 'board', artifact_name: 'r-1', 'rootfs-image.version': 'r-1' };

async function started(responses: Responses, options = {}, keyType: KeyType = 'ed25519') {
  const server = await StubServer.start({ 'post-auth-request': granted, ...responses });
  const fixture = new ClientFixture(server.baseUrl, options);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  return { server, fixture, client: fixture.client, session: await sessionOf(keyType) };
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: unknown) => error,
  );
}

function withToken(session: ClientSession): ClientSession {
  session.token = token;
  return session;
}

describe('the authentication of a device', () => {
  it.each(keyTypes)(
    'signs exactly the bytes of the request that it sends, with a %s key',
    async (keyType) => {
      const { server, client, session } = await started({}, {}, keyType);
      await client.authenticate(session);
      const [request] = server.requestsFor('post-auth-request');
      const body = request?.body ?? Buffer.alloc(0);
      const signature = Buffer.from(String(request?.headers['x-svc-signature']), 'base64');
      const key = createPublicKey(session.key.publicKeyPem);
      const digest = keyType === 'ed25519' ? null : 'sha256';
      expect(verify(digest, body, key, signature)).toBe(true);
      expect(request?.json()).toEqual({
        id_data: session.idData,
        pubkey: session.key.publicKeyPem,
      });
      expect(request?.headers['content-type']).toBe('application/json');
      expect(request?.headers.authorization).toBeUndefined();
      expect(session.token).toBe(token);
    },
  );

  it('sends the tenant token, and signs under the configured header prefix', async () => {
    const options = { tenantToken: 'tenant-1', headerPrefix: 'X-MEN' };
    const { server, client, session } = await started({}, options);
    await client.authenticate(session);
    const [request] = server.requestsFor('post-auth-request');
    expect(request?.json()).toMatchObject({ tenant_token: 'tenant-1' });
    expect(request?.headers['x-men-signature']).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(request?.headers['x-svc-signature']).toBeUndefined();
  });

  it('fails with status and text of the server when the device is not accepted', async () => {
    const error = { error: 'dev auth: \u001b[31munauthorized', request_id: 'r' };
    const { client, session } = await started({
      'post-auth-request': () => ({ status: 401, body: error }),
    });
    const thrown = await errorOf(client.authenticate(session));
    expect(thrown).toBeInstanceOf(StatusError);
    expect(thrown).toMatchObject({ status: 401, label: 'status/401', isTransient: false });
    expect(String(thrown)).toContain(
      'the server answered with 401: dev auth: \\u{1b}[31munauthorized',
    );
    expect(session.token).toBeUndefined();
  });

  it.each([
    ['quotes around it', `"${token}"`],
    ['a line break after it', `${token}\n`],
    ['HTML instead of it', '<html><body>Welcome</body></html>'],
    ['nothing instead of it', ''],
    ['a header in it', `${token}\r\nX-Evil: 1`],
  ])('refuses a token with %s', async (_what, body) => {
    const { client, session } = await started({
      'post-auth-request': () => ({ status: 200, body }),
    });
    const thrown = await errorOf(client.authenticate(session));
    expect(thrown).toMatchObject({ code: 'response', label: 'response/not-a-token' });
    expect(session.token).toBeUndefined();
  });

  it('takes the device ID from the token, if the token contains one', () => {
    expect(tokenSubject(token)).toBe('device-id-1');
    expect(tokenSubject('a.b.c')).toBeUndefined();
    expect(tokenSubject('')).toBeUndefined();
  });
});

describe('a request with a token', () => {
  it('authenticates first, and only once, when the session has no token', async () => {
    const { server, client, session } = await started({
      'get-configuration': () => ({ status: 200, body: {} }),
    });
    await client.configuration(session);
    await client.configuration(session);
    expect(server.requestsFor('post-auth-request')).toHaveLength(1);
    const tokens = server
      .requestsFor('get-configuration')
      .map(({ headers }) => headers.authorization);
    expect(tokens).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
  });

  it('is repeated with a new token after a 401', async () => {
    const statuses = [401, 200];
    const { server, client, session } = await started({
      'get-configuration': () => ({ status: statuses.shift() ?? 500, body: { a: '1' } }),
    });
    expect(await client.configuration(withToken(session))).toEqual({ a: '1' });
    expect(server.requestsFor('post-auth-request')).toHaveLength(1);
  });

  it('is not repeated a third time after a second 401', async () => {
    const { server, client, session } = await started({
      'get-configuration': () => ({ status: 401 }),
    });
    const thrown = await errorOf(client.configuration(withToken(session)));
    expect(thrown).toMatchObject({ status: 401, operation: 'get-configuration' });
    expect(server.requestsFor('get-configuration')).toHaveLength(2);
    expect(session.token).toBeUndefined();
  });

  it('fails with the error of the authentication when the device is rejected meanwhile', async () => {
    const { client, session } = await started({
      'post-auth-request': () => ({ status: 401 }),
      'get-configuration': () => ({ status: 401 }),
    });
    const thrown = await errorOf(client.configuration(withToken(session)));
    expect(thrown).toMatchObject({ status: 401, operation: 'post-auth-request' });
  });

  it.each([
    [500, {}, true, undefined],
    [503, { 'retry-after': '7' }, true, 7000],
    [429, { 'retry-after': 'Sat, 31 Jan 2026 12:00:30 GMT' }, true, 30_000],
    [429, {}, true, undefined],
    [403, {}, false, undefined],
    [301, { location: '/elsewhere' }, false, undefined],
    [204, {}, false, undefined],
  ])('fails with a status error for %i %o', async (status, headers, isTransient, waitMs) => {
    const { client, session } = await started({
      'get-configuration': () => ({ status, headers }),
    });
    const thrown = await errorOf(client.configuration(withToken(session)));
    expect(thrown).toBeInstanceOf(StatusError);
    expect(thrown).toMatchObject({ status, isTransient, retryAfterMs: waitMs });
  });

  it('fails without the error text of a gateway that uses another format', async () => {
    const body = { error: { status_code: 502, message: 'Bad Gateway' } };
    const { client, session } = await started({
      'get-configuration': () => ({ status: 502, body }),
    });
    const thrown = await errorOf(client.configuration(withToken(session)));
    expect(thrown).toMatchObject({ status: 502, serverSays: undefined });
  });

  it.each([
    ['HTML', '<html></html>', 'response/not-json'],
    ['nothing', '', 'response/not-json'],
    ['JSON too deep to be parsed', `${'['.repeat(101)}${']'.repeat(101)}`, 'response/not-json'],
    ['another kind of JSON', '"a"', 'response/shape'],
    ['a number where a string belongs', '{"a":1}', 'response/shape'],
  ])('fails with a response error for %s', async (_what, body, label) => {
    const { client, session } = await started({
      'get-configuration': () => ({ status: 200, body }),
    });
    expect(await errorOf(client.configuration(withToken(session)))).toMatchObject({ label });
  });
});

describe('the request for the next deployment', () => {
  const instructions = {
    id: 'deployment-1',
    artifact: {
      artifact_name: 'r-2',
      source: { uri: 'http://host/file', expire: '2026-02-01T12:00:00Z' },
      device_types_compatible: ['board'],
    },
  };
  const found = () => ({ status: 200, body: instructions });

  it('starts with version 2, all provides of the device, and the control map', async () => {
    const { server, client, session } = await started({ 'post-next-deployment-v2': found });
    expect(await client.nextDeployment(session, provides)).toEqual(instructions);
    expect(server.requestsFor('post-next-deployment-v2')[0]?.json()).toEqual({
      device_provides: provides,
      update_control_map: true,
    });
  });

  it('returns undefined when no deployment is due', async () => {
    const { client, session } = await started({
      'post-next-deployment-v2': () => ({ status: 204 }),
    });
    expect(await client.nextDeployment(session, provides)).toBeUndefined();
  });

  it('uses version 1 after a 404, and continues to use it', async () => {
    const { server, client, session } = await started({ 'post-next-deployment': found });
    await client.nextDeployment(session, provides);
    await client.nextDeployment(session, provides);
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(1);
    expect(server.requestsFor('post-next-deployment').map((request) => request.json())).toEqual([
      provides,
      provides,
    ]);
  });

  it('uses GET after a second 404, and continues to use it', async () => {
    const { server, client, session } = await started({ 'get-next-deployment': found });
    await client.nextDeployment(session, provides);
    await client.nextDeployment(session, provides);
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(1);
    expect(server.requestsFor('post-next-deployment')).toHaveLength(1);
    const queries = server.requestsFor('get-next-deployment').map(({ query }) => String(query));
    expect(queries).toEqual(Array(2).fill('artifact_name=r-1&device_type=board'));
  });

  it('fails when every version is absent, and starts with version 2 the next time', async () => {
    const { server, client, session } = await started({});
    const thrown = await errorOf(client.nextDeployment(session, provides));
    expect(thrown).toMatchObject({ status: 404, operation: 'get-next-deployment' });
    await errorOf(client.nextDeployment(session, provides));
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(2);
  });

  it.each([405, 409, 500, 501])('does not treat a %i as an absent version', async (status) => {
    const { server, client, session } = await started({
      'post-next-deployment-v2': () => ({ status }),
      'post-next-deployment': found,
    });
    expect(await errorOf(client.nextDeployment(session, provides))).toMatchObject({ status });
    expect(server.requestsFor('post-next-deployment')).toHaveLength(0);
  });

  it.each([
    [{ ...instructions, id: undefined }],
    [{ ...instructions, artifact: { ...instructions.artifact, artifact_name: 7 } }],
    [{ id: 'deployment-1' }],
    [null],
  ])('does not accept %j as instructions', async (body) => {
    const { client, session } = await started({
      'post-next-deployment-v2': () => ({ status: 200, body }),
    });
    const thrown = await errorOf(client.nextDeployment(session, provides));
    expect(thrown).toMatchObject({ label: 'response/shape' });
  });
});

describe('the reports of a device', () => {
  it('are recorded after a 204 on a status, and reveal an abort after a 409', async () => {
    const statuses = [204, 409];
    const { server, client, session } = await started({
      'put-deployment-status': () => ({ status: statuses.shift() ?? 500 }),
    });
    const report = { status: 'downloading' } as const;
    expect(await client.reportStatus(session, 'a/b', report)).toBe('recorded');
    expect(await client.reportStatus(session, 'a/b', report)).toBe('aborted');
    const [request] = server.requestsFor('put-deployment-status');
    expect(request?.parameters).toEqual({ id: 'a/b' });
    expect(request?.json()).toEqual({ status: 'downloading' });
  });

  it.each([200, 400, 404, 500])(
    'fail on a status with %i: only 204 is a success',
    async (status) => {
      const { client, session } = await started({ 'put-deployment-status': () => ({ status }) });
      const thrown = await errorOf(client.reportStatus(session, 'd', { status: 'success' }));
      expect(thrown).toMatchObject({ status });
    },
  );

  it('contain every message of the log', async () => {
    const { server, client, session } = await started({
      'put-deployment-log': () => ({ status: 204 }),
    });
    const message = { timestamp: '2026-01-31T12:00:00.000Z', level: 'error', message: 'no' };
    await client.uploadLog(session, 'd', { messages: [message] });
    expect(server.requestsFor('put-deployment-log')[0]?.json()).toEqual({ messages: [message] });
  });

  it('use PATCH for the inventory where the server does not support PUT', async () => {
    const { server, client, session } = await started({
      'put-attributes': () => ({ status: 405 }),
      'patch-attributes': () => ({ status: 200 }),
    });
    const attributes = [{ name: 'device_type', value: 'board' }];
    await client.sendInventory(session, attributes);
    expect(server.requestsFor('patch-attributes')[0]?.json()).toEqual(attributes);
  });

  it.each([204, 400, 404])(
    'fail on the inventory with %i: only 200 is a success',
    async (status) => {
      const { server, client, session } = await started({ 'put-attributes': () => ({ status }) });
      expect(await errorOf(client.sendInventory(session, []))).toMatchObject({ status });
      expect(server.requestsFor('patch-attributes')).toHaveLength(0);
    },
  );

  it('match the contract for alerts, monitors and configuration', async () => {
    const { server, client, session } = await started({
      'post-alerts': () => ({ status: 204 }),
      'post-monitor-configuration': () => ({ status: 204 }),
      'put-configuration': () => ({ status: 204 }),
    });
    const monitor = { name: 'sshd', type: 'systemd.unit', status: 'enabled' };
    await client.postAlerts(session, []);
    await client.postMonitorConfiguration(session, [monitor]);
    await client.reportConfiguration(session, { timezone: 'UTC' });
    expect(server.requestsFor('post-alerts')[0]?.json()).toEqual([]);
    expect(server.requestsFor('post-monitor-configuration')[0]?.json()).toEqual([monitor]);
    expect(server.requestsFor('put-configuration')[0]?.json()).toEqual({ timezone: 'UTC' });
  });
});

describe('the update control map', () => {
  const map = { id: 'd', priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };

  it.each([
    ['the map', { status: 200, body: { update_control_map: map } }, map],
    ['undefined when there is none', { status: 200, body: {} }, undefined],
    ['not found when the deployment is finished', { status: 404 }, 'not-found'],
  ])('returns the response as %s', async (_what, response, wanted) => {
    const { client, session } = await started({ 'get-update-control-map': () => response });
    expect(await client.controlMap(session, 'd')).toEqual(wanted);
  });

  it('throws an error for a response that is not a map', async () => {
    const body = { update_control_map: { id: 'd', states: 'none' } };
    const { client, session } = await started({
      'get-update-control-map': () => ({ status: 200, body }),
    });
    expect(await errorOf(client.controlMap(session, 'd'))).toMatchObject({
      label: 'response/shape',
    });
  });
});
