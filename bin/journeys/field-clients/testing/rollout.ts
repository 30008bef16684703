/** One deployment to one device of the field, watched from both ends. */
import type { DeploymentDevice } from '../../../../fixtures/contract/management/deployments.ts';
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { deploy, deviceDeploymentOf } from '../../../../server/testing/test-deployments.ts';
import type { TestServer } from '../../../../server/testing/test-server.ts';
import type { FieldDevice } from './field-device.ts';

export interface Rollout {
  readonly server: TestServer;
  readonly device: FieldDevice;
  /** The device as users see it. */
  readonly known: Device;
  readonly deployment: string;
}

/** Deploys an artifact to the device; `overrides` changes the new deployment. */
export async function rollOut(
  on: Omit<Rollout, 'deployment'>,
  artifactName: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<Rollout> {
  const asked = { artifact_name: artifactName, ...overrides };
  return { ...on, deployment: await deploy(on.server, [on.known], asked) };
}

/**
 * The device deployment once it matches. It is read whenever the client has written something, so
 * it must match before the client's last output.
 */
export function deviceDeploymentWhen(
  { server, device, known, deployment }: Rollout,
  matches: (deployed: DeploymentDevice) => boolean,
): Promise<DeploymentDevice> {
  return device.client.until(async () => {
    const deployed = await deviceDeploymentOf(server, deployment, known);
    return deployed && matches(deployed) ? deployed : undefined;
  });
}

/** The device deployment once it has finished. */
export function finished(rollout: Rollout): Promise<DeploymentDevice> {
  return deviceDeploymentWhen(
    rollout,
    (deviceDeployment) => deviceDeployment.finished !== undefined,
  );
}

/** The log that the device has sent. */
export async function logOf({ server, known, deployment }: Rollout): Promise<string> {
  const parameters = { id: deployment, device_id: known.id };
  const call = { token: server.adminToken, parameters };
  return (await server.call('get-deployment-log', call)).text;
}

/** The files with which Debian's module `single-file` puts an application in its place. */
export const applicationFiles = Object.entries({
  dest_dir: '/var/lib/app\n',
  filename: 'app.bin\n',
  permissions: '640\n',
  'app.bin': 'content of app.bin',
}).map(([name, text]) => ({ name, content: Buffer.from(text) }));

/** Where the application is then, from the root. */
export const applicationPath = 'var/lib/app/app.bin';
