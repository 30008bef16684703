import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controlRows } from '../../../fixtures/control/operations.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await acceptedDevice(server, 'a');
  await secondTenant(server);
});

afterAll(() => server.close());

/** All calls about a tenant, and all calls about the whole server, with a placeholder name. */
function calls(areOfTenant: boolean): readonly string[] {
  return Object.entries(controlRows)
    .filter(([, { query = {}, isOpen }]) => !isOpen && 'tenant' in query === areOfTenant)
    .map(([id]) => id.replace(/\{\w+\}/g, '1'));
}

const ofTenant = calls(true);
const ofServer = calls(false);

async function refusal(call: string, query: string): Promise<string> {
  const [method = '', path = ''] = call.split(' ');
  const { status, text } = await control(server, method, `${path}?${query}`);
  expect(status, `${call}?${query}`).toBe(400);
  return JSON.parse(text).error;
}

async function facts() {
  const paths = ['/devices', '/tenants', '/snapshots', '/clock', '/faults', '/rate-limit'];
  return Promise.all(paths.map((path) => control(server, 'GET', path)));
}

describe('the query of a control call', () => {
  it.each([...ofTenant, ...ofServer])('returns 400 with an unknown name: %s', async (call) => {
    const factsBefore = await facts();
    for (const name of ['Tenant', 'tenant[]', 'tenants', 'tennant']) {
      const sentence = await refusal(call, `${encodeURIComponent(name)}=Second`);
      expect(sentence).toMatch(/^query: .*(is unknown; the .*tenant|has no parameters$)/);
      expect(sentence).toContain(name);
    }
    expect(await facts()).toEqual(factsBefore);
  });

  it.each(ofTenant)('returns 400 when it names two tenants: %s', async (call) => {
    await refusal(call, 'tenant=Default&tenant=Second');
  });

  it.each(ofServer)(
    'returns 400 with any tenant name for %s, which is about all tenants',
    async (call) => {
      expect(await refusal(call, 'tenant=Second')).toContain('this path has no parameters');
    },
  );

  it('returns 400 with a parameter of another method of the path', async () => {
    expect(await refusal('GET /faults', 'id=a')).toContain(
      'id: is unknown; the parameter is tenant',
    );
  });
});
