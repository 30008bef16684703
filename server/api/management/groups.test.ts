import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { attributeOf, setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestCall, type TestServer } from '../../testing/test-server.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

let server: TestServer;
let one: AcceptedDevice;
let other: AcceptedDevice;
let round = 0;
/** This group name is used by no other test. */
let blue: string;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  round += 1;
  blue = `blue-${round}`;
  one = await acceptedDevice(server, `one-${round}`);
  other = await acceptedDevice(server, `other-${round}`);
});

function userCall(call: TestCall = {}): TestCall {
  return { token: server.adminToken, ...call };
}

async function groupOf({ id }: { id: string }): Promise<unknown> {
  return (await server.call('get-device-group', userCall({ parameters: { id } }))).json().group;
}

function clear({ id }: { id: string }, name: string) {
  return server.call('clear-device-group', userCall({ parameters: { id, name } }));
}

async function groups(): Promise<string[]> {
  return (await server.call('list-groups', userCall())).json<string[]>();
}

function listGroupDevices(name: string, query: Record<string, string> = {}) {
  return server.call('list-group-devices', userCall({ parameters: { name }, query }));
}

type BulkChange = 'add-group-devices' | 'remove-group-devices';

function change(operation: BulkChange, name: string, json: unknown) {
  return server.call(operation, userCall({ parameters: { name }, json }));
}

describe('the group of a device', () => {
  it('is null at first, then the group that was set last', async () => {
    expect(await groupOf(one)).toBeNull();
    expect((await setGroup(server, one.id, blue)).status).toBe(204);
    expect([await groupOf(one), await groupOf(other)]).toEqual([blue, null]);
    await setGroup(server, one.id, `red-${round}`);
    expect(await groupOf(one)).toBe(`red-${round}`);
    expect(await attributeOf(server, one.id, 'system', 'group')).toBe(`red-${round}`);
  });

  it('is null after a clear request with the name of the current group', async () => {
    await setGroup(server, one.id, blue);
    const response = await clear(one, `red-${round}`);
    expect([response.status, response.json().error]).toEqual([
      404,
      'the device is not in this group',
    ]);
    expect((await clear(one, blue)).status).toBe(204);
    expect((await clear(one, blue)).status).toBe(404);
    expect(await groupOf(one)).toBeNull();
    expect(await attributeOf(server, one.id, 'system', 'group')).toBeUndefined();
  });

  it('disappears when the device is decommissioned', async () => {
    await setGroup(server, one.id, blue);
    await server.call('decommission-device', userCall({ parameters: { id: one.id } }));
    expect(await groups()).not.toContain(blue);
    expect(await groupOf(await acceptedDevice(server, `one-${round}`))).toBeNull();
  });

  it('is logged in the audit log only when it changes', async () => {
    await setGroup(server, one.id, blue);
    await setGroup(server, one.id, blue);
    await clear(one, blue);
    const call = userCall({ query: { object_id: one.id, per_page: '2' } });
    const entries = (await server.call('list-audit-logs', call)).json<AuditLog[]>();
    expect(entries.map(({ action, change: text }) => [action, text])).toEqual([
      ['update', `group: ${blue} -> none`],
      ['update', `group: none -> ${blue}`],
    ]);
  });

  it.each([
    [{}],
    [{ group: '' }],
    [{ group: null }],
    [{ group: 'a b' }],
    [{ group: 'größe' }],
    [{ group: 'x'.repeat(257) }],
    [['blue']],
    ['blue'],
  ])('returns 400 for the body %j, and stays unchanged', async (json) => {
    await setGroup(server, one.id, blue);
    const call = userCall({ parameters: { id: one.id }, json });
    const response = await server.call('set-device-group', call);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect(await groupOf(one)).toBe(blue);
  });

  it('can have a name of 256 letters, digits, dashes and underscores', async () => {
    expect((await setGroup(server, one.id, `A-z_0${'x'.repeat(251)}`)).status).toBe(204);
  });
});

describe('the device groups', () => {
  it('are listed by name while they have devices', async () => {
    await setGroup(server, one.id, `b-${round}`);
    await setGroup(server, other.id, `a-${round}`);
    const mine = async () => (await groups()).filter((name) => name.endsWith(`-${round}`));
    expect(await mine()).toEqual([`a-${round}`, `b-${round}`]);
    await setGroup(server, other.id, `b-${round}`);
    expect(await mine()).toEqual([`b-${round}`]);
  });

  it('list their devices in pages with the total count', async () => {
    for (const { id } of [one, other]) await setGroup(server, id, blue);
    const ids = [one.id, other.id].toSorted();
    const response = await listGroupDevices(blue);
    expect([response.json(), response.headers.get('x-total-count')]).toEqual([ids, '2']);
    const page = await listGroupDevices(blue, { page: '2', per_page: '1' });
    expect([page.json(), page.headers.get('link')]).toEqual([
      ids.slice(1),
      expect.stringMatching(/rel="first".*rel="prev"/s),
    ]);
    expect((await listGroupDevices(blue, { page: '3' })).json()).toEqual([]);
    expect((await listGroupDevices(blue, { per_page: '501' })).status).toBe(400);
  });

  it.each(['unheard-of', 'a b', '%'])('return 404 for the unknown name %j', async (name) => {
    expect((await listGroupDevices(name)).status).toBe(404);
  });
});

describe('a group change for many devices', () => {
  it('adds all known devices to the group, each counted once', async () => {
    await setGroup(server, one.id, blue);
    const ids = [one.id, other.id, other.id, unknownId];
    const response = await change('add-group-devices', blue, ids);
    expect([response.status, response.json()]).toEqual([
      200,
      { updated_count: 1, matched_count: 2 },
    ]);
    expect([await groupOf(one), await groupOf(other)]).toEqual([blue, blue]);
  });

  it('removes only the devices that are in the group', async () => {
    await setGroup(server, one.id, blue);
    await setGroup(server, other.id, `red-${round}`);
    const response = await change('remove-group-devices', blue, [one.id, other.id, unknownId]);
    expect([response.status, response.json()]).toEqual([
      200,
      { updated_count: 1, matched_count: 1 },
    ]);
    expect([await groupOf(one), await groupOf(other)]).toEqual([null, `red-${round}`]);
    expect((await change('remove-group-devices', blue, [one.id])).status).toBe(404);
  });

  it.each<BulkChange>(['add-group-devices', 'remove-group-devices'])(
    'returns 400 by %s for a body that is not a list of IDs',
    async (operation) => {
      await setGroup(server, one.id, blue);
      for (const json of [[], {}, null, 'x', [7], [null], [[one.id]], { ids: [one.id] }]) {
        const response = await change(operation, blue, json);
        expect([response.status, response.json().error]).toEqual([
          400,
          expect.stringMatching(/^body: /),
        ]);
      }
      expect(await groupOf(one)).toBe(blue);
    },
  );

  it.each(['a b', 'x'.repeat(257), 'a.b'])(
    'returns 400 for the invalid group name %j',
    async (name) => {
      const response = await change('add-group-devices', name, [one.id]);
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^name: /),
      ]);
    },
  );
});
