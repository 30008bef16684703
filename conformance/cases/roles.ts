/** Cases: what roles forbid. Spec: Authentication, rule 5; Errors */
import {
  type ManagementId,
  managementOperations,
} from '../../fixtures/contract/management/index.ts';
import { expectErrorBody } from '../context/error-body.ts';
import { userCalls } from '../context/every-call.ts';
import type { Stage } from '../context/stage.ts';
import { defineScenario } from '../suite/case.ts';
import { expectEach } from '../suite/expectations.ts';
import { bearer, type CallOptions, requestOf } from '../target/call.ts';

const id = '11111111-2222-4333-8444-555555555555';
const aid = '66666666-7777-4888-8999-aaaaaaaaaaaa';

type Parameters = CallOptions & { readonly path?: Readonly<Record<string, string>> };

/**
 * Operations beside the audit log that take a permission, each with a request that is right in its
 * form; of each kind of thing one that looks and one that changes.
 */
export const permittedOnly: Readonly<Partial<Record<ManagementId, Parameters>>> = {
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

async function powerless(stage: Stage): Promise<string> {
  return stage.control.powerlessUser({
    session: stage.session,
    name: stage.newName(),
    learnSecret: stage.learnSecret,
  });
}

const roles = defineScenario({
  area: 'roles',
  name: 'A role that permits nothing',
  start: 'a user with a token, whose role permits nothing',
  risk: 'write',
  needs: ['role-control'],
  arrange: powerless,
  cases: [
    {
      id: 'forbidden-by-role-is-403',
      title: 'The audit log, list and export, answers 403 to a user whose role does not open it.',
      requirements: ['errors.role-forbidden-is-403'],
      covers: ['list-audit-logs 403', 'export-audit-logs 403'],
      run: async (token, stage) =>
        expectEach(403, stage.offered(userCalls), (call) => call(stage.caller(token))),
    },
    {
      id: 'forbidden-is-an-error-body',
      title: 'The 403 of the audit log carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (token, stage) => {
        for (const call of Object.values(stage.offered(userCalls))) {
          expectErrorBody(await call(stage.caller(token)));
        }
      },
    },
    {
      id: 'forbidden-on-management-is-403',
      title: 'Users, roles, artifacts, devices and deployments are closed to him with 403 too.',
      requirements: ['errors.role-forbidden-on-management'],
      run: async (token, { session }) =>
        expectEach(403, Object.fromEntries(Object.entries(permittedOnly)), (given, name) => {
          const operation = managementOperations[name as ManagementId];
          const headers = bearer(token);
          return session.send(requestOf<string>(operation, { ...given, headers } as never));
        }),
    },
  ],
});

/** Spec: Authentication, rule 5 */
export const roleCases = roles;
