/** Creates users: in version 1 with a password, in version 2 by invitation. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { hashPassword } from '../../crypto/passwords.ts';
import { Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import {
  defineEndpoint,
  defineEndpointWithOwnTransactions,
  type UserContext,
} from '../../pipeline/endpoint.ts';
import { passwordProblem } from '../../rules/password.ts';
import type { Store } from '../../store/store.ts';
import { findRole } from '../../tenants/access.ts';
import { audit, userActor, userObject } from '../../tenants/audit.ts';
import { sendSecret } from './mailbox.ts';
import { freeAddress } from './user-details.ts';

export const createUserV1 = defineEndpointWithOwnTransactions(
  'create-user-v1',
  async ({ body }, context) => {
    const { email, password, roles, send_reset_password: isInvited } = body;
    if (password === undefined && !isInvited) {
      const problem = 'is required, or send_reset_password: true';
      const expected = 'a password, or send_reset_password: true';
      const detail = { expected, actual: 'neither' };
      return refuse.malformedAt('body', { path: 'password', problem }, detail);
    }
    const problem = password === undefined ? undefined : passwordProblem(password, email);
    if (problem) return refuse.unprocessable(`body: ${problem}`);
    const refusal = ruleOut(context, { email, roles });
    if (refusal) return refusal;
    const passwordHash =
      password === undefined ? undefined : await hashPassword(password, context.random);
    return context.store.atomically(() => {
      const user = makeUser(context, { email, passwordHash, roles });
      if (user instanceof Refusal) return user;
      if (isInvited) sendSecret(context, 'password-reset', user);
      return { status: 201, headers: { Location: locationOf(user.id) } };
    });
  },
);

export const createUser = defineEndpoint('create-user', ({ body }, context) => {
  const user = makeUser(context, { email: body.email, roles: body.roles });
  if (user instanceof Refusal) return user;
  sendSecret(context, 'invitation', user);
  return { status: 201, headers: { Location: locationOf(user.id) } };
});

/** Returns a refusal if the roles do not all exist, otherwise undefined. */
export function rolesProblem(store: Store, roles: readonly string[] = []): Refusal | undefined {
  const unknownRole = roles.find((name) => !findRole(store, name));
  if (unknownRole === undefined) return undefined;
  return refuse.unprocessable(`body: roles: there is no role "${unknownRole}"`, {
    path: 'body.roles',
    expected: 'names of roles of this tenant',
  });
}

/** The refusal of an email address that is in use. */
export const emailTaken = refuse.unprocessable(
  'body: email: is already in use in this or another tenant; choose another address',
  freeAddress,
);

interface UserToCreate {
  readonly email: string;
  readonly passwordHash?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

function ruleOut(
  { store, tenants }: UserContext,
  { email, roles }: UserToCreate,
): Refusal | undefined {
  if (tenants.findByEmail(email)) return emailTaken;
  const problem = rolesProblem(store, roles);
  if (problem) return problem;
  if (store.users.count({ id: [], email: [] }) < limits.usersMax) return undefined;
  return refuse.unprocessable(
    `the tenant already has ${limits.usersMax} users, the maximum; remove one first`,
    stateDetail(`fewer than ${limits.usersMax} users`, `${limits.usersMax} users`),
  );
}

function makeUser(
  context: UserContext,
  wanted: UserToCreate,
): { id: string; email: string } | Refusal {
  const refusal = ruleOut(context, wanted);
  if (refusal) return refusal;
  const { store, random, nowMs } = context;
  const { email, passwordHash, roles } = wanted;
  const user = { id: random.uuid(), email };
  store.users.create({ ...user, passwordHash, roles }, nowMs);
  const changeOfRoles = roles && roles.length > 0 ? { change: `roles: ${roles.join(', ')}` } : {};
  const object = userObject(user);
  audit(context, { actor: userActor(context.user), action: 'create', object, ...changeOfRoles });
  return user;
}

function locationOf(id: string): string {
  return pathOf(managementOperations['get-user'], { id });
}
