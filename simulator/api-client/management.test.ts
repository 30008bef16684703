import { afterEach, describe, expect, it } from 'vitest';
import { ClientFixture, token } from '../testing/client-fixture.ts';
import { type Responses, type StubRequest, StubServer } from '../testing/stub-server.ts';
import { ManagementClient } from './management.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started(responses: Responses) {
  const server = await StubServer.start({
    login: () => ({ status: 200, body: token }),
    ...responses,
  });
  const { transport, clock, ...fixture } = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => transport.close(),
  );
  const credentials = { email: 'admin@example.com', password: 'pä:ss' };
  return { server, fixture, management: new ManagementClient({ transport, clock, credentials }) };
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: unknown) => error,
  );
}

async function all<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

const when = '2026-01-31T12:00:00Z';

/** Serves `count` device deployments in pages as requested. */
function partsOf(count: number) {
  return ({ query }: StubRequest) => {
    const perPage = Number(query.get('per_page'));
    const from = (Number(query.get('page')) - 1) * perPage;
    const body = Array.from(
      { length: Math.max(0, Math.min(perPage, count - from)) },
      (_, index) => {
        return { id: `device-${from + index}`, status: 'success', created: when, log: false };
      },
    );
    return { status: 200, body };
  };
}

describe('the management client of the user', () => {
  it('logs in with HTTP Basic in UTF-8, and continues with the token', async () => {
    const { server, management } = await started({
      'abort-device-deployments': () => ({ status: 204 }),
    });
    await management.login();
    await management.abortDeviceDeployments('device-1');
    const basic = Buffer.from('admin@example.com:pä:ss').toString('base64');
    expect(server.requestsFor('login')[0]?.headers.authorization).toBe(`Basic ${basic}`);
    const [request] = server.requestsFor('abort-device-deployments');
    expect(request?.headers.authorization).toBe(`Bearer ${token}`);
    expect(request?.parameters).toEqual({ id: 'device-1' });
    expect(server.requestsFor('login')).toHaveLength(1);
  });

  it.each(['<html>Log in</html>', '{"token":"secret"}', ''])(
    'fails when the login is answered with %j in place of a token, and shows no secret',
    async (body) => {
      const { management } = await started({ login: () => ({ status: 200, body }) });
      const error = await errorOf(management.login());
      expect(error).toMatchObject({ label: 'response/not-a-token', operation: 'login' });
      expect(String(error)).toMatch(/answered with 200 without a plain token; check --url$/);
    },
  );

  it('fails with a wrong password, and the message does not contain it', async () => {
    const { management } = await started({ login: () => ({ status: 401 }) });
    const error = await errorOf(management.login());
    expect(error).toMatchObject({ code: 'status', status: 401, operation: 'login' });
    expect(String(error)).not.toContain('pä:ss');
  });

  it('logs in again, once, when its token has expired', async () => {
    const { server, management } = await started({
      'abort-device-deployments': () => ({ status: 401 }),
    });
    const error = await errorOf(management.abortDeviceDeployments('device-1'));
    expect(error).toMatchObject({ status: 401, operation: 'abort-device-deployments' });
    expect(server.requestsFor('login')).toHaveLength(2);
    expect(server.requestsFor('abort-device-deployments')).toHaveLength(2);
  });

  it('reads every page of a long list, and stops after a short page', async () => {
    const { server, management } = await started({ 'list-deployment-devices': partsOf(1200) });
    expect(await all(management.deploymentDevices('d'))).toHaveLength(1200);
    const pages = server
      .requestsFor('list-deployment-devices')
      .map(({ query }) => query.get('page'));
    expect(pages).toEqual(['1', '2', '3']);
  });

  it('reads one empty page after a list that fills its pages exactly', async () => {
    const { server, management } = await started({ 'list-deployment-devices': partsOf(500) });
    expect(await all(management.deploymentDevices('d'))).toHaveLength(500);
    expect(server.requestsFor('list-deployment-devices')).toHaveLength(2);
  });

  it('stops reading a list that never ends', async () => {
    const { server, management } = await started({ 'list-deployment-devices': partsOf(1e6) });
    let items = 0;
    for await (const page of management.deploymentDevices('d')) items += page.length;
    expect(items).toBe(100_000);
    expect(server.requestsFor('list-deployment-devices')).toHaveLength(200);
  });

  it('requests the devices of one status', async () => {
    const { server, management } = await started({
      'list-devices': () => ({ status: 200, body: [] }),
    });
    expect(await all(management.devices('pending'))).toEqual([]);
    expect(server.requestsFor('list-devices')[0]?.query.get('status')).toBe('pending');
  });

  it.each([
    ['not a list', { devices: [] }],
    ['devices without keys', [{ id: 'a', identity_data: {}, status: 'pending' }]],
  ])('does not accept %s as a list of devices', async (_what, body) => {
    const { management } = await started({ 'list-devices': () => ({ status: 200, body }) });
    const error = await errorOf(all(management.devices('pending')));
    expect(error).toMatchObject({ label: 'response/shape' });
  });

  it('finds the ID of a new deployment in the Location header', async () => {
    const location = '/api/management/v1/deployments/deployments/d-1';
    const { server, management } = await started({
      'create-deployment': () => ({ status: 201, headers: { location } }),
    });
    const wanted = { name: 'n', artifact_name: 'r-1', devices: ['device-1'] };
    expect(await management.createDeployment(wanted)).toBe('d-1');
    expect(server.requestsFor('create-deployment')[0]?.json()).toEqual(wanted);
  });

  it.each([
    [
      { status: 422, body: { error: 'no artifact' } },
      { status: 422, serverSays: 'no artifact' },
    ],
    [{ status: 201 }, { label: 'response/shape' }],
    [{ status: 200 }, { status: 200 }],
  ])('does not accept %o as a new deployment', async (response, wanted) => {
    const { management } = await started({ 'create-deployment': () => response });
    const made = management.createDeployment({ name: 'n', artifact_name: 'r-1', devices: ['d'] });
    expect(await errorOf(made)).toMatchObject(wanted);
  });

  it('accepts one authentication set of one device', async () => {
    const { server, management } = await started({
      'set-auth-set-status': () => ({ status: 204 }),
    });
    await management.accept('device-1', 'set-1');
    const [request] = server.requestsFor('set-auth-set-status');
    expect(request?.parameters).toEqual({ id: 'device-1', aid: 'set-1' });
    expect(request?.json()).toEqual({ status: 'accepted' });
  });
});
