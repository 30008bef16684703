/** Authentication by a new key of a device, and the use of a token. */
import { ExpectationFailure, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { factoryProvides } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { TestContext } from './test-context.ts';

/** Authenticates with a new key of the device. */
export async function authenticateByNewKey(
  device: SuiteDevice,
  context: TestContext,
): Promise<HttpResponse> {
  const signedBy = await context.newKey();
  return device.authenticate({ members: { pubkey: signedBy.publicKeyPem }, signedBy });
}

/** Asserts that a request with the token is accepted. */
export async function expectTokenWorks(context: TestContext, token: string): Promise<void> {
  const query = factoryProvides;
  const response = await context.caller(token).call('get-next-deployment', { query });
  if (response.status >= 200 && response.status < 300) return;
  const expected = 'a response to a request with the token';
  throw new ExpectationFailure(expected, responseSummary(response), ['auth.accepted-gets-token']);
}
