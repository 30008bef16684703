/** Defects in deprecated operations and fields, and in what replaces them. Spec: Deprecated APIs */
import type { ManagementId } from '../../../fixtures/contract/management/index.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { changedJson, isSuccess, ownResponse } from '../alter.ts';
import { bodyBecomes, responseBecomes, sentFieldBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

/** Deprecated operations, each with its method and path and the requirement that keeps it. */
const retiredEarly: readonly (readonly [ManagementId, string, RequirementId])[] = [
  ['list-artifacts-v1', 'GET v1 /deployments/artifacts', 'deprecated.list-artifacts-v1'],
  [
    'list-paged-artifacts-v1',
    'GET v1 /deployments/artifacts/list',
    'deprecated.list-paged-artifacts-v1',
  ],
  ['list-deployments-v1', 'GET v1 /deployments/deployments', 'deprecated.list-deployments-v1'],
  ['list-releases-v1', 'GET v1 /deployments/deployments/releases', 'deprecated.list-releases-v1'],
  [
    'list-paged-releases-v1',
    'GET v1 /deployments/deployments/releases/list',
    'deprecated.list-paged-releases-v1',
  ],
  [
    'list-deployment-devices-v1',
    'GET v1 /deployments/deployments/{deployment_id}/devices',
    'deprecated.list-deployment-devices-v1',
  ],
  ['get-limit-by-name', 'GET v2 /devauth/limits/{name}', 'deprecated.get-limit-by-name'],
  ['get-own-tenant-v1', 'GET v1 /tenantadm/user/tenant', 'deprecated.get-own-tenant-v1'],
  ['list-roles-v1', 'GET v1 /useradm/roles', 'deprecated.list-roles-v1'],
  ['create-role-v1', 'POST v1 /useradm/roles', 'deprecated.create-role-v1'],
  ['get-role-v1', 'GET v1 /useradm/roles/{id}', 'deprecated.get-role-v1'],
  ['update-role-v1', 'PUT v1 /useradm/roles/{id}', 'deprecated.update-role-v1'],
  ['delete-role-v1', 'DELETE v1 /useradm/roles/{id}', 'deprecated.delete-role-v1'],
  ['create-user-v1', 'POST v1 /useradm/users', 'deprecated.create-user-v1'],
  ['update-own-user-v1', 'PUT v1 /useradm/users/me', 'deprecated.update-own-user-v1'],
];

/** Those that read a resource, which a case names by an ID that exists. */
const readers: readonly ManagementId[] = [
  'list-deployment-devices-v1',
  'get-limit-by-name',
  'get-role-v1',
];
const notFound = ownResponse(404, { error: 'not found', request_id: 'defect' });

const leftOut = (): undefined => undefined;

export const deprecationDefects: readonly Defect[] = [
  ...retiredEarly.map(
    ([operation, path, requirement]): Defect => ({
      id: `${operation}-is-retired-early`,
      title: `The deprecated ${path} is gone before its end of life.`,
      violates: [requirement],
      operations: [operation],
      alter: () => ({ response: () => ownResponse(410, { error: 'gone', request_id: 'defect' }) }),
    }),
  ),
  {
    id: 'own-tenant-with-token',
    title: 'Version 2 of the own tenant has the tenant token.',
    violates: ['deprecated.own-tenant-without-token'],
    operations: ['get-own-tenant'],
    alter: bodyBecomes((tenant) => ({ ...membersOf(tenant), tenant_token: 'token' })),
  },
  ...retiredEarly
    .filter(([operation]) => readers.includes(operation))
    .map(
      ([operation, path, requirement]): Defect => ({
        id: `${operation}-is-not-found`,
        title: `The deprecated ${path} answers 404, although the resource exists.`,
        violates: [requirement],
        operations: [operation],
        alter: responseBecomes((response) => (isSuccess(response) ? notFound : response)),
      }),
    ),
  {
    id: 'new-user-v2-ignores-the-password',
    title: 'Version 2 of POST users accepts a password, and ignores it.',
    violates: ['deprecated.new-user-v2-without-password'],
    operations: ['create-user'],
    alter: sentFieldBecomes('password', leftOut),
  },
  {
    id: 'new-user-v2-ignores-send-reset-password',
    title: 'Version 2 of POST users accepts `send_reset_password`, and ignores it.',
    violates: ['deprecated.new-user-v2-without-password'],
    operations: ['create-user'],
    alter: sentFieldBecomes('send_reset_password', leftOut),
  },
  {
    id: 'own-user-v2-ignores-the-email',
    title: 'Version 2 of PUT users/me accepts an email address, and ignores it.',
    violates: ['deprecated.own-user-v2-without-email'],
    operations: ['update-own-user'],
    alter: sentFieldBecomes('email', leftOut),
  },
  {
    id: 'size-of-the-form-is-believed',
    title: 'An artifact has the size that the form of the upload states.',
    violates: ['deprecated.artifact-size-field', 'artifacts.size'],
    operations: ['upload-artifact', 'get-artifact'],
    alter: () => {
      const stated = new Map<string, number>();
      return {
        response: (response, { body, parameters }) => {
          const [, size] = /name="size"\r\n\r\n(\d+)\r\n/.exec(body.toString('latin1')) ?? [];
          const createdId = response.headers.location?.split('/').at(-1);
          if (size && createdId) stated.set(createdId, Number(size));
          const statedSize = stated.get(parameters.id ?? '');
          if (statedSize === undefined || !isSuccess(response)) return response;
          return changedJson(response, (artifact) => ({
            ...membersOf(artifact),
            size: statedSize,
          }));
        },
      };
    },
  },
  {
    id: 'from-release-is-the-target',
    title: 'The `from_release` of a delta job is the release that it leads to.',
    violates: ['deprecated.from-release'],
    operations: ['get-delta-job'],
    alter: bodyBecomes((job) => ({ ...membersOf(job), from_release: membersOf(job).to_version })),
  },
  {
    id: 'to-release-is-the-source',
    title: 'The `to_release` of a delta job is the release that it starts from.',
    violates: ['deprecated.to-release'],
    operations: ['get-delta-job'],
    alter: bodyBecomes((job) => ({ ...membersOf(job), to_release: membersOf(job).from_version })),
  },
];
