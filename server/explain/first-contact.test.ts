import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  newDevice,
  type TestDevice,
} from '../testing/test-device.ts';
import { contradictionsIn, correctedOf } from '../testing/test-explanations.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';
import { testPassword } from '../testing/test-tenants.ts';
import { explanationText } from './explanation-text.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: testPassword });
});

afterAll(() => server.close());

async function explained(response: TestResponse) {
  expect(response.status).toBe(401);
  const explanation = await correctedOf(server, response);
  expect(contradictionsIn(explanation)).toEqual([]);
  expect(explanation.problem.path).toBe('state');
  expect(explanationText(explanation)).toMatch(
    /^problem +the state of the server, not the request/m,
  );
  return explanation;
}

/** Returns the ID of the device as a user knows it. */
async function idOf({ idData }: TestDevice): Promise<string> {
  const response = await server.call('list-devices', {
    token: server.adminToken,
    query: { per_page: '500' },
  });
  const devices = response.json<{ id: string; identity_data: unknown }[]>();
  return devices.find(({ identity_data }) => JSON.stringify(identity_data) === idData)?.id ?? '';
}

describe('the explanation of a pending authentication request', () => {
  it('names no cause in a first contact, but the command that accepts it', async () => {
    const device = newDevice('first');
    const { problem, before, isUnchanged } = await explained(await authenticate(server, device));
    expect(problem).toEqual({
      path: 'state',
      expected: 'an accepted key of this device',
      actual: 'a new device, which this request has recorded',
    });
    expect(before).toBe(
      `nothing is wrong with the request: run "npx fleetbed accept ${await idOf(device)}", and send it again`,
    );
    expect(isUnchanged).toBe(true);
  });

  it('reports a second request as still pending', async () => {
    const device = newDevice('second');
    await authenticate(server, device);
    const { problem, before } = await explained(await authenticate(server, device));
    expect(problem.actual).toBe('a pending key: no user has accepted it yet');
    expect(before).toContain('npx fleetbed accept');
  });

  it('reports a new key when the device is known', async () => {
    await acceptedDevice(server, 'known');
    const { problem, before } = await explained(await authenticate(server, newDevice('known')));
    expect(problem.actual).toBe('a new key of a known device, which this request has recorded');
    expect(before).toContain('npx fleetbed accept');
  });

  it('names the identity of another device with the same key', async () => {
    const device = newDevice('started once');
    await authenticate(server, device);
    const otherDevice = { ...device, idData: newDevice('started twice').idData };
    const { before } = await explained(await authenticate(server, otherDevice));
    expect(before).toContain(
      `; the same key belongs to ${device.idData}: send the same id_data at each start`,
    );
  });

  it('reports a rejected key without a command to accept it', async () => {
    const device: AcceptedDevice = await acceptedDevice(server, 'rejected');
    await decide(server, device, 'rejected');
    const { problem, before, command } = await explained(await authenticate(server, device));
    expect(problem.actual).toBe('a rejected key');
    expect(before).toContain(`npx fleetbed accept ${device.id}`);
    expect(command).not.toContain('{"status":"accepted"}');
  });

  it('mentions a device that was decommissioned meanwhile', async () => {
    const device = newDevice('meanwhile');
    const response = await authenticate(server, device);
    const id = await idOf(device);
    await server.call('decommission-device', { token: server.adminToken, parameters: { id } });
    expect((await explained(response)).before).toContain('the device was removed: send it again');
  });

  it('mentions a key that was accepted meanwhile', async () => {
    const accepted = await acceptedDevice(server, 'accepted meanwhile');
    await decide(server, accepted, 'rejected');
    const refused = await authenticate(server, accepted);
    await decide(server, accepted, 'accepted');
    expect((await explained(refused)).before).toContain(
      'its key has been accepted since, so send it again',
    );
  });

  it('says to send the request again if its key was accepted automatically', async () => {
    const own = await startTestServer({ autoAccept: true });
    const response = await authenticate(own, newDevice('auto'));
    const { before, isUnchanged } = await correctedOf(own, response);
    expect([before, isUnchanged]).toEqual([
      'nothing is wrong with the request: its key has been accepted since, so send it again',
      true,
    ]);
    await own.close();
  });
});
