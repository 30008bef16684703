/** Deploys to one device and observes the deployment on the server and on the device. */
import type { DeploymentDevice } from '../../../../fixtures/contract/management/deployments.ts';
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { deploy, deviceDeploymentOf } from '../../../../server/testing/test-deployments.ts';
import type { TestServer } from '../../../../server/testing/test-server.ts';
import type { FieldDevice } from './field-device.ts';

export interface Rollout {
  readonly server: TestServer;
  readonly device: FieldDevice;
  /** The device as the management API returns it. */
  readonly storedDevice: Device;
  readonly deployment: string;
}

/**
 * Deploys an artifact to the device.
 * @param overrides members of the create-deployment request to replace
 */
export async function rollOut(
  client: Omit<Rollout, 'deployment'>,
  artifactName: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<Rollout> {
  const request = { artifact_name: artifactName, ...overrides };
  return { ...client, deployment: await deploy(client.server, [client.storedDevice], request) };
}

/**
 * Resolves with the device deployment once it matches. It is read after each output of the client,
 * so it must match before the client's last output.
 */
export function deviceDeploymentWhen(
  { server, device, storedDevice, deployment }: Rollout,
  matches: (deployed: DeploymentDevice) => boolean,
): Promise<DeploymentDevice> {
  return device.client.until(async () => {
    const deployed = await deviceDeploymentOf(server, deployment, storedDevice);
    return deployed && matches(deployed) ? deployed : undefined;
  });
}

/** Resolves with the device deployment once it is finished. */
export function waitUntilFinished(rollout: Rollout): Promise<DeploymentDevice> {
  return deviceDeploymentWhen(
    rollout,
    (deviceDeployment) => deviceDeployment.finished !== undefined,
  );
}

/** Returns the deployment log that the device uploaded. */
export async function logOf({ server, storedDevice, deployment }: Rollout): Promise<string> {
  const parameters = { id: deployment, device_id: storedDevice.id };
  const call = { token: server.adminToken, parameters };
  return (await server.call('get-deployment-log', call)).text;
}

/** The payload files with which Debian's module `single-file` installs an application. */
export const applicationFiles = Object.entries({
  dest_dir: '/var/lib/app\n',
  filename: 'app.bin\n',
  permissions: '640\n',
  'app.bin': 'content of app.bin',
}).map(([name, text]) => ({ name, content: Buffer.from(text) }));

/** Path of the installed application, from the root. */
export const applicationPath = 'var/lib/app/app.bin';
