/** The predefined permission sets of roles, listed with the operations that each permits. */
import {
  type PermissionSetName,
  permissionSets,
} from '../../../fixtures/contract/management/access.ts';
import type { PermissionSetDescription } from '../../../fixtures/contract/management/roles.ts';
import { pathDetail, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { permissionsOfSet } from '../../rules/role-formats.ts';
import { linkedResponse, pageOfList } from '../paging.ts';

const names = Object.keys(permissionSets) as PermissionSetName[];

export const listPermissionSets = defineEndpoint('list-permission-sets', ({ query }, context) =>
  linkedResponse(context, query, {
    total: names.length,
    list: (page) => pageOfList(names, page).map(permissionSetView),
  }),
);

export const getPermissionSet = defineEndpoint('get-permission-set', ({ parameters }) => {
  const name = names.find((one) => one === parameters.id);
  if (!name)
    return refuse.notFound(
      `no permission set has this name; the names are ${names.join(', ')}`,
      pathDetail('name', 'the name of a permission set'),
    );
  return { status: 200, body: permissionSetView(name) };
});

function permissionSetView(name: PermissionSetName): PermissionSetDescription {
  const { action, object, description, scoped } = permissionSets[name];
  return {
    name,
    action,
    object,
    description,
    permissions: permissionsOfSet(name),
    ...(scoped && { supported_scope_types: ['DeviceGroups'] }),
  };
}
