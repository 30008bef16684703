/**
 * Cases: a target that has the replacement of a deprecated API also has the API until its end of
 * life. What else the management APIs do is outside the contract. Spec: Deprecated APIs
 */
import { parsedJson } from '../../../fixtures/base/json.ts';
import {
  apiPrefixes,
  deprecatedApis,
  endOfLife,
  type Successor,
} from '../../../fixtures/contract/deprecations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { authorizationOf } from '../../context/short-lived-token.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { ExpectationFailure, expectThat, responseSummary } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Stands for the ID in a path. Whether a 404 is about the resource or the API is then unknown. */
const someId = '11111111-2222-4333-8444-555555555555';
const noSuchApi = [404, 405, 410, 501];

/** The requirement of each row of the schedule, by its method, version and path. */
const requirementOf: Readonly<Record<string, RequirementId>> = {
  'GET v1 /deployments/artifacts': 'deprecated.list-artifacts-v1',
  'GET v1 /deployments/artifacts/list': 'deprecated.list-paged-artifacts-v1',
  'GET v1 /deployments/deployments': 'deprecated.list-deployments-v1',
  'GET v1 /deployments/deployments/releases': 'deprecated.list-releases-v1',
  'GET v1 /deployments/deployments/releases/list': 'deprecated.list-paged-releases-v1',
  'GET v1 /deployments/deployments/{deployment_id}/devices':
    'deprecated.list-deployment-devices-v1',
  'GET v2 /devauth/limits/{name}': 'deprecated.get-limit-by-name',
  'GET v1 /tenantadm/user/tenant': 'deprecated.get-own-tenant-v1',
  'GET v1 /useradm/roles': 'deprecated.list-roles-v1',
  'POST v1 /useradm/roles': 'deprecated.create-role-v1',
  'GET v1 /useradm/roles/{id}': 'deprecated.get-role-v1',
  'PUT v1 /useradm/roles/{id}': 'deprecated.update-role-v1',
  'DELETE v1 /useradm/roles/{id}': 'deprecated.delete-role-v1',
  'POST v1 /useradm/users': 'deprecated.create-user-v1',
  'PUT v1 /useradm/users/me': 'deprecated.update-own-user-v1',
};

/** Calls an API with an ID that does not exist, or with an empty body, which every server refuses. */
function call(context: TestContext, { method, version, path }: Successor): Promise<HttpResponse> {
  const hasBody = method === 'POST' || method === 'PUT';
  const headers = authorizationOf(context.admin);
  return context.session.send({
    method,
    url: `${apiPrefixes.management}${version}${path.replace(/\{\w+\}/, someId)}`,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: '{}' }),
  });
}

function isThere({ status }: HttpResponse, { path }: Successor): boolean {
  return !noSuchApi.includes(status) || (status === 404 && path.includes('{'));
}

/** Spec: Deprecated APIs */
export const deprecationCases = defineScenario({
  area: 'versioning',
  name: 'Deprecated APIs',
  start: 'a user with all rights',
  risk: 'read',
  needs: ['user', 'audit-log'],
  arrange: async () => undefined,
  cases: [
    {
      id: 'deprecated-apis-are-served',
      title: 'Until their end of life, a target has the deprecated APIs whose replacement it has.',
      requirements: ['deprecated.list-artifacts-v1', ...Object.values(requirementOf).slice(1)],
      run: async (_, context) => {
        for (const api of deprecatedApis) {
          const replacement = await call(context, api.successor);
          const isOver = context.serverNowMs(replacement) >= Date.parse(endOfLife);
          if (isOver || !isThere(replacement, api.successor)) continue;
          const response = await call(context, api);
          if (isThere(response, api)) continue;
          const { method, version, path } = api;
          const row = `${method} ${version} ${path}`;
          const requirement = requirementOf[row];
          const wanted = `${row} beside its replacement until ${endOfLife}`;
          const violated = requirement === undefined ? [] : [requirement];
          throw new ExpectationFailure(wanted, responseSummary(response), violated);
        }
      },
    },
    {
      id: 'own-tenant-without-token',
      title: 'Version 2 of the own tenant, if there is one, has no `tenant_token`.',
      requirements: ['deprecated.own-tenant-without-token'],
      run: async (_, context) => {
        const path = '/tenantadm/tenants/me';
        const response = await call(context, { method: 'GET', version: 'v2', path });
        const hasToken = 'tenant_token' in membersOf(parsedJson(response.text));
        expectThat(!hasToken, 'no tenant_token', 'a tenant_token');
      },
    },
  ],
});
