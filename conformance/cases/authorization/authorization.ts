/** Cases: authorization of every operation, by the cells of the matrix. Spec: Authentication */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  type CallAsCaller,
  deviceCalls,
  pollNext,
  tokenCalls,
  userCalls,
} from '../../context/every-call.ts';
import { authorizationOf } from '../../context/short-lived-token.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { type CoveredStatus, defineScenario, type JudgingCase } from '../../suite/case.ts';
import { ApiCaller, bearer } from '../../target/call.ts';
import { anySuccess, expectEach, expectStatus } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import type { TargetClient } from '../../target/target.ts';
import { forgeToken, unsignedToken, withOtherClaims } from '../../target/token-claims.ts';
import { type CallerKind, statusesOf } from './authorization-matrix.ts';

type OperationCalls = Readonly<Partial<Record<OperationId, CallAsCaller>>>;

/** Headers without a Bearer token, though some contain a valid token. */
const malformedHeaders: Readonly<Record<string, (token: string) => string>> = {
  'no token': () => 'Bearer',
  'an empty token': () => 'Bearer ',
  'no scheme': (token) => token,
  'another scheme': (token) => `Token ${token}`,
  'a password': (token) => `Basic ${Buffer.from(`device:${token}`).toString('base64')}`,
  'the scheme Basic before a token': (token) => `Basic ${token}`,
  'two tokens': (token) => `Bearer ${token} ${token}`,
};

/** Callers that send a valid token in a place other than the Authorization header. */
const otherLocations: Readonly<
  Record<string, (client: TargetClient, token: string, id: OperationId) => ApiCaller | undefined>
> = {
  // Skipped where it is allowed: /connect accepts this cookie, and web pages of users send it.
  'the cookie JWT': (client, token, id) =>
    id === 'connect' || id in userCalls
      ? undefined
      : new ApiCaller(client, { cookie: `JWT=${token}` }),
  'the cookie token': (client, token) => new ApiCaller(client, { cookie: `token=${token}` }),
  'the query as access_token': (client, token) => new QueryCaller(client, 'access_token', token),
  'the query as token': (client, token) => new QueryCaller(client, 'token', token),
  'the query as jwt': (client, token) => new QueryCaller(client, 'jwt', token),
  'the header Proxy-Authorization': (client, token) =>
    new ApiCaller(client, { 'proxy-authorization': `Bearer ${token}` }),
  'the header X-Access-Token': (client, token) =>
    new ApiCaller(client, { 'x-access-token': token }),
};

/** Adds a parameter to the query of every request. */
class QueryCaller extends ApiCaller {
  readonly #parameter: string;

  constructor(client: TargetClient, name: string, value: string) {
    super(client);
    this.#parameter = `${name}=${encodeURIComponent(value)}`;
  }

  override request: ApiCaller['request'] = (id, ...args) => {
    const request = super.request(id, ...args);
    const mark = request.url.includes('?') ? '&' : '?';
    return { ...request, url: `${request.url}${mark}${this.#parameter}` };
  };
}

/** Tokens that the target did not issue, derived from one that it did. */
const invalidTokens: Readonly<Record<string, (token: string) => string>> = {
  'a word': () => 'nonsense',
  'three words': () => 'one.two.three',
  'another signature': forgeToken,
  'other claims': withOtherClaims,
  'the algorithm none': unsignedToken,
  'no signature': (token) => token.slice(0, token.lastIndexOf('.') + 1),
  'no signature and no dot': (token) => token.slice(0, token.lastIndexOf('.')),
};

const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Tokens in another letter case. They are invalid only if the token is a JWT, which is Base64. */
const inAnotherCase: typeof invalidTokens = {
  'small letters': (token) => token.toLowerCase(),
  'capital letters': (token) => token.toUpperCase(),
};

