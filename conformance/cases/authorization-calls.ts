/** Requests that are right in all but their token, one for each operation that takes a token. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { factoryProvides } from '../stage/start-states.ts';
import type { Caller } from '../target/call.ts';
import type { Headers } from '../target/exchange.ts';
import type { Answer } from '../target/target.ts';

/** Calls one operation as that caller. */
export type Call = (caller: Caller) => Promise<Answer>;

const query = factoryProvides;
const path = { id: '11111111-2222-4333-8444-555555555555' };
const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'text' }];

/** What a websocket client sends. RFC 6455, section 4.1 */
const upgradeHeaders: Headers = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': Buffer.from('sixteen bytes ok').toString('base64'),
  'sec-websocket-version': '13',
};

/** Asks for an upgrade; a socket that is granted ends at once. */
async function connect(caller: Caller): Promise<Answer> {
  const request = caller.request('connect', { headers: upgradeHeaders });
  const { socket, ...answer } = await caller.session.upgrade(request);
  socket?.destroy();
  return answer;
}

/** The call that shows whether a device's token is good: every target has it. */
export const askForNext: Call = (caller) => caller.call('get-next-deployment', { query });

/** The operations that a device's token opens. */
export const deviceCalls: Readonly<Partial<Record<OperationId, Call>>> = {
  'list-artifacts': (caller) =>
    caller.call('list-artifacts', { query: { release_name: 'any', device_type: 'any' } }),
  'get-artifact': (caller) => caller.call('get-artifact', { path }),
  'get-artifact-link': (caller) => caller.call('get-artifact-link', { path }),
  'get-next-deployment': askForNext,
  'post-next-deployment': (caller) => caller.call('post-next-deployment', { body: query }),
  'put-deployment-status': (caller) =>
    caller.call('put-deployment-status', { path, body: { status: 'success' } }),
  'put-deployment-log': (caller) => caller.call('put-deployment-log', { path, body: { messages } }),
  'post-next-deployment-v2': (caller) =>
    caller.call('post-next-deployment-v2', { body: { device_provides: query } }),
  'get-update-control-map': (caller) => caller.call('get-update-control-map', { path }),
  'get-configuration': (caller) => caller.call('get-configuration'),
  'put-configuration': (caller) => caller.call('put-configuration', { body: { key: 'value' } }),
  connect,
  'post-alerts': (caller) => caller.call('post-alerts', { body: [] }),
  'post-monitor-configuration': (caller) => caller.call('post-monitor-configuration', { body: [] }),
  'patch-attributes': (caller) => caller.call('patch-attributes', { body: [] }),
  'put-attributes': (caller) => caller.call('put-attributes', { body: [] }),
};

/** The operations that a user's token opens. */
export const userCalls: Readonly<Partial<Record<OperationId, Call>>> = {
  'list-audit-logs': (caller) => caller.call('list-audit-logs'),
  'export-audit-logs': (caller) => caller.call('export-audit-logs'),
};

/** All of them. */
export const tokenCalls: Readonly<Partial<Record<OperationId, Call>>> = {
  ...deviceCalls,
  ...userCalls,
};
