import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { endOf, openSocket } from '../../testing/test-sockets.ts';
import { control, logIn, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

const example = `
users:
  - { email: reader@example.com, password: a-long-password, roles: [RBAC_ROLE_OBSERVER] }
artifacts:
  - { name: release-1, deviceTypes: [board], ago: 2d }
devices:
  - name: worker
    ago: 1h
    identity: { mac: "02:00:00:00:00:01" }
    inventory: { device_type: board, artifact_name: release-0 }
    configuration: { timezone: UTC }
    group: eu
  - { name: newcomer, status: pending, ago: 5m }
  - { name: outcast, status: rejected, ago: 3d }
  - { name: promised, status: preauthorized }
deployments:
  - { name: spring, artifact: release-1, devices: [worker], ago: 30m, reached: { worker: downloading }, aborted: true }
`;

/** Loads a world from text and returns the response of the server. */
async function load(text: string, query = '') {
  const response = await fetch(`${server.controlUrl}/world${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.controlToken}`, 'Content-Type': 'text/yaml' },
    body: text,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function countDevices(token = server.adminToken): Promise<unknown> {
  return (await server.call('count-devices', { token })).json().count;
}

describe('an oversized or deeply nested text', () => {
  const paths = ['/world', '/faults'] as const;
  const texts: readonly (readonly [string, string])[] = [
    ['lists', `${'['.repeat(1000)}${']'.repeat(1000)}`],
    ['maps', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`],
    ['keys of keys', '? '.repeat(1000)],
    ['keys', Array.from({ length: 40_000 }, (_, index) => `key${index}: 1\n`).join('')],
    ['many lists', '['.repeat(262_000)],
  ];

  it('returns 400 with one sentence, and the server keeps working', async () => {
    for (const path of paths) {
      for (const [what, text] of texts) {
        const response = await fetch(`${server.controlUrl}${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${server.controlToken}`, 'Content-Type': 'text/yaml' },
          body: text,
        });
        expect(response.status, `${path} ${what}`).toBe(400);
        const { error } = JSON.parse(await response.text());
        expect(error, `${path} ${what}`).toMatch(/nested more than 64 deep|is unknown|more than/);
      }
    }
    expect(await countDevices()).toBe(0);
  });
});

describe('a world that is loaded from a file', () => {
  it('has the described content with the described ages', async () => {
    const { status, body } = await load(example);
    expect([status, body.error]).toEqual([200, undefined]);
    const token = server.adminToken;
    const devices = (await server.call('list-devices', { token })).json<Record<string, string>[]>();
    expect(devices.map(({ status: is }) => is).toSorted()).toEqual([
      'accepted',
      'pending',
      'preauthorized',
      'rejected',
    ]);
    const [worker] = body.devices;
    const known = devices.find(({ id }) => id === worker.id);
    expect(known).toMatchObject({
      created_ts: '2026-11-21T11:00:00.000Z',
      identity_data: { mac: '02:00:00:00:00:01' },
    });
    const [deployment] = (await server.call('list-deployments', { token })).json<object[]>();
    expect(deployment).toMatchObject({
      name: 'spring',
      status: 'finished',
      created: '2026-11-21T11:30:00.000Z',
      statistics: expect.objectContaining({}),
    });
    const group = await server.call('get-device-group', { token, parameters: { id: worker.id } });
    expect(group.json()).toEqual({ group: 'eu' });
    expect((await logIn(server, 'reader@example.com', 'a-long-password')).status).toBe(200);
  });

  it('issues tokens that work and keys that sign', async () => {
    const { body } = await load(example);
    const [worker] = body.devices;
    expect(worker.privateKey).toContain('BEGIN PRIVATE KEY');
    const configuration = await server.call('get-configuration', { token: worker.token });
    expect(configuration.json()).toEqual({ timezone: 'UTC' });
    const next = await server.call('get-next-deployment', {
      token: worker.token,
      query: { device_type: 'board', artifact_name: 'release-0' },
    });
    expect(next.status).toBe(204);
  });

  it('replaces the existing state and can be loaded repeatedly', async () => {
    await acceptedDevice(server, 'before');
    expect((await load(example)).status).toBe(200);
    expect((await load(example)).status).toBe(200);
    expect(await countDevices()).toBe(4);
    expect((await load('devices: [{ name: alone }]')).status).toBe(200);
    expect(await countDevices()).toBe(1);
  });

  it('keeps the clock, or sets it to the moment that it names', async () => {
    await load(example);
    const clock = async () => JSON.parse((await control(server, 'GET', '/clock')).text);
    expect(await clock()).toMatchObject({ mode: 'base', now: '2026-11-21T12:00:00.000Z' });
    await load('now: 2027-08-25T00:00:00Z\n');
    expect(await clock()).toMatchObject({ mode: 'shifted', now: '2027-08-25T00:00:00.000Z' });
  });

  it('leaves no entries in the journal', async () => {
    await load(example);
    const { text } = await control(server, 'GET', '/journal');
    expect(JSON.parse(text).entries).toEqual([]);
  });

  it.each([
    ['devices:\n  - nmae: x\n', 'body:2:5: devices.0.nmae'],
    ['devices:\n  - name: x\n    status: lost\n', 'body:3:13: devices.0.status: must be one of'],
    ['devices:\n  - name: x\n    ago: yesterday\n', 'body:3:10: devices.0.ago: must be a duration'],
    ['devices: 4\n', 'body:1:10: devices: must be a list'],
    ['devices: [', 'body:'],
    ['now: tomorrow\n', 'body:1:6: now: must be a date-time'],
    ['colour: red\n', 'body:1:1: colour: is unknown'],
    ['deployments:\n  - { name: a }\n', 'deployments.0.artifact'],
  ])('returns 400 with line and column: %j', async (text, sentence) => {
    const { status, body } = await load(text);
    expect([status, body.error]).toEqual([400, expect.stringContaining(sentence)]);
  });

  const one = 'artifacts: [{ name: r, deviceTypes: [b], ago: 1h }]\n';
  it.each([
    ['devices: [{ name: a }, { name: a }]', 'the name "a" is used twice'],
    ['deployments: [{ name: d, artifact: r }]', 'there is no artifact "r"'],
    [`${one}deployments: [{ name: d, artifact: r, ago: 2h }]`, 'was created later'],
    [`${one}deployments: [{ name: d, artifact: r, devices: [x] }]`, 'there is no device "x"'],
    [
      `${one}devices: [{ name: x, status: pending }]\ndeployments: [{ name: d, artifact: r, devices: [x], reached: { x: success } }]`,
      'not one of its accepted devices',
    ],
    [
      `${one}devices: [{ name: x }]\ndeployments: [{ name: d, artifact: r, reached: { x: aborted } }]`,
      'a device cannot report "aborted"',
    ],
    ['devices: [{ name: x, status: pending, inventory: { a: b } }]', 'only an accepted device'],
    ['devices: [{ name: x, publicKey: none }]', 'publicKey'],
    ['devices: [{ name: x, group: "a b" }]', 'group: 400'],
    ['users: [{ email: a@b.example, password: long-enough, roles: [king] }]', 'no role "king"'],
    [
      'users: [{ email: admin@example.com, password: long-enough }]',
      'already has this email address',
    ],
    ['devices: [{ name: x, identity: { a: b } }, { name: y, identity: { a: b } }]', 'identity'],
  ])(
    'returns 422 without a change of state if it contradicts itself: %j',
    async (text, sentence) => {
      await acceptedDevice(server, 'kept');
      const { status, body } = await load(text);
      expect([status, body.error]).toEqual([422, expect.stringContaining(sentence)]);
      expect(await countDevices()).toBe(1);
    },
  );

  it('suspends planned faults during the load and keeps them until the reset', async () => {
    const rule = { id: 'all', match: {}, times: 'until-cleared', act: 'gateway-502' };
    expect((await control(server, 'POST', '/faults', { rules: [rule] })).status).toBe(201);
    expect((await load(example)).status).toBe(200);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(502);
    await control(server, 'POST', '/reset');
    expect(await countDevices()).toBe(4);
  });

  it('keeps users logged in if it has another time', async () => {
    await load('now: 2030-01-01T00:00:00Z\n');
    await load('now: 2026-11-21T12:00:00Z\n');
    expect(await countDevices()).toBe(0);
    const loggedIn = await load('users: [{ email: a@b.example, password: long-enough }]');
    expect(loggedIn.status).toBe(200);
    await control(server, 'POST', '/clock', { now: '2031-01-01T00:00:00Z' });
    const { text } = await logIn(server, 'a@b.example', 'long-enough');
    expect(await countDevices(text)).toBe(0);
  });

  it('has no polls of its devices before their first poll', async () => {
    const { body } = await load(example.replace(', aborted: true', ''));
    const [worker] = body.devices;
    const explained = await control(server, 'GET', `/explanations?device=${worker.id}`);
    expect(explained.text).toContain('not since the server started');
    const query = { device_type: 'board', artifact_name: 'release-0' };
    const polls = [query, query, { ...query, artifact_name: 'other' }];
    const statuses = [];
    for (const poll of polls) {
      const call = { token: worker.token, query: poll };
      const response = await server.call('get-next-deployment', call);
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 409]);
  });

  it('replaces only the state of the named tenant', async () => {
    const otherTenant = await secondTenant(server);
    await load(example, `?tenant=${otherTenant.id}`);
    expect([await countDevices(), await countDevices(otherTenant.token)]).toEqual([0, 4]);
    expect((await load(example, '?tenant=none')).status).toBe(404);
  });

  it('has a published JSON Schema', async () => {
    const { status, text } = await control(server, 'GET', '/world/schema');
    expect([status, JSON.parse(text)]).toEqual([
      200,
      expect.objectContaining({ type: 'object', additionalProperties: false }),
    ]);
  });
});

describe('the reset of a tenant', () => {
  it('restores the start state but keeps the tokens of users', async () => {
    const device = await acceptedDevice(server, 'one');
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    await control(server, 'POST', '/clock', { advanceSeconds: 10 });
    await control(server, 'POST', '/rate-limit', { requests: 100, windowSeconds: 1 });
    expect((await control(server, 'POST', '/reset')).status).toBe(204);
    expect(await ended).toEqual({
      code: 1001,
      reason: 'the tenant was reset or removed',
    });
    expect(await countDevices()).toBe(0);
    expect((await server.call('get-configuration', { token: device.token })).status).toBe(401);
    expect(JSON.parse((await control(server, 'GET', '/clock')).text).mode).toBe('base');
    expect(JSON.parse((await control(server, 'GET', '/rate-limit')).text)).toEqual({ limit: null });
    expect((await authenticate(server, device)).status).toBe(401);
  });

  it('restores the loaded world', async () => {
    await load(example);
    await acceptedDevice(server, 'later');
    await control(server, 'POST', '/reset');
    expect(await countDevices()).toBe(4);
  });

  it('does not affect other devices if it concerns one device', async () => {
    const { body } = await load(example);
    const otherDevice = await acceptedDevice(server, 'later');
    const [worker] = body.devices;
    const json = { timezone: 'CET' };
    await server.call('put-configuration', { token: worker.token, json });
    const response = await control(server, 'POST', '/reset', { device: worker.id });
    expect([response.status, JSON.parse(response.text)]).toEqual([200, { device: 'restored' }]);
    expect((await server.call('get-configuration', { token: otherDevice.token })).status).toBe(200);
    const removal = await control(server, 'POST', '/reset', { device: otherDevice.idData });
    expect(JSON.parse(removal.text)).toEqual({ device: 'removed' });
    for (const device of [otherDevice.idData, 'no-device']) {
      const unknown = await control(server, 'POST', '/reset', { device });
      expect([unknown.status, unknown.text]).toEqual([
        404,
        expect.stringContaining('body: device'),
      ]);
    }
    expect(await countDevices()).toBe(4);
  });

  it.each([[{ devise: 'x' }], [{ device: 1 }], [[1]]])(
    'returns 400 for the body %j',
    async (given) => {
      expect((await control(server, 'POST', '/reset', given)).status).toBe(400);
    },
  );
});

describe('snapshots of a tenant', () => {
  const put = (name: string) => control(server, 'PUT', `/snapshots/${name}`);

  it('can be taken, listed, restored and deleted by name', async () => {
    await acceptedDevice(server, 'one');
    expect((await put('one-device')).status).toBe(204);
    await acceptedDevice(server, 'two');
    const listed = await control(server, 'GET', '/snapshots');
    expect(JSON.parse(listed.text)).toEqual([
      { name: 'one-device', takenAt: '2026-11-21T12:00:00.000Z' },
    ]);
    expect((await control(server, 'POST', '/snapshots/one-device/restore')).status).toBe(204);
    expect(await countDevices()).toBe(1);
    expect((await control(server, 'DELETE', '/snapshots/one-device')).status).toBe(204);
    expect((await control(server, 'POST', '/snapshots/one-device/restore')).status).toBe(404);
  });

  it('replace an older snapshot of the same name', async () => {
    await put('a');
    await acceptedDevice(server, 'one');
    await put('a');
    await control(server, 'POST', '/reset');
    await control(server, 'POST', '/snapshots/a/restore');
    expect(await countDevices()).toBe(1);
  });

  it('belong to one tenant', async () => {
    const otherTenant = await secondTenant(server);
    await put('mine');
    const query = `?tenant=${otherTenant.id}`;
    expect((await control(server, 'POST', `/snapshots/mine/restore${query}`)).status).toBe(404);
  });

  it.each(['..%2Fx', 'a%20b', 'a'.repeat(101)])('return 400 with the name %s', async (name) => {
    expect((await put(name)).status).toBe(400);
  });

  it('are limited to twenty', async () => {
    for (let index = 0; index < 20; index += 1) await put(`s${index}`);
    expect((await put('one-more')).status).toBe(422);
    expect((await put('s0')).status).toBe(204);
  });

  it('return 404 when they do not exist', async () => {
    expect((await control(server, 'DELETE', '/snapshots/none')).status).toBe(404);
  });
});

describe('a fork of a tenant', () => {
  it('is a new tenant with the same state and its own admin', async () => {
    await load(example);
    const response = await control(server, 'POST', '/fork', {
      name: 'Fork',
      adminEmail: 'admin@fork.example',
    });
    expect(response.status).toBe(201);
    const { adminPassword, tenantToken } = JSON.parse(response.text);
    const token = (await logIn(server, 'admin@fork.example', adminPassword)).text;
    expect(await countDevices(token)).toBe(4);
    const body = { tenant_token: tenantToken };
    expect(body.tenant_token).toMatch(/^[\w-]{43}$/);
    await control(server, 'POST', '/reset');
    await authenticate(server, newDevice('only-here'));
    expect([await countDevices(), await countDevices(token)]).toEqual([5, 4]);
  });

  it.each([[{}], [{ name: 'x' }], [{ name: 'x', adminEmail: 'none' }]])(
    'returns 400 for the request %j',
    async (given) => {
      expect((await control(server, 'POST', '/fork', given)).status).toBe(400);
    },
  );

  it("returns 409 when the admin's email is taken", async () => {
    const given = { name: 'x', adminEmail: server.adminEmail };
    expect((await control(server, 'POST', '/fork', given)).status).toBe(409);
  });
});
