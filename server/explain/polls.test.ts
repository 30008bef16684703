import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { publish } from '../testing/test-artifacts.ts';
import { deploy } from '../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { correctedOf } from '../testing/test-explanations.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'polls');
});

afterAll(() => server.close());

const provides = { artifact_name: 'release-7', device_type: 'board' };
const search = '?artifact_name=release-7&device_type=board';
const pathOf = ({ path }: { path: string }): string => path;
const { 'post-next-deployment': first, 'post-next-deployment-v2': second } = operations;

describe('the proposed correction of a poll', () => {
  it.each([
    ['version 1', first, { device_provides: provides, update_control_map: true }, provides],
    ['version 2', second, provides, { device_provides: provides }],
  ] as const)(
    'takes for %s values from a body of the other version',
    async (name, row, json, expected) => {
      const response = await server.request('POST', row.path, { token: device.token, json });
      const { correctedRequest, before } = await correctedOf(server, response);
      expect([response.status, JSON.parse(correctedRequest.body ?? '')]).toEqual([400, expected]);
      expect(before).toContain(`${name} of this operation`);
    },
  );

  it.each([{}, { device_provides: 7 }])(
    'assumes no version for a body of neither version: %j',
    async (json) => {
      const response = await server.request('POST', second.path, { token: device.token, json });
      expect((await correctedOf(server, response)).before ?? '').not.toContain('version');
    },
  );

  it('repeats the values of the last poll and invents none', async () => {
    const { token } = await acceptedDevice(server, 'says');
    const status = pathOf(operations['put-deployment-status']).replace('{id}', 'nothing');
    const call = { token, json: { status: 'success' } };
    const before = await correctedOf(server, await server.request('PUT', status, call));
    const unknown = '?device_type=$DEVICE_TYPE&artifact_name=$ARTIFACT_NAME';
    const next = pathOf(operations['get-next-deployment']);
    expect(before.correctedRequest.path).toBe(next + unknown);
    await server.call('get-next-deployment', { token, query: provides });
    const after = await correctedOf(server, await server.request('PUT', status, call));
    expect(after.correctedRequest.path).toBe(next + search);
  });

  it('repeats all values of the last answered poll, over the same operation and version', async () => {
    const { token } = await acceptedDevice(server, 'repeats');
    const json = { device_provides: { ...provides, checksum: 'abc' }, update_control_map: true };
    await server.call('post-next-deployment-v2', { token, json });
    await server.call('post-next-deployment-v2', { token, json: { device_provides: {} } });
    const status = pathOf(operations['put-deployment-status']).replace('{id}', 'nothing');
    for (const response of [
      await server.request('PUT', status, { token, json: { status: 'success' } }),
      await server.request('DELETE', pathOf(first), { token }),
      await server.request('GET', `${pathOf(first)}?device_type=board`, { token }),
      await server.call('post-next-deployment-v2', { token, json: { device_provides: {} } }),
    ]) {
      const { correctedRequest } = await correctedOf(server, response);
      expect([correctedRequest.path, correctedRequest.body]).toEqual([
        pathOf(second),
        JSON.stringify(json),
      ]);
    }
  });

  it.each([
    ['another device type', { device_type: 'other' }],
    ['one value more', { device_type: 'board', more: 'x' }],
  ])(
    'asks for missing values when others than in the last poll were sent: %s',
    async (_, provided) => {
      const { token } = await acceptedDevice(
        server,
        `other ${Object.keys(provided)} ${provided.device_type}`,
      );
      await server.call('get-next-deployment', { token, query: provides });
      const call = { token, json: { device_provides: provided } };
      const response = await server.call('post-next-deployment-v2', call);
      const { correctedRequest, variables } = await correctedOf(server, response);
      expect(JSON.parse(correctedRequest.body ?? '')).toEqual({
        device_provides: { ...provided, artifact_name: '$ARTIFACT_NAME' },
      });
      expect(variables.ARTIFACT_NAME).toContain('installed on the device');
    },
  );

  it('warns that it ends an update in progress, and only then', async () => {
    const own = await acceptedDevice(server, 'under way');
    const { token } = own;
    const json = { device_provides: provides, update_control_map: 'true' };
    const firstOf = async (call: object) =>
      (await correctedOf(server, await server.call('post-next-deployment-v2', { token, ...call })))
        .before ?? '';
    expect(await firstOf({ json })).not.toContain('under way');
    await publish(server, { name: 'release-9' });
    await deploy(server, [own], { artifact_name: 'release-9' });
    await server.call('get-next-deployment', { token, query: provides });
    const ends = 'a poll with different data ends the update in progress, which was offered for ';
    expect(await firstOf({ json })).toContain(`${ends}artifact_name=release-7, device_type=board`);
    const same = { device_provides: { ...provides, device_type: ['board'] } };
    expect(await firstOf({ json: same })).not.toContain('under way');
    const otherPoll = { device_provides: { ...provides, device_type: 5 } };
    expect(await firstOf({ json: otherPoll })).toContain(ends);
    const path = `${pathOf(operations['get-next-deployment'])}${search}`;
    const { before = '' } = await correctedOf(server, await server.request('GET', path));
    expect(before).toContain('a poll with different data ends an update in progress');
  });

  it('is left to the sender if the body is not JSON', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"device_provides":{"device_type":"board","checksum":"abc"}';
    const call = { token: device.token, headers, body };
    const response = await server.call('post-next-deployment-v2', call);
    expect((await correctedOf(server, response)).correctedRequest.body).toBe('@$BODY_FILE');
  });
});
