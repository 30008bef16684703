/** A valid request for each operation of the contract that a target has. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { deploymentInstructionsV1Shape } from '../../fixtures/contract/resources.ts';
import type { ApiCaller } from '../target/call.ts';
import { expectShape } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { factoryProvides, requireOffer, StartStateNotReached } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { TestContext } from './test-context.ts';

/** Sends a valid request of one operation as the given caller, and returns the response. */
export type CallAsCaller = (caller: ApiCaller) => Promise<HttpResponse>;
export type OperationCalls = Readonly<Partial<Record<OperationId, CallAsCaller>>>;

const path = { id: '11111111-2222-4333-8444-555555555555' };
const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'text' }];

/** The headers of a WebSocket client. RFC 6455, section 4.1 */
const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': Buffer.from('sixteen bytes ok').toString('base64'),
  'sec-websocket-version': '13',
};

/** The call that shows whether a device's token is valid; every target has its operation. */
export const pollNext: CallAsCaller = (caller) =>
  caller.call('get-next-deployment', { query: factoryProvides });

/** Operations that need a device token. */
export const deviceCalls: OperationCalls = {
  'list-artifacts': (caller) =>
    caller.call('list-artifacts', { query: { release_name: 'any', device_type: 'any' } }),
  'get-artifact': (caller) => caller.call('get-artifact', { path }),
  'get-artifact-link': (caller) => caller.call('get-artifact-link', { path }),
  'get-next-deployment': pollNext,
  'post-next-deployment': (caller) =>
    caller.call('post-next-deployment', { body: factoryProvides }),
  'put-deployment-status': (caller) =>
    caller.call('put-deployment-status', { path, body: { status: 'success' } }),
  'put-deployment-log': (caller) => caller.call('put-deployment-log', { path, body: { messages } }),
  'post-next-deployment-v2': (caller) =>
    caller.call('post-next-deployment-v2', { body: { device_provides: factoryProvides } }),
  'get-update-control-map': (caller) => caller.call('get-update-control-map', { path }),
  'get-configuration': (caller) => caller.call('get-configuration'),
  'put-configuration': (caller) => caller.call('put-configuration', { body: { key: 'value' } }),
  connect: requestSocket,
  'post-alerts': (caller) => caller.call('post-alerts', { body: [] }),
  'post-monitor-configuration': (caller) => caller.call('post-monitor-configuration', { body: [] }),
  'patch-attributes': (caller) => caller.call('patch-attributes', { body: [] }),
  'put-attributes': (caller) => caller.call('put-attributes', { body: [] }),
};

/** Operations that need a user token. Each requests one entry, since audit logs can be large. */
export const userCalls: OperationCalls = {
  'list-audit-logs': (caller) => caller.call('list-audit-logs', { query: { per_page: 1 } }),
  'export-audit-logs': (caller) => caller.call('export-audit-logs', { query: { limit: 1 } }),
};

/** All operations that need a token. */
export const tokenCalls: OperationCalls = { ...deviceCalls, ...userCalls };

/**
 * Returns the calls that a device makes without a token: with its signature, and with a signed
 * link.
 */
export async function tokenlessCalls(
  context: TestContext,
  device: SuiteDevice,
): Promise<OperationCalls> {
  const link = await configurationLink(context, device);
  return {
    'post-auth-request': () => device.authenticate(),
    ...(link === undefined
      ? {}
      : {
          'download-configuration': ({ client }) => client.send({ method: 'GET', url: link }),
        }),
  };
}

/** Returns the link to the device's configuration; undefined where the target has none. */
export async function configurationLink(
  context: TestContext,
  device: SuiteDevice,
): Promise<string | undefined> {
  if (!('download-configuration' in context.offered({ 'download-configuration': true }))) {
    return undefined;
  }
  await context.admin.configure(device.id, { timezone: 'Europe/Oslo' });
  await context.deployConfiguration(device);
  const offer = await requireOffer(context, 'get-next-deployment', () =>
    device.call('get-next-deployment', { query: factoryProvides }),
  );
  const { uri } = expectShape(offer, deploymentInstructionsV1Shape).artifact.source;
  if (uri === undefined || !URL.canParse(uri)) {
    throw new StartStateNotReached('a link to a configuration', `the source is ${uri ?? 'none'}`);
  }
  return uri;
}

async function requestSocket(caller: ApiCaller): Promise<HttpResponse> {
  const response = await caller.client.upgrade(
    caller.request('connect', { headers: upgradeHeaders }),
  );
  response.socket?.destroy();
  return response;
}
