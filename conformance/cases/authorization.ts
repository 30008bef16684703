/** Cases: who may call which operation, cell by cell of the matrix. Spec: Authentication */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import {
  askForNext,
  type Call,
  deviceCalls,
  tokenCalls,
  userCalls,
} from '../context/every-call.ts';
import { authorizationOf } from '../context/passing-token.ts';
import type { Stage } from '../context/stage.ts';
import { acceptedDevice, factoryProvides } from '../context/start-states.ts';
import { type Coverage, defineScenario, type JudgingCase } from '../suite/case.ts';
import { anySuccess, expectEach, expectStatus } from '../suite/expectations.ts';
import { Caller } from '../target/call.ts';
import type { Answer } from '../target/target.ts';
import { forged, unsigned, withOtherClaims } from '../target/token-claims.ts';
import { type CallerKind, statusesOf } from './authorization-matrix.ts';

type Calls = Readonly<Partial<Record<OperationId, Call>>>;

/** Headers that hold no Bearer token, though a good token may be in them. */
const malformedHeaders: Readonly<Record<string, (token: string) => string>> = {
  'no token': () => 'Bearer',
  'an empty token': () => 'Bearer ',
  'no scheme': (token) => token,
  'another scheme': (token) => `Token ${token}`,
  'a password': (token) => `Basic ${Buffer.from(`device:${token}`).toString('base64')}`,
  'the scheme Basic before a token': (token) => `Basic ${token}`,
  'two tokens': (token) => `Bearer ${token} ${token}`,
};

/** Tokens that the target did not issue, made from one that it did. */
const invalidTokens: Readonly<Record<string, (token: string) => string>> = {
  'a word': () => 'nonsense',
  'three words': () => 'one.two.three',
  'another signature': forged,
  'other claims': withOtherClaims,
  'the algorithm none': unsigned,
  'no signature': (token) => token.slice(0, token.lastIndexOf('.') + 1),
  'no signature and no dot': (token) => token.slice(0, token.lastIndexOf('.')),
};

/** A case for each of the operations whose cell of this kind is a status. */
function casesOf<World>(
  kind: CallerKind,
  calls: Calls,
  make: (id: OperationId, call: Call, status: number) => JudgingCase<World>,
): readonly JudgingCase<World>[] {
  return statusesOf(kind).flatMap(([id, status]) => {
    const call = calls[id];
    const covers: readonly Coverage[] = [`${id} ${status}`];
    return call ? [{ ...make(id, call, status), covers }] : [];
  });
}

/** Where each operation stands: an answer other than 404 to a caller without a token shows it. */
const areas: Readonly<Partial<Record<OperationId, readonly RequirementId[]>>> = {
  'list-artifacts': ['service.device-apis', 'service.deployments-v1'],
  'get-artifact': ['service.device-apis', 'service.deployments-v1'],
  'get-artifact-link': ['service.device-apis', 'service.deployments-v1'],
  'get-next-deployment': ['service.device-apis', 'service.deployments-v1'],
  'post-next-deployment': ['service.device-apis', 'service.deployments-v1'],
  'put-deployment-status': ['service.device-apis', 'service.deployments-v1'],
  'put-deployment-log': ['service.device-apis', 'service.deployments-v1'],
  'post-next-deployment-v2': ['service.device-apis', 'service.deployments-v2'],
  'get-update-control-map': ['service.device-apis', 'service.deployments-v2'],
  'get-configuration': ['service.device-apis', 'service.configuration'],
  'put-configuration': ['service.device-apis', 'service.configuration'],
  connect: ['service.device-apis', 'service.connect'],
  'post-alerts': ['service.device-apis', 'service.monitor'],
  'post-monitor-configuration': ['service.device-apis', 'service.monitor'],
  'patch-attributes': ['service.device-apis', 'service.inventory'],
  'put-attributes': ['service.device-apis', 'service.inventory'],
  'list-audit-logs': ['service.management-apis', 'service.audit-logs'],
  'export-audit-logs': ['service.management-apis', 'service.audit-logs'],
};

function withHeader(stage: Stage, authorization: string): Caller {
  return new Caller(stage.session, { authorization });
}

/** The token by which the operator calls. */
function userToken({ operator }: Stage): string {
  return authorizationOf(operator).authorization?.replace(/^Bearer /, '') ?? '';
}

const nobody = defineScenario<Stage>({
  area: 'authorization',
  name: 'No token',
  start: 'a caller without any token',
  risk: 'read',
  arrange: (stage) => stage,
  cases: casesOf('missing', tokenCalls, (id, call, status) => ({
    id: `${id}-without-token-is-${status}`,
    title: `The operation ${id} answers ${status} to a caller without an Authorization header.`,
    requirements: ['tokens.missing-is-401', ...(areas[id] ?? [])],
    run: async (stage) => expectStatus(await call(stage.caller()), status),
  })),
});

