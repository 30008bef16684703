/** Issues tokens of users, and records each so that it can be revoked. */
import type { Random } from '../../fixtures/base/random.ts';
import type { TokenIssuer } from '../crypto/tokens.ts';
import type { UserTokenKind } from '../store/user-tokens.ts';
import type { Tenant } from './tenants.ts';

/** A user token to issue. */
interface TokenToIssue {
  readonly userId: string;
  readonly kind: UserTokenKind;
  readonly name?: string;
  readonly nowMs: number;
  /** Lifetime in seconds; absent or 0 for a token that does not expire. */
  readonly lifetimeSeconds?: number | undefined;
}

/** Issues and records a token of a user of the tenant. */
export function issueUserToken(
  { tokenIssuer, random }: { readonly tokenIssuer: TokenIssuer; readonly random: Random },
  tenant: Tenant,
  { userId, kind, name, nowMs, lifetimeSeconds }: TokenToIssue,
): string {
  const id = random.uuid();
  const issuedAt = Math.floor(nowMs / 1000);
  const expiresAt = lifetimeSeconds ? issuedAt + lifetimeSeconds : undefined;
  const expiresMs = expiresAt === undefined ? undefined : expiresAt * 1000;
  tenant.store.userTokens.record({ id, userId, kind, name, expiresMs }, nowMs);
  const claims = { kind: 'user', subject: userId, id, tenantId: tenant.id } as const;
  return tokenIssuer.issue({ ...claims, ...(expiresAt !== undefined && { expiresAt }) }, issuedAt);
}
