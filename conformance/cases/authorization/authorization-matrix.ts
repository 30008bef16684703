/**
 * The authorization matrix as a literal table: every operation of the contract by every kind of
 * caller. A number is the status that the caller gets; a string is the reason why the combination
 * cannot occur. A test checks the operations against the contract, and the cells against the cases
 * that `authorization-judges.ts` names. Spec: Authentication
 */
import type { OperationId } from '../../../fixtures/contract/operations.ts';

/** Every kind of caller for which the operation is not intended. */
export const callerKinds = {
  missing: 'no Authorization header',
  malformed: 'a header without a token, without a scheme, of another scheme, or with two tokens',
  invalid: 'a token that was never issued, or with another signature, other claims or no signature',
  otherKind: "a user's token on the device API, a device's token on the management API",
  rejected: 'the token of a device that a user has rejected',
  decommissioned: 'the token of a device that a user has decommissioned',
  otherDevice: 'the token of one device for data of another device',
  expired: 'a token past its lifetime',
  otherTenant: 'the token of another tenant for data of this tenant',
} as const;

export type CallerKind = keyof typeof callerKinds;

/** A status, or the reason why there is none. */
type ExpectedStatus = number | string;

type AuthorizationRow = Readonly<Record<CallerKind, ExpectedStatus>>;

const noDeviceId = 'no ID is sent: the token alone identifies the device';
const sharedArtifacts = 'artifacts belong to the tenant; all of its devices may read them';
const noDevices = 'users have no devices of their own; the audit log belongs to the tenant';
const noTenantId = 'no ID is sent: the token alone identifies the tenant';
const bodySignatureNote =
  'the signature of the body grants access; an Authorization header is ignored';
const signedLinkNote =
  'the signed query of the link grants access; the contract lists no Authorization header';

/** Responses to an invalid token where a device token is required. */
const needsDevice = {
  missing: 401,
  malformed: 401,
  invalid: 401,
  otherKind: 401,
  rejected: 401,
  decommissioned: 401,
  expired: 401,
} as const;

/** Responses to an invalid token where a user token is required. */
const needsUser = {
  missing: 401,
  malformed: 401,
  invalid: 401,
  otherKind: 401,
  rejected: 'users are not rejected, and devices have no access anyway: see `otherKind`',
  decommissioned: 'users are not decommissioned: see `otherKind`',
  otherDevice: noDevices,
  expired: 401,
  otherTenant: noTenantId,
} as const;

const everyKind = Object.keys(callerKinds) as CallerKind[];

function open(reason: string): AuthorizationRow {
  return Object.fromEntries(everyKind.map((kind) => [kind, reason])) as Record<
    CallerKind,
    ExpectedStatus
  >;
}

/** The status for each kind of caller by operation, or the reason why it is not tested. */
export const authorizationMatrix: Readonly<Record<OperationId, AuthorizationRow>> = {
  'list-artifacts': { ...needsDevice, otherDevice: sharedArtifacts, otherTenant: 200 },
  'get-artifact': { ...needsDevice, otherDevice: sharedArtifacts, otherTenant: 404 },
  'get-artifact-link': { ...needsDevice, otherDevice: sharedArtifacts, otherTenant: 404 },
  'get-next-deployment': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  'post-next-deployment': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  'put-deployment-status': { ...needsDevice, otherDevice: 404, otherTenant: 404 },
  'put-deployment-log': { ...needsDevice, otherDevice: 404, otherTenant: 404 },
  'download-configuration': open(signedLinkNote),
  'post-next-deployment-v2': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  'get-update-control-map': { ...needsDevice, otherDevice: 404, otherTenant: 404 },
  'post-auth-request': open(bodySignatureNote),
  'get-configuration': { ...needsDevice, otherDevice: 200, otherTenant: noTenantId },
  'put-configuration': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  connect: { ...needsDevice, otherDevice: noDeviceId, otherTenant: noTenantId },
  'post-alerts': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  'post-monitor-configuration': { ...needsDevice, otherDevice: 204, otherTenant: noTenantId },
  'patch-attributes': { ...needsDevice, otherDevice: 200, otherTenant: noTenantId },
  'put-attributes': { ...needsDevice, otherDevice: 200, otherTenant: noTenantId },
  'list-audit-logs': needsUser,
  'export-audit-logs': needsUser,
};

/** Returns the operations whose cell of a kind is a status, with that status. */
export function statusesOf(kind: CallerKind): readonly (readonly [OperationId, number])[] {
  return Object.entries(authorizationMatrix).flatMap(([id, row]) => {
    const cell = row[kind];
    return typeof cell === 'number' ? [[id as OperationId, cell] as const] : [];
  });
}
