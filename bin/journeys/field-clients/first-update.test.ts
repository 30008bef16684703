import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { publish } from '../../../server/testing/test-artifacts.ts';
import { startTestServer } from '../../../server/testing/test-server.ts';
import { letIn, startFieldDevice } from './testing/field-device.ts';
import {
  applicationFiles,
  applicationPath,
  rollOut,
  waitUntilFinished,
} from './testing/rollout.ts';

it("Debian's mender-client installs an artifact of this project", { timeout: 60_000 }, async () => {
  const server = await startTestServer({ clock: systemClock, headerPrefix: 'X-MEN' });
  const device = await startFieldDevice(server, 'updated');
  try {
    const client = { server, device, storedDevice: await letIn(server, device) };
    await publish(server, { files: applicationFiles, provides: { 'app.version': '7' } });
    const { status, log } = await waitUntilFinished(await rollOut(client, 'release-1'));
    expect({ status, log }, device.client.written).toEqual({ status: 'success', log: false });
    expect(readFileSync(join(device.root, applicationPath), 'utf8')).toBe('content of app.bin');
  } finally {
    await device.end();
    await server.close();
  }
});
