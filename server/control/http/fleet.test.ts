import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';
import { variationRows } from '../../variation/variations.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ variationSeed: 'seed' });
});

afterAll(() => server.close());

async function ask(path: string) {
  const { status, text } = await control(server, 'GET', path);
  return { status, body: JSON.parse(text) };
}

describe('the fleet of a tenant', () => {
  it('is an empty list without devices', async () => {
    expect((await ask('/devices')).body).toEqual({ devices: [] });
  });

  it('lists every device with its reported data', async () => {
    const { id, token } = await acceptedDevice(server, 'fleet-1');
    const json = [
      { name: 'device_type', value: 'board' },
      { name: 'artifact_name', value: ['no', 'text'] },
    ];
    await server.call('put-attributes', { token, json });
    await authenticate(server, newDevice('fleet-2'));
    const { devices } = (await ask('/devices')).body;
    expect(devices).toMatchObject([
      { id, status: 'accepted', connected: false, deviceType: 'board' },
      { status: 'pending', connected: false },
    ]);
    expect(devices[0].artifactName).toBeUndefined();
    expect(devices[0].identity).toContain('fleet-1');
  });

  it('belongs to the tenant that the query names', async () => {
    const { name } = await secondTenant(server);
    expect((await ask(`/devices?tenant=${name}`)).body).toEqual({ devices: [] });
    expect((await ask(`/overview?tenant=${name}`)).body.deviceCounts.accepted).toBe(0);
    expect((await ask('/devices?tenant=nobody')).status).toBe(404);
    expect((await ask('/events?tenant=nobody')).status).toBe(404);
  });

  it('is summarized with as many devices as the query asks for', async () => {
    expect((await ask('/overview')).body.devices).toHaveLength(2);
    expect((await ask('/overview?devices=1')).body.devices).toHaveLength(1);
    expect((await ask('/overview?devices=0')).body.devices).toHaveLength(0);
    expect((await ask('/overview?devices=501')).status).toBe(400);
    expect((await ask('/overview?devices=all')).status).toBe(400);
  });
});

describe('the request counts of each second', () => {
  it('include refusals and errors, grouped by tenant', async () => {
    const counting = await startTestServer();
    const view = async (query: string) =>
      JSON.parse((await control(counting, 'GET', `/request-counts?${query}`)).text);
    const { name } = await secondTenant(counting);
    counting.clock.advance(2000);
    await acceptedDevice(counting, 'counted');
    counting.clock.advance(1000);
    const { fromSecond, requests, errors } = await view('seconds=4');
    expect(fromSecond).toBe(counting.clock.now() / 1000 - 4);
    expect(requests.slice(0, 1)).toEqual([null]);
    expect(requests[2]).toBe(0);
    expect(requests[3]).toBeGreaterThan(2);
    // The first contact of a device is refused.
    expect(errors[3]).toBe(1);
    expect((await view(`seconds=1&tenant=${name}`)).requests).toEqual([0]);
    counting.clock.advance(3600_000);
    expect((await view('seconds=3600')).requests.every((count: number) => count === 0)).toBe(true);
    await counting.close();
  });

  it.each(['seconds=0', 'seconds=3601', 'seconds=many', 'second=1'])(
    'refuse the query ?%s',
    async (query) => {
      expect((await ask(`/request-counts?${query}`)).status).toBe(400);
    },
  );
});

describe('the variations of a server', () => {
  const change = async (method: string, body?: unknown) => {
    const { status, text } = await control(server, method, '/variations', body);
    return { status, body: JSON.parse(text) };
  };
  const isOn = ({ body }: { body: { variations: { id: string; isOn: boolean }[] } }): string[] =>
    body.variations.filter((row) => row.isOn).map(({ id }) => id);

  it('are listed with the seed, and are all on with it', async () => {
    const listed = await ask('/variations');
    expect(listed.body.seed).toBe('seed');
    expect(listed.body.variations).toEqual(
      variationRows.map(({ id, varies, rule }) => ({ id, varies, rule, isOn: true })),
    );
  });

  it('can be switched one by one, and back to those of the start', async () => {
    const names = async (): Promise<string[]> => {
      const { headers } = await fetch(`${server.baseUrl}/nowhere`);
      return [headers.get('transfer-encoding'), headers.get('content-type')].map(String);
    };
    const json = 'application/json; charset=utf-8';
    expect(isOn(await change('PUT', { variations: ['chunked'] }))).toEqual(['chunked']);
    for (let round = 0; round < 5; round += 1) expect(await names()).toEqual(['chunked', json]);
    expect(isOn(await change('PUT', { variations: [] }))).toEqual([]);
    for (let round = 0; round < 5; round += 1) expect(await names()).toEqual(['null', json]);
    expect(isOn(await change('DELETE'))).toHaveLength(variationRows.length);
  });

  it.each([
    [{ variations: ['chunk'] }, 'variations.0: must be one of '],
    [{ variations: 'chunked' }, 'variations: '],
    [{ variation: ['chunked'] }, 'variation'],
    [{}, 'variations: '],
  ])('are not changed by the body %j', async (body, error) => {
    const refused = await change('PUT', body);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(error)]);
    expect(isOn(await ask('/variations'))).toHaveLength(variationRows.length);
  });
});