/** Cases of headers and tokens that are no good, made from a token that is. */
function spoiledCases(calls: Calls): readonly JudgingCase<string>[] {
  return [
    ...casesOf<string>('malformed', calls, (id, call, status) => ({
      id: `${id}-with-malformed-header-is-${status}`,
      title: `The operation ${id} answers ${status} to a header that is not Bearer and one token.`,
      requirements: ['tokens.malformed-is-401'],
      run: (token, stage) =>
        expectEach(status, malformedHeaders, (header) => call(withHeader(stage, header(token)))),
    })),
    ...casesOf<string>('invalid', calls, (id, call, status) => ({
      id: `${id}-with-invalid-token-is-${status}`,
      title: `The operation ${id} answers ${status} to a token that was altered or made up.`,
      requirements: ['tokens.invalid-is-401'],
      run: (token, stage) =>
        expectEach(status, invalidTokens, (spoil) => call(stage.caller(spoil(token)))),
    })),
  ];
}

const spoiled = [
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A spoiled token of a device',
    start: 'the token of an accepted device',
    risk: 'write',
    needs: ['operator'],
    arrange: async (stage) => (await acceptedDevice(stage)).token,
    cases: spoiledCases(deviceCalls),
  }),
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A spoiled token of a user',
    start: 'the token of a user',
    risk: 'read',
    needs: ['operator'],
    arrange: userToken,
    cases: spoiledCases(userCalls),
  }),
];

const apart = defineScenario<string>({
  area: 'authorization',
  name: 'Tokens of the other kind',
  start: 'an accepted device with a token, and a user with one',
  risk: 'write',
  needs: ['operator'],
  arrange: async (stage) => (await acceptedDevice(stage)).token,
  cases: [
    ...casesOf<string>('otherKind', deviceCalls, (id, call, status) => ({
      id: `${id}-with-user-token-is-${status}`,
      title: `The token of a user does not open ${id}: it is answered ${status}.`,
      requirements: ['tokens.kinds-are-apart'],
      run: async (_, stage) => expectStatus(await call(stage.caller(userToken(stage))), status),
    })),
    ...casesOf<string>('otherKind', userCalls, (id, call, status) => ({
      id: `${id}-with-device-token-is-${status}`,
      title: `The token of a device does not open ${id}: it is answered ${status}.`,
      requirements: ['tokens.devices-are-no-users'],
      run: async (token, stage) => expectStatus(await call(stage.caller(token)), status),
    })),
    {
      id: 'user-token-opens-audit-log',
      title: 'The token of a user opens the audit log.',
      requirements: ['tokens.login-opens-management'],
      run: async (_, stage) =>
        expectStatus(await stage.operator.caller.call('list-audit-logs'), 200),
    },
    {
      id: 'device-token-opens-device-api',
      title: 'The token of an accepted device opens the device API.',
      requirements: ['tokens.device-token-opens'],
      run: async (token, stage) => {
        const query = { ...factoryProvides, device_type: 'conformance-tokens' };
        expectStatus(
          await stage.caller(token).call('get-next-deployment', { query }),
          ...anySuccess,
        );
      },
    },
    {
      id: 'scheme-in-any-case',
      title: 'The scheme Bearer may be written in small or in capital letters.',
      requirements: ['tokens.scheme-in-any-case'],
      run: (token, stage) => {
        const schemes = { 'small letters': 'bearer', capitals: 'BEARER' };
        return expectEach(anySuccess, schemes, (scheme) =>
          askForNext(withHeader(stage, `${scheme} ${token}`)),
        );
      },
    },
  ],
});

/** The token once the target has had time to forget it: it may do so after its answer. */
async function forgotten(stage: Stage, token: string): Promise<string> {
  const use = (): Promise<Answer> => askForNext(stage.caller(token));
  await stage.settled(use, ({ status }) => status === 401);
  return token;
}

const dismissed = [
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A rejected device',
    start: 'the token of a device that a user has rejected since',
    risk: 'write',
    needs: ['operator'],
    arrange: async (stage) => {
      const { id, key, token } = await acceptedDevice(stage);
      await stage.operator.decide(id, key, 'rejected');
      return forgotten(stage, token);
    },
    cases: casesOf('rejected', deviceCalls, (id, call, status) => ({
      id: `${id}-of-rejected-device-is-${status}`,
      title: `The token of a device that is rejected does not open ${id} any more: ${status}.`,
      requirements: ['tokens.end-with-acceptance'],
      run: async (token, stage) => expectStatus(await call(stage.caller(token)), status),
    })),
  }),
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A decommissioned device',
    start: 'the token of a device that a user has decommissioned since',
    risk: 'write',
    needs: ['operator'],
    arrange: async (stage) => {
      const { id, token } = await acceptedDevice(stage);
      await stage.operator.decommission(id);
      return forgotten(stage, token);
    },
    cases: casesOf('decommissioned', deviceCalls, (id, call, status) => ({
      id: `${id}-of-decommissioned-device-is-${status}`,
      title: `The token of a device that is decommissioned does not open ${id} any more: ${status}.`,
      requirements: ['tokens.end-with-device'],
      run: async (token, stage) => expectStatus(await call(stage.caller(token)), status),
    })),
  }),
];

/** Spec: Authentication */
export const authorizationCases = [...nobody, ...spoiled, ...apart, ...dismissed];
