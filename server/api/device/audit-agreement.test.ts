import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuditAction,
  auditActions,
  type WideAuditAction,
} from '../../../fixtures/contract/vocabulary.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { exportLogs, listLogs } from '../../testing/test-audit.ts';
import { abort, deploy } from '../../testing/test-deployments.ts';
import { acceptedDevice, authenticate, decide, newDevice } from '../../testing/test-device.ts';
import { setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

/** Performs each audited action once, with texts that need CSV quotes or look like formulas. */
async function actInEveryWay(server: TestServer): Promise<void> {
  const { adminToken: token } = server;
  const device = await acceptedDevice(server, 'a "quoted", broken\nname');
  const parameters = { id: device.id, aid: device.authSetId };
  await authenticate(server, newDevice('a "quoted", broken\nname'));
  const early = newDevice('=early+1');
  const identity_data = JSON.parse(early.idData);
  const json = { identity_data, pubkey: early.publicKeyPem };
  await server.call('preauthorize-device', { token, json });
  await authenticate(server, early);
  await setGroup(server, device.id, 'blue');
  const tags = [{ name: '=SUM(A1)', value: 'x,y\r\nz' }];
  await server.call('add-tags', { token, parameters, json: tags });
  await server.call('set-configuration', { token, parameters, json: { a: '1', 'b,"c"': 'ü' } });
  await server.call('deploy-configuration', { token, parameters, json: {} });
  const id = await publish(server);
  await abort(server, await deploy(server, [device], { name: '=1+1;@spring' }));
  await server.call('delete-artifact', { token, parameters: { id } });
  await server.call('switch-alert-emails', { token, json: { enabled: false } });
  await server.call('revoke-token', { token, parameters: { jti: device.authSetId } });
  await server.call('create-user', { token, json: { email: 'plus+one@example.com' } });
  await decide(server, device, 'rejected');
  await server.call('delete-auth-set', { token, parameters });
  await server.call('decommission-device', { token, parameters });
}

type Row = Readonly<Record<string, string>>;

/** Returns the fields of an entry by dotted name, each value as text. */
function flat(value: unknown, name = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, member]) =>
    flat(member, name === '' ? key : `${name}.${key}`),
  );
}

/** Reads CSV according to RFC 4180, where a quoted field may contain any character. */
function rowsOf(csv: string): Row[] {
  const fields = [...csv.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)];
  const lines: string[][] = [[]];
  for (const [, field = '', end] of fields) {
    const isQuoted = field.startsWith('"');
    lines.at(-1)?.push(isQuoted ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === '\r\n') lines.push([]);
  }
  const [header = [], ...rows] = lines.slice(0, -1);
  return rows.map((line) => Object.fromEntries(header.map((name, at) => [name, line[at] ?? ''])));
}

async function bothForms(server: TestServer, query: Readonly<Record<string, string>>) {
  const list = await listLogs(server, { per_page: '500', ...query });
  const csv = await exportLogs(server, query);
  return { entries: list.json<object[]>(), rows: rowsOf(csv.text) };
}

describe.each([
  ['the contract', false],
  ['the field', true],
])('an audit log with the action names of %s', (_, isWide) => {
  let server: TestServer;

  beforeAll(async () => {
    const dialects = new Set(isWide ? (['wide-audit-actions'] as const) : []);
    server = await startTestServer({ dialects });
    await actInEveryWay(server);
  });

  afterAll(() => server.close());

  it.each([{ sort: 'asc' }, { sort: 'desc' }, { object_type: 'device' }, { actor_type: 'device' }])(
    'has the same entries in JSON and CSV: %j',
    async (query) => {
      const { entries, rows } = await bothForms(server, query);
      expect(rows).toHaveLength(entries.length);
      expect(entries.length).toBeGreaterThan(2);
      for (const [at, entry] of entries.entries()) {
        const listed = Object.entries(rows[at] ?? {}).filter(([, value]) => value !== '');
        expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(flat(entry)));
      }
    },
  );

  it('has entries of every action and object type', async () => {
    const { rows } = await bothForms(server, {});
    const contract: readonly (AuditAction | WideAuditAction)[] = auditActions;
    const field = [...contract, 'accept', 'set_configuration', 'deploy_configuration', 'upload'];
    const names = new Set(rows.map(({ action }) => action));
    expect([...names].toSorted()).toEqual((isWide ? field : [...contract]).toSorted());
    const types = new Set(rows.map((row) => row['object.type']));
    expect([...types].toSorted()).toEqual(['artifact', 'deployment', 'device', 'tenant', 'user']);
  });
});

describe('the audit log under the dialect wide-audit-actions', () => {
  it('shows a configuration as JSON, and its deployment as an action on the device', async () => {
    const server = await startTestServer({ dialects: new Set(['wide-audit-actions']) });
    const device = await acceptedDevice(server, 'wide');
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('set-configuration', { ...call, json: { a: '1' } });
    await server.call('deploy-configuration', { ...call, json: {} });
    const response = await listLogs(server, { object_id: device.id, sort: 'asc' });
    const listed = response.json<{ action: string; change: string; object: { type: string } }[]>();
    expect(listed.map(({ action, change, object }) => [action, change, object.type])).toEqual([
      ['create', expect.any(String), 'device'],
      ['accept', 'status: pending -> accepted', 'device'],
      ['set_configuration', '{"a":"1"}', 'device'],
      ['deploy_configuration', '{"a":"1"}', 'device'],
    ]);
    await server.close();
  });
});
