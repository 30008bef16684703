/** Another user of a tenant that the case has created. Spec: Authentication, rule 2 */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { requestOf } from '../target/call.ts';
import { NotObservable } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { ManagementAdmin } from './management-admin.ts';
import { authorizationOf } from './short-lived-token.ts';
import type { TargetAdmin } from './target-admin.ts';
import type { TestContext } from './test-context.ts';

const { 'create-user-v1': create, 'delete-user': remove, login } = managementOperations;

/** A user without restrictions, besides the first one of the tenant. */
export interface SecondUser {
  readonly email: string;
  readonly password: string;
  /** Logs the user in, and returns an admin with the token of that login. */
  logIn(): Promise<TargetAdmin>;
  /** Deletes the user as the first user of the tenant. */
  remove(): Promise<void>;
}

/**
 * Creates a user in the tenant of the context, which must be the case's own, since the user is
 * removed with it. Throws NotObservable when the target creates no user with a password.
 */
export async function secondUser(context: TestContext): Promise<SecondUser> {
  const { client, maskSecret } = context;
  const name = context.newName();
  const email = `second-${name}@conformance.example`;
  const password = `of ${name}`;
  maskSecret(password, 'password');
  const headers = authorizationOf(context.admin);
  const response = await client.send(requestOf(create, { body: { email, password }, headers }));
  requireStatus('create a user', response, 201);
  const id = response.headers.location?.split('/').at(-1) ?? '';
  return {
    email,
    password,
    logIn: async () => {
      const basic = Buffer.from(`${email}:${password}`).toString('base64');
      const response = await client.send(
        requestOf(login, { headers: { authorization: `Basic ${basic}` } }),
      );
      requireStatus('log a user in', response, 200);
      maskSecret(response.text, 'user-token');
      return new ManagementAdmin(client, { token: response.text });
    },
    remove: async () => {
      const response = await client.send(requestOf(remove, { path: { id }, headers }));
      requireStatus('delete a user', response, 204);
    },
  };
}

/** Returns an admin with a token of the same user. */
export function adminWithToken({ client }: TestContext, token: string): TargetAdmin {
  return new ManagementAdmin(client, { token });
}

function requireStatus(action: string, { status }: HttpResponse, wanted: number): void {
  if (status === wanted) return;
  throw new NotObservable(`the target does not ${action}: status ${status}`);
}
