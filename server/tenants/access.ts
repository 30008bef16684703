/** Finds a user's roles, and what they permit. */
import {
  type PredefinedRole,
  predefinedRoles as predefinedRows,
} from '../../fixtures/contract/management/access.ts';
import { type AccessDecision, decideAccess, isAdmin, type Role } from '../rules/access.ts';
import type { Store } from '../store/store.ts';
import type { StoredUser } from '../store/users.ts';

/** The roles that exist in every tenant, by name. */
export const predefinedRoles: ReadonlyMap<string, Role> = new Map(
  predefinedRows.map((row) => [row.name, roleOf(row)]),
);

function roleOf({ name, description, sets }: PredefinedRole): Role {
  return { name, description, grants: sets.map((set) => ({ set })) };
}

export function findRole({ roles }: Pick<Store, 'roles'>, name: string): Role | undefined {
  return predefinedRoles.get(name) ?? roles.find(name);
}

/** Decides whether the user may call the operation, and for which groups of devices. */
export function accessOf(
  store: Pick<Store, 'roles'>,
  user: Pick<StoredUser, 'roles'>,
  operationId: string,
): AccessDecision {
  return decideAccess(operationId, rolesNamed(store, user.roles));
}

/** Returns true if the user has full access and can log in. */
export function isActingAdmin(
  store: Pick<Store, 'roles'>,
  user: Pick<StoredUser, 'roles' | 'passwordHash'>,
): boolean {
  return user.passwordHash !== undefined && isAdmin(rolesNamed(store, user.roles));
}

/**
 * A role that no longer exists becomes one without grants: omitting it could leave a user without
 * roles, who has full access.
 */
function rolesNamed(store: Pick<Store, 'roles'>, names: readonly string[]): Role[] {
  return names.map((name) => findRole(store, name) ?? { name, description: '', grants: [] });
}
