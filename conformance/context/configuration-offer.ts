/** Start state: a device that was offered the deployment of its configuration, with the link. */
import { deploymentInstructionsV1Shape } from '../../fixtures/contract/resources.ts';
import { expectShape, expectUrl } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { acceptedDevice, factoryProvides, requireOffer } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { TestContext } from './test-context.ts';

/** The configuration that a user has set for the device. */
export const deployedPairs = { timezone: 'Europe/Oslo', colour: 'blue' } as const;

/** A deployment of a configuration that the target has offered to a device. */
export interface ConfigurationOffer {
  readonly device: SuiteDevice;
  readonly deviceType: string;
  /** The ID of the deployment in the device's instructions. */
  readonly id: string;
  /** The link to the configuration. */
  readonly uri: string;
  /** The expiry time of the link in the instructions, which is optional. */
  readonly expire: string | undefined;
  /** Requests a URL without a token. */
  readonly get: (url: string) => Promise<HttpResponse>;
}

/** Configures a device, deploys the configuration, and requests that deployment as the device. */
export async function configurationOffer(
  context: TestContext,
  {
    deviceType = factoryProvides.device_type,
    pairs = deployedPairs,
  }: { readonly deviceType?: string; readonly pairs?: Readonly<Record<string, string>> } = {},
): Promise<ConfigurationOffer> {
  const device = await acceptedDevice(context);
  await context.admin.configure(device.id, pairs);
  await context.deployConfiguration(device);
  const query = { ...factoryProvides, device_type: deviceType };
  const response = await requireOffer(context, 'get-next-deployment', () =>
    device.call('get-next-deployment', { query }),
  );
  const { id, artifact } = expectShape(response, deploymentInstructionsV1Shape);
  const uri = expectUrl('a source', artifact.source.uri);
  const get = (url: string): Promise<HttpResponse> => context.client.send({ method: 'GET', url });
  return { device, deviceType, id, uri, expire: artifact.source.expire, get };
}