/** Returns a case for each operation whose cell of this kind is a status. */
function casesOf<Arranged>(
  kind: CallerKind,
  calls: OperationCalls,
  make: (id: OperationId, call: CallAsCaller, status: number) => JudgingCase<Arranged>,
): readonly JudgingCase<Arranged>[] {
  return statusesOf(kind).flatMap(([id, status]) => {
    const call = calls[id];
    const covers: readonly CoveredStatus[] = [`${id} ${status}`];
    return call ? [{ ...make(id, call, status), covers }] : [];
  });
}

/**
 * The API areas of each operation; any response other than 404 without a token shows that it
 * exists.
 */
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

/** Returns callers with the token in each place where the operation takes one. */
function callersWith(
  { client }: TestContext,
  id: OperationId,
  token: string,
): Readonly<Record<string, ApiCaller>> {
  const header = new ApiCaller(client, bearer(token));
  if (id !== 'connect') return { 'the Authorization header': header };
  return {
    'the Authorization header': header,
    'the cookie JWT': new ApiCaller(client, { cookie: `JWT=${token}` }),
  };
}

function withHeader(context: TestContext, authorization: string): ApiCaller {
  return new ApiCaller(context.client, { authorization });
}

/** Returns the token that the target admin uses. */
function userToken({ admin }: TestContext): string {
  return authorizationOf(admin).authorization?.replace(/^Bearer /, '') ?? '';
}

const anonymous = defineScenario<TestContext>({
  area: 'authorization',
  name: 'No token',
  start: 'a caller without any token',
  effect: 'read',
  arrange: (context) => context,
  cases: casesOf('missing', tokenCalls, (id, call, status) => ({
    id: `${id}-without-token-is-${status}`,
    title: `The operation ${id} answers ${status} to a caller without an Authorization header.`,
    requirements: ['tokens.missing-is-401', ...(areas[id] ?? [])],
    run: async (context) => expectStatus(await call(context.caller()), status),
  })),
});

/** Returns cases of invalid headers and tokens, derived from a valid token. */
function spoiledCases(calls: OperationCalls): readonly JudgingCase<string>[] {
  return [
    ...casesOf<string>('malformed', calls, (id, call, status) => ({
      id: `${id}-with-malformed-header-is-${status}`,
      title: `The operation ${id} answers ${status} to a header other than Bearer and one token.`,
      requirements: ['tokens.malformed-is-401'],
      run: (token, context) =>
        expectEach(status, malformedHeaders, (header) => call(withHeader(context, header(token)))),
    })),
    ...casesOf<string>('missing', calls, (id, call, status) => ({
      id: `${id}-with-token-elsewhere-is-${status}`,
      title: `The operation ${id} answers ${status} to a token outside the Authorization header.`,
      requirements: ['tokens.missing-is-401'],
      run: async (token, { client }) => {
        for (const [location, callerWith] of Object.entries(otherLocations)) {
          const caller = callerWith(client, token, id);
          if (caller) await expectEach(status, { [location]: caller }, call);
        }
      },
    })),
    ...casesOf<string>('invalid', calls, (id, call, status) => ({
      id: `${id}-with-invalid-token-is-${status}`,
      title: `The operation ${id} answers ${status} to an altered or invented token.`,
      requirements: ['tokens.invalid-is-401'],
      run: (token, context) => {
        const alterations = { ...invalidTokens, ...(isJwt.test(token) ? inAnotherCase : {}) };
        const callers = Object.entries(alterations).flatMap(([what, alter]) =>
          Object.entries(callersWith(context, id, alter(token))).map(
            ([location, caller]) => [`${what} in ${location}`, caller] as const,
          ),
        );
        return expectEach(status, Object.fromEntries(callers), call);
      },
    })),
  ];
}

const alteredTokenCases = [
  ...defineScenario<string>({
    area: 'authorization',
    name: 'An altered token of a device',
    start: 'the token of an accepted device',
    effect: 'write',
    needs: ['user'],
    arrange: async (context) => (await acceptedDevice(context)).token,
    cases: spoiledCases(deviceCalls),
  }),
  ...defineScenario<string>({
    area: 'authorization',
    name: 'An altered token of a user',
    start: 'the token of a user',
    effect: 'read',
    needs: ['user'],
    arrange: userToken,
    cases: spoiledCases(userCalls),
  }),
];

