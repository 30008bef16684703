/**
 * Defects in tokens: which are accepted, for which device, and for how long. Spec: Authentication
 */
import { membersOf } from '../../target/json-members.ts';
import { jsonOf, ownResponse, queryOf, tokenOf, withStatus, withText } from '../alter.ts';
import { requestBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

/** Records the tokens issued to devices, so that an alteration can distinguish them from others. */
function afterLearningTokens(
  isTaken: (token: string, issuedTokens: ReadonlySet<string>, request: ProxiedRequest) => boolean,
): () => Alteration {
  return () => {
    const issuedTokens = new Set<string>();
    return {
      response: (response, request) => {
        if (request.operation === 'post-auth-request') {
          if (response.status === 200) issuedTokens.add(response.body.toString());
          return response;
        }
        const token = tokenOf(request);
        const isRefused = response.status === 401 && token !== '';
        return isRefused && isTaken(token, issuedTokens, request) ? ownResponse(200, {}) : response;
      },
    };
  };
}

/** Returns the part of a token that names its owner. */
function claimsOf(token: string): string {
  return token.split('.')[1] ?? '';
}

export const tokenDefects: readonly Defect[] = [
  {
    id: 'missing-device-token-is-403',
    title: 'A device operation without a token is answered with 403 instead of 401.',
    violates: [
      'tokens.missing-is-401',
      'artifacts.unauthenticated-is-401',
      'link.unauthenticated-is-401',
      'inventory.unauthenticated-is-401',
      'alerts.need-a-token',
      'monitor.needs-a-token',
    ],
    operations: 'all',
    alter: statusBecomes(
      401,
      403,
      ({ headers, operation }) =>
        headers.authorization === undefined &&
        headers.cookie === undefined &&
        operation !== 'post-auth-request',
    ),
  },
  {
    id: 'scheme-does-not-matter',
    title: 'A token is accepted with any scheme.',
    violates: ['tokens.malformed-is-401'],
    operations: 'all',
    alter: requestBecomes((request) => {
      const [scheme = '', token = ''] = request.headers.authorization?.split(' ') ?? [];
      const isOther = scheme === 'Token' && token !== '';
      const authorization = `Bearer ${token}`;
      return isOther ? { ...request, headers: { ...request.headers, authorization } } : request;
    }),
  },
  {
    id: 'unsigned-token-is-accepted',
    title: 'A token with the algorithm none gives access to the configuration.',
    violates: ['tokens.invalid-is-401'],
    operations: ['post-auth-request', 'get-configuration'],
    alter: afterLearningTokens(
      (token, issuedTokens) =>
        token.endsWith('.') && [...issuedTokens].some((each) => claimsOf(each) === claimsOf(token)),
    ),
  },
  {
    id: 'any-word-is-a-token',
    title: 'Any word as a token gives access to the inventory.',
    violates: ['tokens.invalid-is-401', 'inventory.unauthenticated-is-401'],
    operations: ['patch-attributes'],
    alter: statusBecomes(401, 200, (request) => tokenOf(request) === 'nonsense'),
  },
  {
    id: 'token-outlives-the-device',
    title: 'The token of a rejected or decommissioned device gives access to the configuration.',
    violates: ['tokens.end-with-acceptance', 'tokens.end-with-device', 'tokens.expired-is-refused'],
    operations: ['post-auth-request', 'get-configuration'],
    alter: afterLearningTokens((token, issuedTokens) => issuedTokens.has(token)),
  },
  {
    id: 'user-token-opens-device-operations',
    title: "A user's token gives access to the configuration of devices.",
    violates: ['tokens.kinds-are-apart'],
    operations: ['get-configuration'],
    alter: () => ({
      response: (response, request, { userToken }) =>
        response.status === 401 && tokenOf(request) === userToken ? ownResponse(200, {}) : response,
    }),
  },
  {
    id: 'device-token-opens-the-audit-log',
    title: "A device's token gives access to the export of the audit log.",
    violates: ['tokens.devices-are-no-users'],
    operations: ['post-auth-request', 'export-audit-logs'],
    alter: afterLearningTokens((token, issuedTokens) => issuedTokens.has(token)),
  },
  {
    id: 'user-token-does-not-open-the-audit-log',
    title: 'The audit log is refused to users who send no page and no filter.',
    violates: ['tokens.login-opens-management'],
    operations: ['list-audit-logs'],
    alter: statusBecomes(200, 401, ({ query }) => query === ''),
  },
  {
    id: 'device-token-does-not-open-the-device-api',
    title: 'A device of one type is refused although its token is valid.',
    violates: ['tokens.device-token-opens'],
    operations: ['get-next-deployment'],
    alter: statusBecomes(
      204,
      401,
      (request) => queryOf(request).get('device_type') === 'conformance-tokens',
    ),
  },
  {
    id: 'scheme-in-small-letters-is-refused',
    title: 'The scheme Bearer is accepted in one spelling only.',
    violates: ['tokens.scheme-in-any-case'],
    operations: ['get-next-deployment'],
    alter: statusBecomes(204, 401, ({ headers }) => /^bearer/.test(headers.authorization ?? '')),
  },
  {
    id: 'alerts-are-of-every-device',
    title: 'Alerts of one device are also shown as those of another.',
    violates: ['tokens.device-of-the-token'],
    operations: ['list-alerts', 'post-alerts'],
    alter: () => {
      let latest: unknown[] = [];
      return {
        request: (request) => {
          const isSent =
            request.operation === 'post-alerts' && `${request.body}`.includes('stranger');
          if (isSent) latest = JSON.parse(`${request.body}`);
          return request;
        },
        response: (response, { operation }) =>
          operation === 'list-alerts' && response.status === 200 && latest.length > 0
            ? { ...response, body: Buffer.from(JSON.stringify(latest)) }
            : response,
      };
    },
  },
  {
    id: 'status-of-any-deployment-is-accepted',
    title: 'A status for a deployment of another device is answered with 204.',
    violates: [
      'tokens.device-of-the-token',
      'status.unknown-deployment-is-404',
      'status.foreign-deployment-is-404',
      'status.malformed-id',
      'tenants.are-apart',
    ],
    operations: ['put-deployment-status'],
    alter: () => ({
      response: (response) => (response.status === 404 ? withStatus(response, 204) : response),
    }),
  },
  {
    id: 'login-token-lasts-a-day',
    title: 'The token of a login lasts one day.',
    violates: ['tokens.login-token-lasts-a-week', 'tokens.login-opens-management'],
    operations: ['login'],
    alter: responseBecomes((response, { headers }) => {
      // The first user of a tenant needs a token that is valid.
      const [, user = ''] = /^Basic (\S+)$/.exec(headers.authorization ?? '') ?? [];
      if (!Buffer.from(user, 'base64').toString().startsWith('second-')) return response;
      const [header = '', claims = '', signature = ''] = response.body.toString().split('.');
      const parsed = membersOf(jsonOf({ headers: {}, body: Buffer.from(claims, 'base64url') }));
      if (response.status !== 200 || typeof parsed.iat !== 'number') return response;
      const changedClaims = JSON.stringify({ ...parsed, exp: parsed.iat + 86_400 });
      const token = [header, Buffer.from(changedClaims).toString('base64url'), signature].join('.');
      return withText(response, token);
    }),
  },
];
