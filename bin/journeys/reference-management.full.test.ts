import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiOf } from '../../fixtures/reference/openapi.ts';
import { artifactBytes, publish } from '../../server/testing/test-artifacts.ts';
import { board, deploy, nextRequests, report } from '../../server/testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  newDevice,
} from '../../server/testing/test-device.ts';
import { connectPeer } from '../../server/testing/test-peer.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { logIn, mailTo } from '../../server/testing/test-tenants.ts';
import {
  acceptTransfer,
  answerStat,
  beginDownload,
  beginUpload,
  sendContent,
  takeContent,
} from '../../server/testing/test-transfers.ts';
import { type CheckedResponse, DocumentClient } from '../testing/document-client.ts';

const fresh = 'a-fresh-password';
const userPassword = 'a-long-password';

let server: TestServer;
let client: DocumentClient;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: userPassword });
  const document = openApiOf({ apis: ['management'], url: server.baseUrl });
  const password = basic(server.adminEmail, userPassword);
  client = new DocumentClient(document, { userToken: server.adminToken, password });
  device = await acceptedDevice(server, 'one');
});

afterAll(() => server.close());

function basic(email: string, password: string): string {
  return Buffer.from(`${email}:${password}`).toString('base64');
}

/** The ID at the end of the Location header. */
function createdId({ headers }: CheckedResponse): string {
  return headers.get('Location')?.split('/').at(-1) ?? '';
}

/** Calls operations whose only parameter is `id`. */
async function callEach(path: Record<string, string>, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.call(id, { path });
}

