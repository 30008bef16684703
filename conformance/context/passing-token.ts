/** A token of a user that ends, where the operator's own does not. Spec: Authentication */
import * as v from 'valibot';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { NotObservable } from '../suite/expectations.ts';
import { requestOf } from '../target/call.ts';
import type { Operator } from './operator.ts';
import type { Stage } from './stage.ts';

const { 'create-personal-token': create, 'list-personal-tokens': list } = managementOperations;
const { 'revoke-personal-token': revoke } = managementOperations;
const listed = v.array(v.looseObject({ id: v.string(), name: v.string() }));

/** A personal access token of the operator's user that lasts so long; revoked in the end. */
export async function passingUserToken(stage: Stage, lifetimeSeconds: number): Promise<string> {
  const name = stage.newName();
  const body = { name, expires_in: lifetimeSeconds };
  stage.ownership.owns(`personal token ${name}`, async (operator) => {
    if (operator) await revokeNamed(operator, name);
  });
  const headers = authorizationOf(stage.operator);
  const { status, text } = await stage.session.send(requestOf(create, { body, headers }));
  if (status !== 200)
    throw new NotObservable(`the target does not create personal tokens: status ${status}`);
  stage.learnSecret(text, 'user-token');
  return text;
}

async function revokeNamed(operator: Operator, name: string): Promise<void> {
  const { session } = operator.caller;
  const headers = authorizationOf(operator);
  const { text } = await session.send(requestOf(list, { headers }));
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), listed), text);
  const id = parsed.success ? parsed.output.find((token) => token.name === name)?.id : undefined;
  if (id !== undefined) await session.send(requestOf(revoke, { path: { id }, headers }));
}

/** By what the operator calls; nothing where a hook stands in for it without a token. */
export function authorizationOf({ caller }: Operator): Readonly<Record<string, string>> {
  const { authorization } = caller.request('list-audit-logs').headers ?? {};
  return authorization === undefined ? {} : { authorization };
}
