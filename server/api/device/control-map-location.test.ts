import { afterEach, describe, expect, it } from 'vitest';
import type { DialectName } from '../../../fixtures/contract/dialects.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy } from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

const map = { priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };

let server: TestServer;

afterEach(() => server.close());

/**
 * Returns the v2 instructions under the dialects, for a device with or without support for maps.
 */
async function instructions(
  dialects: readonly DialectName[],
  { takesMap, given }: { takesMap: boolean; given: Readonly<Record<string, unknown>> },
): Promise<{ readonly id: string; readonly body: Record<string, unknown> }> {
  server = await startTestServer({ dialects: new Set(dialects) });
  await publish(server);
  const device = await acceptedDevice(server, 'asking');
  const id = await deploy(server, [device], given);
  const json = { device_provides: board, update_control_map: takesMap };
  const response = await server.call('post-next-deployment-v2', { token: device.token, json });
  expect(response.status).toBe(200);
  return { id, body: response.json() };
}

describe('the update control map in version 2 instructions', () => {
  it('is in artifact only, as the contract says', async () => {
    const options = { takesMap: true, given: { update_control_map: map } };
    const { id, body } = await instructions([], options);
    expect(body).toMatchObject({ artifact: { update_control_map: { id, ...map } } });
    expect(Object.keys(body)).toEqual(['id', 'artifact']);
  });

  it('is also beside id under the dialect top-level-control-map', async () => {
    const options = { takesMap: true, given: { update_control_map: map } };
    const { id, body } = await instructions(['top-level-control-map'], options);
    expect(body).toMatchObject({
      update_control_map: { id, ...map },
      artifact: { update_control_map: { id, ...map } },
    });
  });

  it.each([
    ['a device that does not take maps', { takesMap: false, given: { update_control_map: map } }],
    ['a deployment without one', { takesMap: true, given: {} }],
  ])('is absent under the dialect top-level-control-map for %s', async (_, options) => {
    const { body } = await instructions(['top-level-control-map'], options);
    expect(JSON.stringify(body)).not.toContain('update_control_map');
  });
});
