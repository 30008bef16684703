/**
 * Cases: a target that has the replacement of a deprecated API also has the API until its end of
 * life. What else the management APIs do is outside the contract. Spec: Deprecated APIs
 */
import * as v from 'valibot';
import { parsedJson } from '../../../fixtures/base/json.ts';
import {
  apiPrefixes,
  deprecatedApis,
  endOfLife,
  type Successor,
} from '../../../fixtures/contract/deprecations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { authorizationOf } from '../../context/short-lived-token.ts';
import { type DeviceInDeployment, pendingDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { ExpectationFailure, expectThat, responseSummary } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Stands for the ID in a path. Whether a 404 is about the resource or the API is then unknown. */
const someId = '11111111-2222-4333-8444-555555555555';
const noSuchApi = [404, 405, 410, 501];
/** The one limit that servers of this family have. */
const limitName = 'max_devices';

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

/** The path parameters of resources that exist; the others are unknown. */
type KnownParameters = Readonly<Record<string, string | undefined>>;

/** The path of an API, with the parameters of resources that exist. */
function pathWith(parameters: KnownParameters, { path }: Successor): string {
  return path.replace(/\{(\w+)\}/, (_, name: string) => parameters[name] ?? someId);
}

/** Calls an API with an empty body, which every server refuses, if it takes one. */
function call(
  context: TestContext,
  api: Successor,
  parameters: KnownParameters = {},
): Promise<HttpResponse> {
  const { method, version } = api;
  const hasBody = method === 'POST' || method === 'PUT';
  const headers = authorizationOf(context.admin);
  return context.client.send({
    method,
    url: `${apiPrefixes.management}${version}${pathWith(parameters, api)}`,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: '{}' }),
  });
}

/** Returns whether the target has the API; a 404 about an unknown resource tells nothing. */
function isThere(
  { status }: HttpResponse,
  { path }: Successor,
  parameters: KnownParameters = {},
): boolean {
  if (status !== 404) return !noSuchApi.includes(status);
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  return name !== undefined && parameters[name] === undefined;
}

const listedRoles = v.array(v.looseObject({ id: v.optional(v.string()), name: v.string() }));

/** Returns the ID of a role of the tenant; undefined if it lists none. */
async function roleId(context: TestContext): Promise<string | undefined> {
  const roles = await call(context, { method: 'GET', version: 'v1', path: '/useradm/roles' });
  const roleList = v.safeParse(listedRoles, parsedJson(roles.text));
  const [firstRole] = roleList.success ? roleList.output : [];
  return firstRole && encodeURIComponent(firstRole.id ?? firstRole.name);
}

/** Spec: Deprecated APIs */
export const deprecationCases = defineScenario<DeviceInDeployment>({
  area: 'versioning',
  name: 'Deprecated APIs',
  start: 'a user with all rights, and a deployment',
  effect: 'write',
  needs: ['user', 'audit-log'],
  arrange: pendingDeployment,
  cases: [
    {
      id: 'deprecated-apis-are-served',
      title: 'Until their end of life, a target has the deprecated APIs whose replacement it has.',
      requirements: ['deprecated.list-artifacts-v1', ...Object.values(requirementOf).slice(1)],
      run: async ({ deploymentId }, context) => {
        const id = await roleId(context);
        for (const api of deprecatedApis) {
          // A role that exists is only read.
          const parameters = {
            name: limitName,
            deployment_id: deploymentId,
            id: api.method === 'GET' ? id : undefined,
          };
          const replacement = await call(context, api.successor, parameters);
          const isOver = context.serverNowMs(replacement) >= Date.parse(endOfLife);
          if (isOver || !isThere(replacement, api.successor, parameters)) continue;
          const response = await call(context, api, parameters);
          if (isThere(response, api, parameters)) continue;
          const { method, version, path } = api;
          const row = `${method} ${version} ${path}`;
          const requirement = requirementOf[row];
          const expectation = `${row} beside its replacement until ${endOfLife}`;
          const violated = requirement === undefined ? [] : [requirement];
          throw new ExpectationFailure(expectation, responseSummary(response), violated);
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
