/** Users sign in with e-mail and password, and get a token. Spec: Authentication, rules 2 and 3 */
import { passwordFits } from '../crypto/passwords.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuse } from '../http/refusal.ts';

const basic = /^basic +([A-Za-z0-9+/=_-]+) *$/i;
const refused = refuse.unauthorized(
  'unauthorized: sign in with HTTP Basic, the e-mail and password of a user',
);

export const login = defineEndpoint('login', ({ body }, context) => {
  const { store, tokens, random, settings, nowMs, request } = context;
  const credentials = basic.exec(request.headers.authorization ?? '')?.[1];
  if (credentials === undefined) return refused;
  const [email = '', ...rest] = Buffer.from(credentials, 'base64').toString().split(':');
  const user = store.users.findByEmail(email);
  if (!user || !passwordFits(rest.join(':'), user.passwordHash)) return refused;
  const issuedAt = Math.floor(nowMs / 1000);
  const claims = { kind: 'user', subject: user.id, id: random.uuid() } as const;
  const end = body?.no_expiry ? {} : { expiresAt: issuedAt + settings.tokenLifetimeSeconds };
  return { status: 200, body: tokens.issue({ ...claims, ...end }, issuedAt) };
});
