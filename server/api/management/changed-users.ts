/** Changes users: their own account, or another user's by a user manager. */
import type { UserUpdate } from '../../../fixtures/contract/management/users.ts';
import { hashPassword, verifyPassword } from '../../crypto/passwords.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpointWithOwnTransactions, type UserContext } from '../../pipeline/endpoint.ts';
import { isAdmin } from '../../rules/access.ts';
import { passwordProblem } from '../../rules/password.ts';
import type { StoredUser } from '../../store/users.ts';
import { findRole } from '../../tenants/access.ts';
import { audit, userActor, userObject } from '../../tenants/audit.ts';
import { emailTaken, rolesProblem } from './new-users.ts';
import { wrongPassword } from './user-details.ts';
import { isLastAdmin, lastAdmin, noSuchUser } from './users.ts';

export const updateUser = defineEndpointWithOwnTransactions(
  'update-user',
  async ({ parameters, body }, context) => {
    return (await changeUser(context, parameters.id, body)) ?? { status: 204 };
  },
);

export const updateOwnUserV1 = defineEndpointWithOwnTransactions(
  'update-own-user-v1',
  async ({ body }, context) => {
    return (await changeUser(context, context.user.id, body)) ?? { status: 204 };
  },
);

export const updateOwnUser = defineEndpointWithOwnTransactions(
  'update-own-user',
  async ({ body }, context) => {
    const { password, current_password } = body;
    const update = { password, current_password };
    return (await changeUser(context, context.user.id, update)) ?? { status: 204 };
  },
);

/** The results of the slow checks of a change, which run before anything is written. */
interface PasswordChecks {
  /** The stored hash that `current_password` matched. */
  readonly currentHash?: string | undefined;
  /** The hash of the new password. */
  readonly passwordHash?: string | undefined;
}

/** Changes the user in one transaction, after its passwords are checked and hashed. */
async function changeUser(
  context: UserContext,
  id: string,
  update: UserUpdate,
): Promise<Refusal | undefined> {
  const user = context.store.users.find(id);
  if (!user) return noSuchUser;
  const passwordChecks = needsPasswordCheck(context, user, update)
    ? await checkPasswords(context, user, update)
    : {};
  return context.store.atomically(() => writeChange(context, id, { update, passwordChecks }));
}

function needsPasswordCheck(
  { user: caller }: UserContext,
  user: StoredUser,
  update: UserUpdate,
): boolean {
  return user.id === caller.id && (isRenamed(user, update) || update.password !== undefined);
}

function isRenamed({ email }: StoredUser, update: UserUpdate): boolean {
  return update.email !== undefined && update.email !== email;
}

async function checkPasswords(
  { random }: UserContext,
  { passwordHash: currentHash }: StoredUser,
  { current_password: current = '', password }: UserUpdate,
): Promise<PasswordChecks> {
  if (!(await verifyPassword(current, currentHash))) return {};
  if (password === undefined) return { currentHash };
  return { currentHash, passwordHash: await hashPassword(password, random) };
}

/** Writes the change, and ends all tokens of the user except the token of this request. */
function writeChange(
  context: UserContext,
  id: string,
  { update, passwordChecks }: { update: UserUpdate; passwordChecks: PasswordChecks },
): Refusal | undefined {
  const { store, nowMs } = context;
  const user = store.users.find(id);
  if (!user) return noSuchUser;
  const refusal = ruleOut(context, user, { update, passwordChecks });
  if (refusal) return refusal;
  const { email, roles } = update;
  store.users.change(id, { email, passwordHash: passwordChecks.passwordHash, roles }, nowMs);
  store.userTokens.endAllOf(id, id === context.user.id ? context.user.tokenId : undefined);
  const object = userObject({ id, email: email ?? user.email });
  const change = changeOf(user, update);
  audit(context, { actor: userActor(context.user), action: 'update', object, change });
  return undefined;
}

/** Checks every rule that forbids the change, in a fixed order. Returns the first refusal. */
function ruleOut(
  context: UserContext,
  user: StoredUser,
  { update, passwordChecks }: { update: UserUpdate; passwordChecks: PasswordChecks },
): Refusal | undefined {
  const { email, password, roles } = update;
  if (email === undefined && password === undefined && roles === undefined) {
    const problem = 'has no change; send email, password or roles';
    return refuse.malformedAt('body', { problem }, { expected: 'a change', actual: 'no change' });
  }
  if (user.id !== context.user.id && password !== undefined) {
    return refuse.unprocessable(
      'body: password: cannot be set for another user; the user can reset it',
      { path: 'body.password', expected: 'a change without the password' },
    );
  }
  if (needsPasswordCheck(context, user, update)) {
    // The password may have changed since it was checked, so the hash is compared again.
    const { currentHash } = passwordChecks;
    const isCurrent = currentHash !== undefined && currentHash === user.passwordHash;
    if (!isCurrent) return refuse.unprocessable('body: current_password: is wrong', wrongPassword);
  }
  const problem =
    password === undefined
      ? undefined
      : (passwordProblem(password, user.email) ?? passwordProblem(password, email ?? ''));
  if (problem) return refuse.unprocessable(`body: ${problem}`);
  if (email !== undefined && isRenamed(user, update) && context.tenants.findByEmail(email)) {
    return emailTaken;
  }
  return roles && ruleOutRoles(context, user, roles);
}

function ruleOutRoles(
  { store }: UserContext,
  user: StoredUser,
  names: readonly string[],
): Refusal | undefined {
  const problem = rolesProblem(store, names);
  if (problem) return problem;
  const roles = names.flatMap((name) => findRole(store, name) ?? []);
  return !isAdmin(roles) && isLastAdmin(store, user) ? lastAdmin : undefined;
}

/**
 * Returns the change as readable text for the audit log: a line that names the user, then one line
 * for each old value and one for each new value.
 */
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
