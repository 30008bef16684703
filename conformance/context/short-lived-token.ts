/** A user token that expires, unlike the target admin's own. Spec: Authentication */
import * as v from 'valibot';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { requestOf } from '../target/call.ts';
import { NotObservable } from '../target/expectations.ts';
import type { TargetAdmin } from './target-admin.ts';
import type { TestContext } from './test-context.ts';

const { 'create-personal-token': create, 'list-personal-tokens': list } = managementOperations;
const { 'revoke-personal-token': revoke } = managementOperations;
const tokenList = v.array(v.looseObject({ id: v.string(), name: v.string() }));

/**
 * Creates a personal access token of the target admin's user with this lifetime; it is revoked at
 * the end.
 */
export async function createShortLivedToken(
  context: TestContext,
  lifetimeSeconds: number,
): Promise<string> {
  const name = context.newName();
  const body = { name, expires_in: lifetimeSeconds };
  context.created.removeAtEnd(`personal token ${name}`, async (admin) => {
    if (admin) await revokeNamed(admin, name);
  });
  const headers = authorizationOf(context.admin);
  const { status, text } = await context.client.send(requestOf(create, { body, headers }));
  if (status !== 200)
    throw new NotObservable(`the target does not create personal tokens: status ${status}`);
  context.maskSecret(text, 'user-token');
  return text;
}

async function revokeNamed(admin: TargetAdmin, name: string): Promise<void> {
  const { client } = admin.caller;
  const headers = authorizationOf(admin);
  const { text } = await client.send(requestOf(list, { headers }));
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), tokenList), text);
  const id = parsed.success ? parsed.output.find((token) => token.name === name)?.id : undefined;
  if (id !== undefined) await client.send(requestOf(revoke, { path: { id }, headers }));
}

/** Returns the target admin's Authorization header; empty for a hook that acts without a token. */
export function authorizationOf({ caller }: TargetAdmin): Readonly<Record<string, string>> {
  const { authorization } = caller.request('list-audit-logs').headers ?? {};
  return authorization === undefined ? {} : { authorization };
}
