import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { DialectName } from '../../../fixtures/contract/dialects.ts';
import { publish } from '../../../server/testing/test-artifacts.ts';
import { abort, deviceDeploymentOf } from '../../../server/testing/test-deployments.ts';
import { startTestServer, type TestServer } from '../../../server/testing/test-server.ts';
import { type FieldDevice, letIn, startFieldDevice } from './testing/field-device.ts';
import {
  applicationFiles,
  applicationPath,
  deviceDeploymentWhen,
  rollOut,
  waitUntilFinished,
} from './testing/rollout.ts';

let server: TestServer;
let device: FieldDevice;

afterEach(async () => {
  await device.end();
  await server.close();
});

/** Starts a server with a dialect, and a device that is accepted and has an artifact to install. */
async function startOn(dialect: DialectName, settings: Readonly<Record<string, unknown>> = {}) {
  const dialects = new Set([dialect]);
  server = await startTestServer({ clock: systemClock, headerPrefix: 'X-MEN', dialects });
  device = await startFieldDevice(server, dialect, { settings });
  await publish(server, { files: applicationFiles });
  return { server, device, storedDevice: await letIn(server, device) };
}

const application = () => join(device.root, applicationPath);

describe("Debian's mender-client on a server with a dialect", { timeout: 60_000 }, () => {
  it('uses v1 when v2 is missing, and finishes its update', async () => {
    const client = await startOn('open-source', { DaemonLogLevel: 'debug' });
    const { status } = await waitUntilFinished(await rollOut(client, 'release-1'));
    expect(status).toBe('success');
    expect(readFileSync(application(), 'utf8')).toBe('content of app.bin');
    const next = /\/api\/devices\/(v\d)\/deployments\/device\/deployments\/next\\"/g;
    const asked = [...device.client.written.matchAll(next)].map(([, version]) => version);
    expect(asked.slice(0, 2)).toEqual(['v2', 'v1']);
  });

  it('downloads its artifact from a storage host', async () => {
    const client = await startOn('storage-host');
    const { status } = await waitUntilFinished(await rollOut(client, 'release-1'));
    expect(status).toBe('success');
    const link = /Validating the Update Info: (http:\/\/[^/]+)\//.exec(device.client.written)?.[1];
    expect(link).toBe(server.storageUrl);
    expect(link).not.toBe(server.baseUrl);
  });

  it('finishes its update when provisioning is delayed', async () => {
    const client = await startOn('asynchronous-provisioning');
    const { status } = await waitUntilFinished(await rollOut(client, 'release-1'));
    expect(status).toBe('success');
  });

  describe('during a pause by an update control map', () => {
    const pausing = { priority: 0, states: { ArtifactInstall_Enter: { action: 'pause' } } };
    /** The map outlives the test, because at its expiry the client would fail the update. */
    const settings = { UpdateControlMapExpirationTimeSeconds: 600 };

    async function startPaused() {
      const client = await startOn('top-level-control-map', settings);
      const rollout = await rollOut(client, 'release-1', { update_control_map: pausing });
      await deviceDeploymentWhen(rollout, ({ status }) => status === 'pause_before_installing');
      expect(existsSync(application())).toBe(false);
      return rollout;
    }

    it('continues when the control map is changed', async () => {
      const rollout = await startPaused();
      const states = { ArtifactInstall_Enter: { action: 'continue' } };
      const response = await server.call('update-deployment', {
        token: server.adminToken,
        parameters: { id: rollout.deployment },
        json: { update_control_map: { ...pausing, states } },
      });
      expect(response.status, response.text).toBe(204);
      expect((await waitUntilFinished(rollout)).status).toBe('success');
      expect(readFileSync(application(), 'utf8')).toBe('content of app.bin');
    });

    it('stops the update when the deployment is aborted', async () => {
      const rollout = await startPaused();
      expect((await abort(server, rollout.deployment)).status).toBe(204);
      await device.client.waitForOutput(
        /aborted from the server(.*\n)*.*cleanup \[Error\](.*\n)*.*-> idle/,
      );
      const part = await deviceDeploymentOf(server, rollout.deployment, rollout.storedDevice);
      expect(part?.status).toBe('aborted');
      expect(existsSync(application())).toBe(false);
    });
  });
});
