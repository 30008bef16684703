/** Cases: who may call which operation. Spec: Authentication */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import { expectEach, expectStatus } from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice } from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';
import type { Caller } from '../target/call.ts';
import type { Answer } from '../target/target.ts';
import { forged, unsigned, withOtherClaims } from '../target/token-claims.ts';

type Call = (caller: Caller) => Promise<Answer>;

const query = { artifact_name: 'conformance-factory', device_type: 'conformance-board' };
const path = { id: '11111111-2222-4333-8444-555555555555' };
const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'text' }];

/** A request that is right in all but its token, for each operation that a device token opens. */
const deviceCalls: Readonly<Partial<Record<OperationId, Call>>> = {
  'list-artifacts': (caller) =>
    caller.call('list-artifacts', { query: { release_name: 'any', device_type: 'any' } }),
  'get-artifact': (caller) => caller.call('get-artifact', { path }),
  'get-artifact-link': (caller) => caller.call('get-artifact-link', { path }),
  'get-next-deployment': (caller) => caller.call('get-next-deployment', { query }),
  'post-next-deployment': (caller) => caller.call('post-next-deployment', { body: query }),
  'put-deployment-status': (caller) =>
    caller.call('put-deployment-status', { path, body: { status: 'success' } }),
  'put-deployment-log': (caller) => caller.call('put-deployment-log', { path, body: { messages } }),
  'post-next-deployment-v2': (caller) =>
    caller.call('post-next-deployment-v2', { body: { device_provides: query } }),
  'get-update-control-map': (caller) => caller.call('get-update-control-map', { path }),
  'get-configuration': (caller) => caller.call('get-configuration'),
  'put-configuration': (caller) => caller.call('put-configuration', { body: { key: 'value' } }),
  'post-alerts': (caller) => caller.call('post-alerts', { body: [] }),
  'post-monitor-configuration': (caller) => caller.call('post-monitor-configuration', { body: [] }),
  'patch-attributes': (caller) => caller.call('patch-attributes', { body: [] }),
  'put-attributes': (caller) => caller.call('put-attributes', { body: [] }),
};

/** The same for the operations that a user token opens. */
const userCalls: Readonly<Partial<Record<OperationId, Call>>> = {
  'list-audit-logs': (caller) => caller.call('list-audit-logs'),
  'export-audit-logs': (caller) => caller.call('export-audit-logs'),
};

function missingTokenCase([id, call]: [string, Call]): JudgingCase<Stage> {
  return {
    id: `${id}-without-token-is-401`,
    title: `The operation ${id} answers 401 to a caller without an Authorization header.`,
    requirements: ['tokens.missing-is-401'],
    covers: [`${id as OperationId} 401`],
    run: async (stage) => expectStatus(await call(stage.caller()), 401),
  };
}

const missing = defineScenario({
  area: 'authorization',
  name: 'No token',
  start: 'a caller without any token',
  risk: 'read',
  arrange: (stage) => stage,
  cases: Object.entries({ ...deviceCalls, ...userCalls }).map(missingTokenCase),
});

const invalid = defineScenario({
  area: 'authorization',
  name: 'An invalid token',
  start: 'an accepted device with a token',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'forged-token-is-401-everywhere',
      title: 'Every device operation answers 401 to a token whose signature was changed.',
      requirements: ['tokens.invalid-is-401'],
      run: async (device, stage) => {
        const thief = stage.caller(forged(device.token));
        await expectEach(401, deviceCalls, (call) => call(thief));
      },
    },
    {
      id: 'changed-claims-are-401',
      title: 'A token whose claims were changed under its old signature is answered 401.',
      requirements: ['tokens.invalid-is-401'],
      run: async (device, stage) => {
        const thief = stage.caller(withOtherClaims(device.token));
        expectStatus(await thief.call('get-next-deployment', { query }), 401);
      },
    },
    {
      id: 'unsigned-token-is-401',
      title: 'A token that asks for the algorithm `none` and has no signature is answered 401.',
      requirements: ['tokens.invalid-is-401'],
      run: async (device, stage) => {
        const thief = stage.caller(unsigned(device.token));
        expectStatus(await thief.call('get-next-deployment', { query }), 401);
      },
    },
    {
      id: 'other-schemes-are-401',
      title: 'An Authorization header with no token, no scheme or another scheme is answered 401.',
      requirements: ['tokens.invalid-is-401'],
      run: async (device, stage) => {
        const headers = {
          'no token': 'Bearer',
          'a token that is none': 'Bearer nonsense',
          'no scheme': device.token,
          'the scheme Basic': `Basic ${device.token}`,
        };
        await expectEach(401, headers, (authorization) =>
          stage.caller().call('get-next-deployment', { query, headers: { authorization } }),
        );
      },
    },
  ],
});

async function dismiss(stage: Stage, device: SuiteDevice, call: Call): Promise<Answer> {
  return stage.settled(
    () => call(stage.caller(device.token)),
    ({ status }) => status === 401,
  );
}

const apart = defineScenario({
  area: 'authorization',
  name: 'Whose token opens what',
  start: 'an accepted device with a token, and a user with one',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'user-token-opens-audit-log',
      title: 'The token of a user opens the audit log.',
      requirements: ['tokens.login-opens-management'],
      run: async (_, stage) =>
        expectStatus(await stage.operator.caller.call('list-audit-logs'), 200),
    },
    {
      id: 'device-token-on-audit-log-is-401',
      title: 'The token of a device does not open the audit log, neither list nor export.',
      requirements: ['tokens.kinds-are-apart'],
      run: async (device, stage) =>
        expectEach(401, userCalls, (call) => call(stage.caller(device.token))),
    },
    {
      id: 'user-token-on-device-api-is-401',
      title: 'The token of a user does not open any device operation.',
      requirements: ['tokens.kinds-are-apart'],
      run: async (_, stage) => expectEach(401, deviceCalls, (call) => call(stage.operator.caller)),
    },
    {
      id: 'token-of-rejected-device-is-401',
      title: 'A device that a user rejects can no longer use the token that it has.',
      requirements: ['tokens.end-with-acceptance'],
      run: async (device, stage) => {
        await stage.operator.decide(device.id, device.key, 'rejected');
        const ask: Call = (caller) => caller.call('get-next-deployment', { query });
        expectStatus(await dismiss(stage, device, ask), 401);
      },
    },
    {
      id: 'token-of-decommissioned-device-is-401',
      title: 'A device that a user decommissions can no longer use the token that it has.',
      requirements: ['tokens.end-with-acceptance'],
      run: async (device, stage) => {
        await stage.operator.decommission(device.id);
        const ask: Call = (caller) => caller.call('get-next-deployment', { query });
        expectStatus(await dismiss(stage, device, ask), 401);
      },
    },
  ],
});

/** Spec: Authentication */
export const authorizationCases = [...missing, ...invalid, ...apart];
