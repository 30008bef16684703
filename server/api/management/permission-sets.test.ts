import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PermissionSetDescription } from '../../../fixtures/contract/management/roles.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

function list(query: Record<string, string> = {}) {
  return server.call('list-permission-sets', { token: server.adminToken, query });
}

function get(id: string) {
  const call = { token: server.adminToken, parameters: { id } };
  return server.call('get-permission-set', call);
}

describe('the permission sets', () => {
  it('are listed with their permissions and whether groups can limit them', async () => {
    const sets = (await list()).json<PermissionSetDescription[]>();
    expect(sets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Basic', 'SuperUser', 'ManageUsers', 'ReadDevices', 'ReadReleases']),
    );
    expect(sets.find(({ name }) => name === 'ReadAuditLogs')).toEqual({
      name: 'ReadAuditLogs',
      action: 'Read',
      object: 'System audit log',
      description: 'Read and export the audit log.',
      permissions: [
        { action: 'http', object: { type: 'GET', value: '^/api/management/v1/auditlogs/logs$' } },
        {
          action: 'http',
          object: { type: 'GET', value: '^/api/management/v1/auditlogs/logs/export$' },
        },
      ],
    });
    const scoped = sets.filter(({ supported_scope_types: types }) => types);
    expect(scoped.map(({ name }) => name)).toEqual([
      'ReadDevices',
      'ManageDevices',
      'DeployToDevices',
      'ConfigureDevices',
      'ConnectToDevices',
    ]);
  });

  it('are listed in pages', async () => {
    const response = await list({ per_page: '2', page: '2' });
    expect(response.json<unknown[]>()).toHaveLength(2);
    expect(response.headers.get('link')).toContain('rel="next"');
    expect((await list({ page: '99' })).text).toBe('[]');
    expect((await list({ per_page: '501' })).status).toBe(400);
  });

  it('can be read one by one', async () => {
    const [first] = (await list()).json<PermissionSetDescription[]>();
    expect((await get(first?.name ?? '')).json()).toEqual(first);
  });

  it.each(['readdevices', 'constructor', '__proto__', '%20'])('return 404 for %j', async (id) => {
    const response = await get(id);
    expect([response.status, response.json().error]).toEqual([
      404,
      expect.stringContaining('SuperUser'),
    ]);
  });
});
