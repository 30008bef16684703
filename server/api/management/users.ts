/** Lists, reads and removes users in the management API. Other files create and change them. */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { User } from '../../../fixtures/contract/management/users.ts';
import { pathDetail, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import type { Store } from '../../store/store.ts';
import type { StoredUser, UserFilter } from '../../store/users.ts';
import { isActingAdmin } from '../../tenants/access.ts';
import { audit, userActor, userObject } from '../../tenants/audit.ts';
import { ifGiven } from '../optional.ts';
import { linkedResponse, millisecondsOf } from '../paging.ts';
import { iso } from './views.ts';

/** The refusal of an ID that belongs to no user of the tenant. */
export const noSuchUser = refuse.notFound(
  'no user has this ID',
  pathDetail('id', 'the ID of a user of this tenant'),
);

/** The refusal to remove or restrict the last user with full access. */
export const lastAdmin = refuse.unprocessable(
  'this is the last user with full access who can log in; create another one first',
  stateDetail('another user with full access who can log in'),
);

export const listUsers = defineEndpoint('list-users', ({ query }, context) => {
  const { users } = context.store;
  const filter: UserFilter = {
    id: query.id,
    email: query.email,
    createdAfterMs: ifGiven(query.created_after, millisecondsOf),
    createdBeforeMs: ifGiven(query.created_before, millisecondsOf),
    updatedAfterMs: ifGiven(query.updated_after, millisecondsOf),
    updatedBeforeMs: ifGiven(query.updated_before, millisecondsOf),
  };
  return linkedResponse(context, query, {
    total: users.count(filter),
    list: (page) => users.list(filter, page).map(userView),
  });
});

export const getUser = defineEndpoint('get-user', ({ parameters }, { store }) => {
  const user = store.users.find(parameters.id);
  return user ? { status: 200, body: userView(user) } : noSuchUser;
});

export const getOwnUser = defineEndpoint('get-own-user', (_, { store, user }) => {
  const storedUser = store.users.find(user.id);
  return storedUser ? { status: 200, body: userView(storedUser) } : noSuchUser;
});

export const deleteUser = defineEndpoint('delete-user', ({ parameters }, context) => {
  const { store } = context;
  const user = store.users.find(parameters.id);
  if (!user) return noSuchUser;
  if (isLastAdmin(store, user)) return lastAdmin;
  store.users.remove(user.id);
  store.userTokens.endAllOf(user.id);
  store.confirmations.removeAllOf(user.id);
  audit(context, { actor: userActor(context.user), action: 'delete', object: userObject(user) });
  return { status: 204 };
});

/** Returns true if this is the last user with full access who can log in. */
export function isLastAdmin(store: Store, user: StoredUser): boolean {
  return isActingAdmin(store, user) && !hasActingAdmin(store, user.id);
}

/** Returns true if a user other than `exceptId` has full access and can log in. */
export function hasActingAdmin(store: Store, exceptId = ''): boolean {
  const everybody = { page: 1, perPage: limits.usersMax };
  return store.users
    .list({ id: [], email: [] }, everybody)
    .some((user) => user.id !== exceptId && isActingAdmin(store, user));
}

function userView(user: StoredUser): User {
  return {
    id: user.id,
    email: user.email,
    roles: [...user.roles],
    created_ts: iso(user.createdMs),
    updated_ts: iso(user.updatedMs),
    login_ts: ifGiven(user.loginMs, iso),
  };
}
