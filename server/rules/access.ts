/**
 * Decides what a user's roles permit. Pure: roles and operation in, decision out.
 * Spec: Authentication, rule 5
 */
import type { PermissionSetName } from '../../fixtures/contract/management/access.ts';
import { operationsById } from '../../fixtures/contract/operation-ids.ts';

/** A permission set, for all devices or for the devices of some groups. */
export interface SetGrant {
  readonly set: PermissionSetName;
  readonly groups?: readonly string[];
}

/** A permission of version 1 of roles, by method and path, with the operations that match it. */
export interface PathGrant {
  readonly method: string;
  readonly pattern: string;
  readonly operations: readonly string[];
}

export type Grant = SetGrant | PathGrant;

/** A named bundle of grants. */
export interface Role {
  readonly name: string;
  readonly description: string;
  readonly grants: readonly Grant[];
}

/**
 * The decision. `groups` lists the groups whose devices the operation may access; absent when it
 * may access all.
 */
export type AccessDecision =
  | { readonly decision: 'allow'; readonly groups?: readonly string[] }
  | { readonly decision: 'refuse'; readonly reason: string };

const allowed: AccessDecision = { decision: 'allow' };

/** Decides whether the roles permit the operation. A user without roles may do everything. */
export function decideAccess(operationId: string, roles: readonly Role[]): AccessDecision {
  const { permissions = [], isUnscoped = false } = operationsById.get(operationId) ?? {};
  if (roles.length === 0 || permissions.includes('Basic')) return allowed;
  const granting = roles
    .flatMap(({ grants }) => grants)
    .filter((grant) => permits(grant, operationId));
  const scopes = granting.map((grant) => ('set' in grant ? grant.groups : undefined));
  if (scopes.includes(undefined)) return allowed;
  if (scopes.length === 0 || isUnscoped) {
    return { decision: 'refuse', reason: refusalReason(permissions, isUnscoped) };
  }
  return { decision: 'allow', groups: [...new Set(scopes.flatMap((groups) => groups ?? []))] };
}

/**
 * Returns true for full access. At least one such user must remain, to be able to correct other
 * roles.
 */
export function isAdmin(roles: readonly Role[]): boolean {
  const grants = roles.flatMap((role) => role.grants);
  return roles.length === 0 || grants.some((grant) => 'set' in grant && grant.set === 'SuperUser');
}

function permits(grant: Grant, operationId: string): boolean {
  if (!('set' in grant)) return grant.operations.includes(operationId);
  return (
    grant.set === 'SuperUser' || !!operationsById.get(operationId)?.permissions?.includes(grant.set)
  );
}

function refusalReason(permissions: readonly PermissionSetName[], isUnscoped: boolean): string {
  const sets = [...permissions, 'SuperUser'].join(' or ');
  const all = isUnscoped ? ' for all devices, not only for groups' : '';
  return `the user's roles do not permit this; one of them must include the permission set ${sets}${all}`;
}
