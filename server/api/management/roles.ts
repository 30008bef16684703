/** Manages roles. Both versions of the API use one store. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type {
  RoleDescription,
  RoleDescriptionV1,
} from '../../../fixtures/contract/management/roles.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { isJsonWithin } from '../../../fixtures/contract/text.ts';
import { pathDetail, type Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import type { Grant, Role } from '../../rules/access.ts';
import {
  grantsOfPermissions,
  grantsOfSets,
  permissionsBesideSets,
  permissionsOf,
  setsOf,
} from '../../rules/role-formats.ts';
import type { Page } from '../../store/engine/page.ts';
import type { Store } from '../../store/store.ts';
import { findRole, predefinedRoles } from '../../tenants/access.ts';
import { audit, tenantObject, userActor } from '../../tenants/audit.ts';
import { linkedResponse, type PageQuery, pageOfList } from '../paging.ts';
import { hasActingAdmin, lastAdmin } from './users.ts';

const noSuchRole = refuse.notFound(
  'no role has this name',
  pathDetail('id', 'the name of a role of this tenant'),
);
const notYours = refuse.unprocessable(
  'predefined roles cannot be changed; create a custom role',
  stateDetail('a custom role', 'a predefined role'),
);

const tooLarge = refuse.malformed(
  `body: the permissions of a role can have at most ${limits.roleMaxBytes} bytes; split it into several roles`,
  {
    path: 'body',
    expected: `permissions with at most ${limits.roleMaxBytes} bytes`,
    actual: 'more',
    remedy: 'split it into several roles: a user can have up to 20',
  },
);

export const listRoles = defineEndpoint('list-roles', ({ query }, context) =>
  pageOfRoles(context, query, roleView),
);

export const listRolesV1 = defineEndpoint('list-roles-v1', ({ query }, context) =>
  pageOfRoles(context, query, roleViewV1),
);

export const getRole = defineEndpoint('get-role', ({ parameters }, { store }) => {
  const role = findRole(store, parameters.id);
  return role ? { status: 200, body: roleView(role) } : noSuchRole;
});

export const getRoleV1 = defineEndpoint('get-role-v1', ({ parameters }, { store }) => {
  const role = findRole(store, parameters.id);
  return role ? { status: 200, body: roleViewV1(role) } : noSuchRole;
});

export const createRole = defineEndpoint('create-role', ({ body }, context) => {
  const { name, description } = body;
  const grants = grantsOfSets(body.permission_sets_with_scope);
  const refusal = makeRole(context, { name, description, grants });
  const location = pathOf(managementOperations['get-role'], { id: name });
  return refusal ?? { status: 201, headers: { Location: location } };
});

export const createRoleV1 = defineEndpoint('create-role-v1', ({ body }, context) => {
  const { name, description } = body;
  const grants = grantsOfPermissions(body.permissions);
  if ('problem' in grants) return refuse.malformedAt('body', grants);
  const refusal = makeRole(context, { name, description, grants });
  const location = pathOf(managementOperations['get-role-v1'], { id: name });
  return refusal ?? { status: 201, headers: { Location: location } };
});

export const updateRole = defineEndpoint('update-role', ({ parameters, body }, context) => {
  const sets = body.permission_sets_with_scope;
  const change = { ...body, grants: sets && grantsOfSets(sets) };
  return changeRole(context, parameters.id, change) ?? { status: 200 };
});

export const updateRoleV1 = defineEndpoint('update-role-v1', ({ parameters, body }, context) => {
  const grants = body.permissions && grantsOfPermissions(body.permissions);
  if (grants && 'problem' in grants) return refuse.malformedAt('body', grants);
  return changeRole(context, parameters.id, { ...body, grants }) ?? { status: 200 };
});

export const deleteRole = defineEndpoint('delete-role', ({ parameters }, context) => {
  return removeRole(context, parameters.id) ?? { status: 204 };
});

export const deleteRoleV1 = defineEndpoint('delete-role-v1', ({ parameters }, context) => {
  return removeRole(context, parameters.id) ?? { status: 204 };
});

/** Returns a page of all roles. The predefined roles come first. */
function pageOfRoles<View>(context: UserContext, query: PageQuery, view: (role: Role) => View) {
  const everyOne: Page = { page: 1, perPage: limits.rolesMax };
  const all = [...predefinedRoles.values(), ...context.store.roles.list(everyOne)];
  const list = (page: Page) => pageOfList(all, page).map(view);
  return linkedResponse(context, query, { total: all.length, list });
}

