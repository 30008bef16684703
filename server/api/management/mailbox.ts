/** Sends secrets by email that let a user set a password or confirm an email address. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { digestOf } from '../../crypto/digest.ts';
import { hashPassword, verifyPassword } from '../../crypto/passwords.ts';
import { Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { accountSuspended } from '../../pipeline/callers.ts';
import {
  defineEndpointWithOwnTransactions,
  type HandlerContext,
  type UserContext,
} from '../../pipeline/endpoint.ts';
import { passwordProblem } from '../../rules/password.ts';
import type { Confirmation, ConfirmationKind } from '../../store/confirmations.ts';
import type { StoredUser } from '../../store/users.ts';
import { audit, userActor, userObject } from '../../tenants/audit.ts';
import type { MessageKind } from '../../tenants/outbox.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { freeAddress, wrongPassword } from './user-details.ts';

interface ConfirmableChange {
  readonly confirms: ConfirmationKind;
  readonly path: string;
  readonly lifetimeSeconds: number;
}

/**
 * For each kind of message: what it confirms, the path of its link, and the lifetime of its secret.
 */
const messages = {
  invitation: {
    confirms: 'password',
    path: pathOf(managementOperations['complete-password-reset']),
    lifetimeSeconds: limits.invitationLifetimeSeconds,
  },
  'password-reset': {
    confirms: 'password',
    path: pathOf(managementOperations['complete-password-reset']),
    lifetimeSeconds: limits.invitationLifetimeSeconds,
  },
  'email-change': {
    confirms: 'email',
    path: pathOf(managementOperations['complete-email-change']),
    lifetimeSeconds: limits.emailChangeLifetimeSeconds,
  },
} as const satisfies Readonly<Record<MessageKind, ConfirmableChange>>;

/** Puts a message with a new secret into the outbox. `newEmail` is the address to be confirmed. */
export function sendSecret(
  context: HandlerContext,
  kind: MessageKind,
  { id: userId, email, newEmail }: { id: string; email: string; newEmail?: string },
): void {
  const { store, tenant, outbox, random, nowMs, origin } = context;
  const { confirms, path, lifetimeSeconds } = messages[kind];
  const secret = random.bytes(32).toString('base64url');
  const expiresMs = nowMs + lifetimeSeconds * 1000;
  store.confirmations.record({
    secretDigest: digestOf(secret),
    kind: confirms,
    userId,
    ...(newEmail !== undefined && { email: newEmail }),
    expiresMs,
  });
  const link = `${origin}${path}?secret_hash=${secret}`;
  const to = newEmail ?? email;
  outbox.post({ tenantId: tenant.id, kind, to, link, secret, createdMs: nowMs, expiresMs });
}

export const completePasswordReset = defineEndpointWithOwnTransactions(
  'complete-password-reset',
  async ({ query, body }, context) => {
    const secret = { body: body.secret_hash, query: query.secret_hash };
    const invitation = findSecret(context, 'password', secret);
    if (invitation instanceof Refusal) return invitation;
    const problem = passwordProblem(body.password, invitation.user.email);
    if (problem) return refuse.unprocessable(`body: ${problem}`);
    const passwordHash = await hashPassword(body.password, context.random);
    // The secret may have been used while the password was hashed.
    const pendingInvitation = findSecret(context, 'password', secret);
    if (pendingInvitation instanceof Refusal) return pendingInvitation;
    const { tenant, user } = pendingInvitation;
    const { users, userTokens, confirmations } = tenant.store;
    tenant.store.atomically(() => {
      users.change(user.id, { passwordHash }, context.nowMs);
      userTokens.endAllOf(user.id);
      confirmations.remove('password', user.id);
      recordOwnChange(context.switchTo(tenant), user, 'set a password through an emailed link');
    });
    return { status: 202 };
  },
);

export const startEmailChange = defineEndpointWithOwnTransactions(
  'start-email-change',
  async ({ body }, context) => {
    const storedUser = context.store.users.find(context.user.id);
    const currentPassword = body.current_password;
    if (
      currentPassword !== undefined &&
      !(await verifyPassword(currentPassword, storedUser?.passwordHash))
    ) {
      return refuse.unprocessable('body: current_password: is wrong', wrongPassword);
    }
    return context.store.atomically(() => startChange(context, body.email));
  },
);

function startChange(context: UserContext, email: string): Refusal | { status: 202 } {
  const { store, tenants, user, nowMs } = context;
  if (tenants.findByEmail(email)) {
    return refuse.unprocessable(
      'body: email: is already in use; choose another address',
      freeAddress,
    );
  }
  const pending = store.confirmations.findOf('email', user.id);
  if (pending && pending.expiresMs > nowMs) {
    const until = new Date(pending.expiresMs).toISOString();
    return refuse.conflict(
      `a change of the email address is already pending; confirm it, or wait until ${until}`,
      stateDetail('no pending change of the email address', `one until ${until}`),
    );
  }
  sendSecret(context, 'email-change', { ...user, newEmail: email });
  const change = `requested a change of the email address to ${email}; confirmation is pending`;
  audit(context, {
    actor: userActor(user),
    action: 'update',
    object: userObject(user),
    change,
  });
  return { status: 202 };
}

export const completeEmailChange = defineEndpointWithOwnTransactions(
  'complete-email-change',
  ({ query, body }, context) => {
    const emailChange = findSecret(context, 'email', {
      body: body?.secret_hash,
      query: query.secret_hash,
    });
    if (emailChange instanceof Refusal) return emailChange;
    const { tenant, user, confirmation } = emailChange;
    const { email = user.email } = confirmation;
    if (context.tenants.findByEmail(email)) {
      return refuse.conflict(
        'another user now has this email address; start again with a different one',
        stateDetail('an unused email address', 'an address that another user now has'),
      );
    }
    tenant.store.atomically(() => {
      tenant.store.users.change(user.id, { email }, context.nowMs);
      tenant.store.confirmations.remove('email', user.id);
      const change = `Updated user ${user.email}:\n- email: ${user.email}\n+ email: ${email}`;
      recordOwnChange(context.switchTo(tenant), { ...user, email }, change);
    });
    return { status: 204 };
  },
);

/** A valid secret with its tenant, its user and the confirmation that it permits. */
interface FoundSecret {
  readonly tenant: Tenant;
  readonly user: StoredUser;
  readonly confirmation: Confirmation;
}

function findSecret(
  { tenants }: HandlerContext,
  kind: ConfirmationKind,
  sent: Readonly<Record<'body' | 'query', string | undefined>>,
): FoundSecret | Refusal {
  const secret = sent.body ?? sent.query;
  const detail = {
    path: `${sent.body === undefined ? 'query' : 'body'}.secret_hash`,
    expected: 'the unused secret of the newest email, before it expires',
  };
  if (secret === undefined) {
    return refuse.malformed('secret_hash: is required in the body or the query', detail);
  }
  const digest = digestOf(secret);
  for (const tenant of tenants.list()) {
    const confirmation = tenant.store.confirmations.find(kind, digest);
    const user = confirmation && tenant.store.users.find(confirmation.userId);
    if (!user) continue;
    if (confirmation.expiresMs <= tenant.clock.now()) {
      return refuse.malformed('secret_hash: has expired; request a new one', detail);
    }
    return tenant.status === 'suspended' ? accountSuspended : { tenant, user, confirmation };
  }
  return refuse.malformed('secret_hash: is unknown or already used; request a new one', detail);
}

function recordOwnChange(context: HandlerContext, user: StoredUser, change: string): void {
  const object = userObject(user);
  audit(context, { actor: userActor(user), action: 'update', object, change });
}
