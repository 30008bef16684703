import { afterAll, describe, expect, it } from 'vitest';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { runFleet } from './simulator.ts';
import { type Testbed, type TestbedDevice, useTestbed } from './vitest.ts';

const release = 'release-2';
let ofTest: Testbed | undefined;
const ofConcurrent: Testbed[] = [];
const ofFile = await useTestbed({ seed: 'matchers' });
const updated = await updatedDevice();

afterAll(async () => {
  // Hooks run in reverse order, so the server of the file is still up.
  expect((await fetch(`${ofFile.controlUrl}/ready`)).status).toBe(200);
});

/** Returns a simulated device that has updated itself on the server of the file. */
async function updatedDevice(): Promise<TestbedDevice> {
  const artifact = await writeArtifact({
    name: release,
    deviceTypes: ['fleetbed-board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.alloc(1000, 7) }],
    modifiedMs: 0,
  });
  const form = new FormData();
  form.append('artifact', new Blob([Uint8Array.from(artifact)]), `${release}.mender`);
  await ofFile.admin.call('upload-artifact', { form });
  const { baseUrl: url, adminEmail: email, adminPassword: password } = ofFile;
  const { devices } = await runFleet({
    url,
    devices: 1,
    keys: { ed25519: 1 },
    poll: '100ms',
    ramp: '0s',
    drain: '0s',
    acceptWith: { email, password },
    deploy: release,
    until: 'settled',
  });
  return ofFile.device(devices[0]?.deviceId ?? '');
}

describe('a testbed of fleetbed/vitest', () => {
  it('runs until the end of the test that started it', async () => {
    ofTest = await useTestbed();
    expect((await fetch(`${ofTest.controlUrl}/ready`)).status).toBe(200);
  });

  it('is closed after that test, while the one of the file still runs', async () => {
    await expect(fetch(`${ofTest?.controlUrl}/ready`)).rejects.toThrow();
    expect((await fetch(`${ofFile.controlUrl}/ready`)).status).toBe(200);
  });

  it.concurrent.for([1, 2, 3])(
    'belongs to one of several concurrent tests only: %i',
    async (_, test) => {
      const testbed = await useTestbed({ test });
      expect((await fetch(`${testbed.controlUrl}/ready`)).status).toBe(200);
      ofConcurrent.push(testbed);
    },
  );

  it('is closed after each concurrent test', async () => {
    expect(ofConcurrent).toHaveLength(3);
    for (const { controlUrl } of ofConcurrent) await expect(fetch(controlUrl)).rejects.toThrow();
  });

  it('refuses a wrong option, as `startTestbed` does', async () => {
    await expect(useTestbed({ tokenLifetimeSeconds: 0 })).rejects.toThrow('tokenLifetimeSeconds');
  });
});

describe('the matchers for a device', () => {
  it('accept what the device reported and requested', async () => {
    expect(updated).toHaveReported('downloading', 'installing', 'success');
    expect(updated).toHaveReported('success');
    expect(updated).not.toHaveReported('failure');
    expect(updated).toHaveRequested('post-auth-request', { status: '401' });
    expect(updated).not.toHaveRequested('put-deployment-log');
    await updated.untilReported('success');
  });

  it.each([
    ['a status that was not reported', () => expect(updated).toHaveReported('failure')],
    ['another order', () => expect(updated).toHaveReported('success', 'downloading')],
    [
      'a request with another status',
      () => expect(updated).toHaveRequested('post-auth-request', { status: '500' }),
    ],
  ])('fail for %s, and say what the device did instead', (_, claim) => {
    expect(claim).toThrow(/^device \S+ was to: .*Seen instead: .*report success/);
  });

  it('fail for a forbidden report that the device made', () => {
    expect(() => expect(updated).not.toHaveReported('success')).toThrow(
      `device ${updated.name} reported success, and was not to`,
    );
  });

  it('pass on errors of the test itself', () => {
    expect(() => expect(updated).toHaveRequested('get-next')).toThrow(RangeError);
    expect(() => expect(updated).toHaveReported()).toThrow(RangeError);
  });

  it('say what a device did that never reported the awaited status', async () => {
    const never = updated.untilReported('failure', { timeoutSeconds: 0.05 });
    await expect(never).rejects.toThrow(/was to: report failure; .*Seen instead: .*report success/);
    const unknown = ofFile.device('nobody').untilReported('success', { timeoutSeconds: 0 });
    await expect(unknown).rejects.toThrow('Seen instead: nothing');
  });
});