const apart = defineScenario<string>({
  area: 'authorization',
  name: 'Tokens of the other kind',
  start: 'an accepted device with a token, and a user with one',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => (await acceptedDevice(context)).token,
  cases: [
    ...casesOf<string>('otherKind', deviceCalls, (id, call, status) => ({
      id: `${id}-with-user-token-is-${status}`,
      title: `The token of a user gives no access to ${id}: it is answered with ${status}.`,
      requirements: ['tokens.kinds-are-apart'],
      run: (_, context) => expectEach(status, callersWith(context, id, userToken(context)), call),
    })),
    ...casesOf<string>('otherKind', userCalls, (id, call, status) => ({
      id: `${id}-with-device-token-is-${status}`,
      title: `The token of a device gives no access to ${id}: it is answered with ${status}.`,
      requirements: ['tokens.devices-are-no-users'],
      run: async (token, context) => expectStatus(await call(context.caller(token)), status),
    })),
    {
      id: 'user-token-opens-audit-log',
      title: 'The token of a user gives access to the audit log.',
      requirements: ['tokens.login-opens-management'],
      run: async (_, context) =>
        expectStatus(await context.admin.caller.call('list-audit-logs'), 200),
    },
    {
      id: 'device-token-opens-device-api',
      title: 'The token of an accepted device gives access to the device API.',
      requirements: ['tokens.device-token-opens'],
      run: async (token, context) => {
        const query = { ...factoryProvides, device_type: 'conformance-tokens' };
        expectStatus(
          await context.caller(token).call('get-next-deployment', { query }),
          ...anySuccess,
        );
      },
    },
    {
      id: 'scheme-in-any-case',
      title: 'The scheme Bearer may be written in small or capital letters.',
      requirements: ['tokens.scheme-in-any-case'],
      run: (token, context) => {
        const schemes = { 'small letters': 'bearer', capitals: 'BEARER' };
        return expectEach(anySuccess, schemes, (scheme) =>
          pollNext(withHeader(context, `${scheme} ${token}`)),
        );
      },
    },
  ],
});

/** Waits until the target refuses the token, since it may be revoked with a delay; returns it. */
async function forgotten(context: TestContext, token: string): Promise<string> {
  const use = (): Promise<HttpResponse> => pollNext(context.caller(token));
  await context.eventually(use, ({ status }) => status === 401);
  return token;
}

const dismissed = [
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A rejected device',
    start: 'the token of a device that a user has since rejected',
    effect: 'write',
    needs: ['user'],
    arrange: async (context) => {
      const { id, key, token } = await acceptedDevice(context);
      await context.admin.decide(id, key, 'rejected');
      return forgotten(context, token);
    },
    cases: casesOf('rejected', deviceCalls, (id, call, status) => ({
      id: `${id}-of-rejected-device-is-${status}`,
      title: `The token of a rejected device no longer gives access to ${id}: ${status}.`,
      requirements: ['tokens.end-with-acceptance'],
      run: (token, context) => expectEach(status, callersWith(context, id, token), call),
    })),
  }),
  ...defineScenario<string>({
    area: 'authorization',
    name: 'A decommissioned device',
    start: 'the token of a device that a user has since decommissioned',
    effect: 'write',
    needs: ['user'],
    arrange: async (context) => {
      const { id, token } = await acceptedDevice(context);
      await context.admin.decommission(id);
      return forgotten(context, token);
    },
    cases: casesOf('decommissioned', deviceCalls, (id, call, status) => ({
      id: `${id}-of-decommissioned-device-is-${status}`,
      title: `The token of a decommissioned device no longer gives access to ${id}: ${status}.`,
      requirements: ['tokens.end-with-device'],
      run: (token, context) => expectEach(status, callersWith(context, id, token), call),
    })),
  }),
];

export const authorizationCases = [...anonymous, ...alteredTokenCases, ...apart, ...dismissed];