describe('a client made from the OpenAPI document of the management API', () => {
  it('drives login, users and personal access tokens', async () => {
    const own = await client.call('login', { body: { no_expiry: false } });
    await client.call('logout', { secret: own.text });
    const email = 'user@example.com';
    const id = createdId(await client.call('create-user', { body: { email, roles: [] } }));
    const invitation = await mailTo(server, email);
    const secret_hash = invitation.secret;
    await client.call('complete-password-reset', { body: { secret_hash, password: fresh } });
    const oldUser = { email: 'old@example.com', password: fresh };
    const oldId = createdId(await client.call('create-user-v1', { body: oldUser }));
    await callEach({}, 'list-users', 'get-own-user');
    await callEach({ id }, 'get-user');
    await client.call('update-user', { path: { id }, body: { roles: [] } });
    const { text: secret } = await logIn(server, email, fresh);
    const body = { password: `${fresh}-2`, current_password: fresh };
    await client.call('update-own-user', { secret, body });
    const loggedIn = await logIn(server, email, body.password);
    const again = { password: `${fresh}-3`, current_password: body.password };
    await client.call('update-own-user-v1', { secret: loggedIn.text, body: again });
    const { text: last } = await logIn(server, email, again.password);
    const change = { email: 'new@example.com', current_password: again.password };
    await client.call('start-email-change', { secret: last, body: change });
    const mail = await mailTo(server, change.email);
    await client.call('complete-email-change', { body: { secret_hash: mail.secret } });
    await client.call('create-personal-token', { body: { name: 'ci', expires_in: 60 } });
    const tokens = await client.call('list-personal-tokens');
    const [token] = tokens.json<{ id: string }[]>();
    await callEach({ id: token?.id ?? '' }, 'revoke-personal-token');
    await callEach({ id: oldId }, 'delete-user');
    await callEach({}, 'get-own-tenant', 'get-own-tenant-v1', 'get-tenant-token');
    expect(client.problems).toEqual([]);
  });

  it('drives roles and permission sets', async () => {
    const sets = (await client.call('list-permission-sets')).json<{ name: string }[]>();
    const name = sets[0]?.name ?? '';
    await callEach({ id: name }, 'get-permission-set');
    const body = { name: 'readers', permission_sets_with_scope: [{ name }] };
    await client.call('create-role', { body });
    await callEach({}, 'list-roles', 'list-roles-v1');
    await callEach({ id: 'readers' }, 'get-role', 'get-role-v1');
    await client.call('update-role', { path: { id: 'readers' }, body: { description: 'all' } });
    await callEach({ id: 'readers' }, 'delete-role');
    const permissions = [{ action: 'VIEW_DEVICE', object: { type: 'DEVICE_GROUP', value: 'a' } }];
    await client.call('create-role-v1', { body: { name: 'old', permissions } });
    await client.call('update-role-v1', { path: { id: 'old' }, body: { description: 'old' } });
    await callEach({ id: 'old' }, 'delete-role-v1');
    expect(client.problems).toEqual([]);
  });

  it('drives devices, inventory, groups, configuration and monitor', async () => {
    const path = { id: device.id };
    const { publicKeyPem: pubkey } = newDevice('later');
    const identity_data = { mac: 'later' };
    const laterDevice = await client.call('preauthorize-device', {
      body: { identity_data, pubkey },
    });
    await client.call('list-devices', { query: { status: ['accepted', 'preauthorized'] } });
    await client.call('search-devices', { body: { status: ['accepted'], id: device.id } });
    await callEach({}, 'count-devices', 'get-device-limit');
    await callEach(path, 'get-device', 'get-inventory', 'get-device-group');
    await callEach({ name: 'max_devices' }, 'get-limit-by-name');
    const set = { id: device.id, aid: device.authSetId };
    await callEach(set, 'get-auth-set-status');
    await client.call('set-auth-set-status', { path: set, body: { status: 'accepted' } });
    await callEach({ id: createdId(laterDevice) }, 'decommission-device');
    const gone = await acceptedDevice(server, 'gone');
    await callEach({ jti: gone.authSetId }, 'revoke-token');
    await callEach({ id: gone.id, aid: gone.authSetId }, 'delete-auth-set');

    const tags = [{ name: 'site', value: 'north' }];
    await client.call('replace-tags', { path, body: tags });
    await client.call('add-tags', { path, body: tags });
    await client.call('set-device-group', { path, body: { group: 'north' } });
    await client.call('list-inventory', { query: { group: 'north', sort: 'site:asc' } });
    const filters = [{ scope: 'tags', attribute: 'site', type: '$eq', value: 'north' }];
    await client.call('search-inventory', { body: { filters } });
    await callEach({}, 'list-groups', 'list-filterable-attributes');
    await callEach({ name: 'north' }, 'list-group-devices');
    await callEach({ id: device.id, name: 'north' }, 'clear-device-group');
    const members = { path: { name: 'south' }, body: [device.id] };
    await client.call('add-group-devices', members);
    await client.call('remove-group-devices', members);

    await client.call('set-configuration', { path, body: { key: 'value' } });
    await client.call('deploy-configuration', { path, body: { retries: 1 } });
    await callEach(path, 'show-configuration', 'abort-device-deployments');
    const subject = { name: 'disk.service', type: 'systemd.unit', status: 'killed' };
    const alert = { name: 'disk', level: 'CRITICAL', subject, timestamp: '2026-11-21T12:00:00Z' };
    await server.call('post-alerts', { token: device.token, json: [alert] });
    await callEach(path, 'list-alerts', 'list-latest-alerts', 'show-monitor-configuration');
    await client.call('switch-alert-emails', { body: { enabled: false } });
    expect(client.problems).toEqual([]);
  });

  it('drives artifacts, releases, deployments and their devices', async () => {
    const file = (bytes: Buffer) => new Blob([new Uint8Array(bytes)]);
    const artifact = file(await artifactBytes());
    const upload = await client.call('upload-artifact', { form: { description: 'a', artifact } });
    const form = { name: 'made', device_types_compatible: 'board', type: 'single-file' };
    const args = JSON.stringify({ dest_dir: '/opt', filename: 'a.txt' });
    const plain = { ...form, args, file: file(Buffer.from('a')) };
    const made = await client.call('generate-artifact', { form: plain });
    const path = { id: createdId(upload) };
    await callEach({}, 'list-all-artifacts', 'list-artifacts-v1', 'list-paged-artifacts-v1');
    await callEach(path, 'show-artifact', 'get-artifact-download');
    await client.call('update-artifact', { path, body: { description: 'b' } });
    await callEach({ id: createdId(made) }, 'delete-artifact');
    await callEach({}, 'get-storage-usage', 'list-releases', 'list-releases-v1');
    await callEach({}, 'list-paged-releases-v1');
    const release = { name: 'release-1' };
    await callEach(release, 'get-release');
    await client.call('update-release', { path: release, body: { notes: 'good' } });
    await client.call('put-release-tags', { path: release, body: ['stable'] });
    await callEach({}, 'list-release-tags', 'list-release-types');
    await publish(server, { name: 'unused' });
    await client.call('delete-releases', { query: { name: ['unused'] } });

    await publish(server, { name: 'release-0' });
    const map = { priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };
    const given = { autogenerate_delta: true, update_control_map: map };
    const body = { name: 'spring', artifact_name: 'release-1', devices: [device.id], ...given };
    const id = createdId(await client.call('create-deployment', { body }));
    await nextRequests['POST v2'](server, device.token, board);
    const jobs = (await client.call('list-delta-jobs')).json<{ id: string }[]>();
    await callEach({ id: jobs[0]?.id ?? '' }, 'get-delta-job');
    await client.call('update-deployment', { path: { id }, body: { update_control_map: map } });
    const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'begun' }];
    const log = { token: device.token, parameters: { id }, json: { messages } };
    await server.call('put-deployment-log', log);
    await callEach({}, 'list-deployments', 'list-deployments-v1');
    await callEach({ id }, 'get-deployment', 'get-deployment-statistics');
    await client.call('list-deployment-statistics', { body: { deployment_ids: [id] } });
    await callEach({ id }, 'list-deployment-devices', 'list-deployment-device-ids');
    await callEach({ deployment_id: id }, 'list-deployment-devices-v1');
    await callEach({ id, device_id: device.id }, 'get-deployment-log');
    await report(server, device, { id, status: 'success' });
    await callEach({ id: device.id }, 'list-device-deployments', 'reset-device-deployments');
    const group = { path: { name: 'north' }, body: { group: 'north' } };
    await client.call('set-device-group', { path: { id: device.id }, body: group.body });
    const again = { name: 'again', artifact_name: 'release-1' };
    await client.call('create-group-deployment', { path: group.path, body: again });
    const otherDeployment = await deploy(server, [device], { name: 'other' });
    await client.call('abort-deployment', {
      path: { id: otherDeployment },
      body: { status: 'aborted' },
    });
    expect(client.problems).toEqual([]);
  });

  it('drives connected devices, their files, and the audit log', async () => {
    const path = { id: device.id };
    const peer = await connectPeer(server, device);
    await callEach(path, 'get-connection', 'check-device-update', 'send-device-inventory');
    await peer.nextOf('check-update');
    await peer.nextOf('send-inventory');
    const query = { path: '/etc/motd' };
    const content = Buffer.from('hello');
    const download = client.call('download-device-file', { path, query });
    await sendContent(peer, await beginDownload(peer), content);
    await peer.nextOf('close');
    await download;
    const described = client.call('describe-device-file', { path, query });
    await acceptTransfer(peer);
    await answerStat(peer);
    await peer.nextOf('close');
    await described;
    const form = { path: '/etc/motd', uid: '0', mode: '644', file: new Blob([content]) };
    const upload = client.call('upload-device-file', { path, form });
    await takeContent(peer, await beginUpload(peer));
    await upload;
    const socket = await client.connect('connect-device', { path });
    const closed = once(socket, 'close');
    socket.close();
    await closed;
    peer.socket.close();
    await client.call('list-audit-logs', { query: { sort: 'asc', object_type: 'device' } });
    await client.call('export-audit-logs', { query: { limit: '10' } });
    expect(client.problems).toEqual([]);
  });

  it('has driven every operation of the document', () => {
    expect(client.operationIds.filter((id) => !client.driven.has(id))).toEqual([]);
  });

  it('gets a documented 401 from every operation that needs a secret', async () => {
    const responses: CheckedResponse[] = [];
    const ids = client.protectedIds.filter((id) => id !== 'connect-device');
    for (const id of ids) responses.push(await client.sendUnauthorized(id));
    expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 401));
    expect(client.problems).toEqual([]);
  });
});