function makeRole(context: UserContext, role: Role): Refusal | undefined {
  const { store } = context;
  if (!isJsonWithin(role.grants, limits.roleMaxBytes)) return tooLarge;
  if (findRole(store, role.name)) {
    return refuse.conflict(`body: name: a role "${role.name}" already exists`, {
      path: 'body.name',
      expected: 'a name that no role has',
    });
  }
  if (store.roles.count() >= limits.rolesMax) {
    return refuse.unprocessable(
      `the tenant already has ${limits.rolesMax} roles, the maximum; remove one first`,
      stateDetail(`fewer than ${limits.rolesMax} roles`, `${limits.rolesMax} roles`),
    );
  }
  store.roles.create(role);
  auditChange(context, `Created role ${role.name}`);
  return undefined;
}

/** A change of a role. Absent members stay unchanged. */
interface RoleChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly grants?: readonly Grant[] | undefined;
}

function changeRole(context: UserContext, name: string, change: RoleChange): Refusal | undefined {
  const { store } = context;
  const currentRole = ownRole(store, name);
  if ('status' in currentRole) return currentRole;
  if (change.name !== undefined && change.name !== name) {
    const problem = 'must equal the name in the path; a role cannot be renamed';
    const expected = 'the name in the path';
    return refuse.malformedAt('body', { path: 'name', problem }, { expected });
  }
  if (change.description === undefined && change.grants === undefined) {
    const problem = 'has no change; send a description, or the permissions of the role';
    return refuse.malformedAt('body', { problem }, { expected: 'a change', actual: 'no change' });
  }
  const { description = currentRole.description, grants = currentRole.grants } = change;
  if (!isJsonWithin(grants, limits.roleMaxBytes)) return tooLarge;
  store.roles.change({ name, description, grants });
  if (!hasActingAdmin(store)) {
    store.roles.change(currentRole);
    return lastAdmin;
  }
  auditChange(context, `Updated role ${name}`);
  return undefined;
}

/**
 * Removes a role. A role in use is not removed, because its users would be left without any role,
 * and without a role nothing limits them.
 */
function removeRole(context: UserContext, name: string): Refusal | undefined {
  const { store } = context;
  const role = ownRole(store, name);
  if ('status' in role) return role;
  const [holder] = store.users.holders(name, 1);
  if (holder)
    return refuse.conflict(
      `the role is in use, for example by ${holder.email}; remove it from its users first`,
      stateDetail('a role that no user has', `one of ${holder.email}`),
    );
  store.roles.remove(name);
  auditChange(context, `Deleted role ${name}`);
  return undefined;
}

function ownRole(store: Store, name: string): Role | Refusal {
  if (predefinedRoles.has(name)) return notYours;
  return store.roles.find(name) ?? noSuchRole;
}

function auditChange(context: UserContext, change: string): void {
  const object = tenantObject(context.tenant);
  audit(context, { actor: userActor(context.user), action: 'update', object, change });
}

function roleView({ name, description, grants }: Role): RoleDescription {
  const permissions = permissionsBesideSets(grants);
  return {
    name,
    description,
    permission_sets_with_scope: setsOf(grants),
    ...(permissions.length > 0 && { permissions }),
  };
}

function roleViewV1({ name, description, grants }: Role): RoleDescriptionV1 {
  return { name, description, permissions: permissionsOf(grants) };
}
