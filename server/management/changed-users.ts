/** Users are changed, by themselves or by those who manage users. */
import type { UserUpdate } from '../../fixtures/contract/management/users.ts';
import { findRole } from '../access.ts';
import { audit, userActor, userObject } from '../audit.ts';
import { hashPassword, passwordFits } from '../crypto/passwords.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { isAdmin } from '../rules/access.ts';
import { passwordFault } from '../rules/password.ts';
import type { StoredUser } from '../store/users.ts';
import { emailTaken, rolesFault } from './new-users.ts';
import { isLastAdmin, lastAdmin } from './users.ts';
import type { UserContext } from './visible-devices.ts';

export const updateUser = defineEndpoint('update-user', ({ parameters, body }, context) => {
  return changeUser(context, parameters.id, body) ?? { status: 204 };
});

export const updateOwnUserV1 = defineEndpoint('update-own-user-v1', ({ body }, context) => {
  return changeUser(context, context.user.id, body) ?? { status: 204 };
});

export const updateOwnUser = defineEndpoint('update-own-user', ({ body }, context) => {
  const { password, current_password } = body;
  return changeUser(context, context.user.id, { password, current_password }) ?? { status: 204 };
});

/** Ends all tokens of the user but the one in use, whatever it was that changed. */
function changeUser(context: UserContext, id: string, given: UserUpdate): Refusal | undefined {
  const { store, random, nowMs } = context;
  const user = store.users.find(id);
  if (!user) return refuse.notFound('there is no user of this id');
  const refusal = ruleOut(context, user, given);
  if (refusal) return refusal;
  const { email, password, roles } = given;
  const passwordHash = password === undefined ? undefined : hashPassword(password, random);
  store.users.change(id, { email, passwordHash, roles }, nowMs);
  store.userTokens.endAllOf(id, id === context.user.id ? context.user.tokenId : undefined);
  const object = userObject({ id, email: email ?? user.email });
  const change = changeOf(user, given);
  audit(context, { actor: userActor(context.user), action: 'update', object, change });
  return undefined;
}

/** Every reason why the change cannot be, in the order in which they are told. */
function ruleOut(context: UserContext, user: StoredUser, given: UserUpdate): Refusal | undefined {
  const { email, password, roles } = given;
  const isRenamed = email !== undefined && email !== user.email;
  if (email === undefined && password === undefined && roles === undefined) {
    return refuse.malformed('body: names nothing to change; send email, password or roles');
  }
  if (user.id !== context.user.id && password !== undefined) {
    return refuse.unprocessable('body: password: of another user cannot be changed');
  }
  if (user.id === context.user.id && (isRenamed || password !== undefined)) {
    const fits = passwordFits(given.current_password ?? '', user.passwordHash);
    if (!fits) return refuse.unprocessable('body: current_password: is not that of this user');
  }
  const fault =
    password === undefined
      ? undefined
      : (passwordFault(password, user.email) ?? passwordFault(password, email ?? ''));
  if (fault) return refuse.unprocessable(`body: ${fault}`);
  if (isRenamed && context.tenants.findByEmail(email)) return emailTaken;
  return roles && ruleOutRoles(context, user, roles);
}

function ruleOutRoles(
  { store }: UserContext,
  user: StoredUser,
  names: readonly string[],
): Refusal | undefined {
  const fault = rolesFault(store, names);
  if (fault) return fault;
  const roles = names.flatMap((name) => findRole(store, name) ?? []);
  return !isAdmin(roles) && isLastAdmin(store, user) ? lastAdmin : undefined;
}

/** What became different, for people: a line for the user, then one for each old and new value. */
function changeOf(user: StoredUser, { email, password, roles }: UserUpdate): string {
  const pairs: (readonly [string, string, string])[] = [];
  if (email !== undefined) pairs.push(['email', user.email, email]);
  if (roles) pairs.push(['roles', JSON.stringify(user.roles), JSON.stringify(roles)]);
  const lines = pairs
    .filter(([, before, after]) => before !== after)
    .flatMap(([name, before, after]) => [`- ${name}: ${before}`, `+ ${name}: ${after}`]);
  if (password !== undefined) lines.push('! password');
  return [`Updated user ${user.email}:`, ...lines].join('\n');
}
