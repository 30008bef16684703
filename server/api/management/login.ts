/** Login of users with email and password, and logout. Spec: Authentication, rules 2 and 3 */
import { verifyPassword } from '../../crypto/passwords.ts';
import { refuse } from '../../http/refusal.ts';
import { accountSuspended } from '../../pipeline/callers.ts';
import { defineEndpoint, defineEndpointWithOwnTransactions } from '../../pipeline/endpoint.ts';
import { issueUserToken } from '../../tenants/user-tokens.ts';

const basic = /^basic +([A-Za-z0-9+/=_-]+) *$/i;
const loginRefusal = refuse.unauthorized(
  'unauthorized: log in with HTTP Basic and the email address and password of a user',
  {
    path: 'header.Authorization',
    expected: 'Basic <base64 of email:password> of a user',
    requirement: 'tokens.invalid-is-401',
  },
);

export const login = defineEndpointWithOwnTransactions('login', async ({ body }, context) => {
  const { tenants, settings, request } = context;
  const credentials = basic.exec(request.headers.authorization ?? '')?.[1];
  if (credentials === undefined) return loginRefusal;
  const [email = '', ...passwordParts] = Buffer.from(credentials, 'base64').toString().split(':');
  const tenant = tenants.findByEmail(email);
  const user = tenant?.store.users.findByEmail(email);
  // The password is hashed for unknown users too: a faster response would reveal whether an address
  // belongs to a user.
  const fits = await verifyPassword(passwordParts.join(':'), user?.passwordHash);
  if (!tenant || !user || !fits) return loginRefusal;
  // The user or the tenant may have been removed while the password was checked.
  if (tenants.findByEmail(email) !== tenant) return loginRefusal;
  if (tenant.store.users.find(user.id)?.passwordHash !== user.passwordHash) return loginRefusal;
  if (tenant.status === 'suspended') return accountSuspended;
  const lifetimeSeconds = body?.no_expiry ? undefined : settings.tokenLifetimeSeconds;
  // The clock of the user's tenant may differ from that of the request.
  const nowMs = tenant.clock.now();
  const token = tenant.store.atomically(() => {
    tenant.store.users.recordLogin(user.id, nowMs);
    const tokenRequest = { userId: user.id, kind: 'session', nowMs, lifetimeSeconds } as const;
    return issueUserToken(context, tenant, tokenRequest);
  });
  return { status: 200, body: token };
});

export const logout = defineEndpoint('logout', (_, { store, user }) => {
  store.userTokens.end(user.tokenId);
  return { status: 202 };
});
