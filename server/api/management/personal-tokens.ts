/** Personal access tokens: API keys that users create for scripts. Spec: Authentication, rule 4 */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { PersonalToken } from '../../../fixtures/contract/management/tokens.ts';
import { pathDetail, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import type { StoredPersonalToken } from '../../store/user-tokens.ts';
import { audit, userActor, userObject } from '../../tenants/audit.ts';
import { issueUserToken } from '../../tenants/user-tokens.ts';
import { ifGiven } from '../optional.ts';
import { linkedResponse } from '../paging.ts';
import { iso } from './views.ts';

export const createPersonalToken = defineEndpoint('create-personal-token', ({ body }, context) => {
  const { store, tenant, user, nowMs } = context;
  const { name, expires_in: lifetimeSeconds } = body;
  if (store.userTokens.hasPersonal(user.id, name, nowMs)) {
    return refuse.conflict(`body: name: a token "${name}" already exists; revoke it first`, {
      path: 'body.name',
      expected: 'a name that no token of the user has',
    });
  }
  if (store.userTokens.countPersonal(user.id, nowMs) >= limits.personalTokensMax) {
    const max = limits.personalTokensMax;
    return refuse.unprocessable(
      `the user already has ${max} tokens, the maximum; revoke one first`,
      stateDetail(`fewer than ${max} tokens of the user`, `${max} tokens`),
    );
  }
  const tokenRequest = { userId: user.id, kind: 'personal', name, nowMs, lifetimeSeconds } as const;
  const token = issueUserToken(context, tenant, tokenRequest);
  auditChange(context, `Created personal access token ${name}`);
  return { status: 200, body: token };
});

export const listPersonalTokens = defineEndpoint('list-personal-tokens', ({ query }, context) => {
  const { store, user, nowMs } = context;
  return linkedResponse(context, query, {
    total: store.userTokens.countPersonal(user.id, nowMs),
    list: (page) => store.userTokens.personal(user.id, nowMs, page).map(personalTokenView),
  });
});

export const revokePersonalToken = defineEndpoint(
  'revoke-personal-token',
  ({ parameters }, context) => {
    const name = context.store.userTokens.revokePersonal(context.user.id, parameters.id);
    if (name === undefined)
      return refuse.notFound(
        'this user has no token with this ID',
        pathDetail('id', 'the ID of a token of this user'),
      );
    auditChange(context, `Revoked personal access token ${name}`);
    return { status: 204 };
  },
);

/**
 * Writes an audit entry. It is recorded as a change of the user, because a token belongs to its
 * user.
 */
function auditChange(context: UserContext, change: string): void {
  const object = userObject(context.user);
  audit(context, { actor: userActor(context.user), action: 'update', object, change });
}

function personalTokenView(token: StoredPersonalToken): PersonalToken {
  return {
    id: token.id,
    name: token.name,
    last_used: ifGiven(token.lastUsedMs, iso),
    expiration_date: ifGiven(token.expiresMs, iso),
    created_ts: iso(token.createdMs),
  };
}
