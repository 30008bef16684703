/** Cases: operations that roles forbid. Spec: Authentication, rule 5; Errors */
import {
  type ManagementId,
  managementOperations,
} from '../../../fixtures/contract/management/index.ts';
import { expectErrorBody } from '../../context/error-body.ts';
import { userCalls } from '../../context/every-call.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { bearer, type CallOptions, requestOf } from '../../target/call.ts';
import { expectEach } from '../../target/expectations.ts';

const id = '11111111-2222-4333-8444-555555555555';
const aid = '66666666-7777-4888-8999-aaaaaaaaaaaa';

type RoleCallOptions = CallOptions & { readonly path?: Readonly<Record<string, string>> };

/**
 * Operations outside the audit log that need a permission, each with a well-formed request; for
 * each kind of resource one that reads and one that changes.
 */
export const permittedOnly: Readonly<Partial<Record<ManagementId, RoleCallOptions>>> = {
  'list-users': {},
  'create-user': { body: { email: 'nobody@conformance.example' } },
  'delete-user': { path: { id } },
  'create-role': { body: { name: 'nothing', permission_sets_with_scope: [] } },
  'create-personal-token': { body: { name: 'one' } },
  'get-tenant-token': {},
  'list-all-artifacts': {},
  'show-artifact': { path: { id } },
  'delete-artifact': { path: { id } },
  'list-releases': {},
  'list-devices': {},
  'get-device': { path: { id } },
  'decommission-device': { path: { id } },
  'set-auth-set-status': { path: { id, aid }, body: { status: 'rejected' } },
  'revoke-token': { path: { jti: aid } },
  'get-inventory': { path: { id } },
  'list-groups': {},
  'set-device-group': { path: { id }, body: { group: 'one' } },
  'list-alerts': { path: { id } },
  'show-monitor-configuration': { path: { id } },
  'list-deployments': {},
  'create-deployment': { body: { name: 'one', artifact_name: 'one', devices: [id] } },
  'abort-deployment': { path: { id }, body: { status: 'aborted' } },
  'list-deployment-devices': { path: { id } },
  'get-deployment-log': { path: { id, device_id: id } },
  'show-configuration': { path: { id } },
  'set-configuration': { path: { id }, body: { key: 'value' } },
  'deploy-configuration': { path: { id }, body: { retries: 0 } },
  'get-connection': { path: { id } },
};

async function powerless(context: TestContext): Promise<string> {
  return context.control.powerlessUser({
    client: context.client,
    name: context.newName(),
    maskSecret: context.maskSecret,
  });
}

const roles = defineScenario({
  area: 'roles',
  name: 'A role that permits nothing',
  start: 'a user with a token, whose role permits nothing',
  effect: 'write',
  needs: ['role-control'],
  arrange: powerless,
  cases: [
    {
      id: 'forbidden-by-role-is-403',
      title:
        'The list and export of the audit log answer 403 to a user whose role does not permit them.',
      requirements: ['errors.role-forbidden-is-403'],
      covers: ['list-audit-logs 403', 'export-audit-logs 403'],
      run: async (token, context) =>
        expectEach(403, context.offered(userCalls), (call) => call(context.caller(token))),
    },
    {
      id: 'forbidden-is-an-error-body',
      title: 'The 403 of the audit log carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (token, context) => {
        for (const call of Object.values(context.offered(userCalls))) {
          expectErrorBody(await call(context.caller(token)));
        }
      },
    },
    {
      id: 'forbidden-on-management-is-403',
      title: 'Users, roles, artifacts, devices and deployments answer 403 to this user too.',
      requirements: ['errors.role-forbidden-on-management'],
      run: async (token, { client }) =>
        expectEach(403, Object.fromEntries(Object.entries(permittedOnly)), (call, name) => {
          const operation = managementOperations[name as ManagementId];
          const headers = bearer(token);
          return client.send(requestOf<string>(operation, { ...call, headers } as never));
        }),
    },
  ],
});

export const roleCases = roles;
