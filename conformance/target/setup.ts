/** The first steps of a run: checks that the server is reachable and that it accepts the user. */
import { isBearerToken } from '../../fixtures/base/bearer-token.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { requestOf } from './call.ts';
import type { Mask } from './mask.ts';
import type { HttpResponse } from './response.ts';
import {
  BaseUrlError,
  gatewayErrors,
  LoginRefusedError,
  UnreachableError,
  UntrustedCertificateError,
} from './setup-error.ts';
import type { TargetClient } from './target.ts';
import { TransportFailure } from './transport-failure.ts';
import { describeResponse, isMarkup } from './unexpected-response.ts';

/** The credentials of the suite for the management API; `none` for a run without a user. */
export type SuiteCredentials =
  | { readonly email: string; readonly password: string }
  | { readonly token: string }
  | 'none';

/** A user token, or the reason why an expected one is missing. */
export type Login =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'unusable'; readonly reason: string; readonly isStarting: boolean }
  | { readonly kind: 'none' };

/** Returns the base URL without a trailing slash. Throws a BaseUrlError. */
export function checkedBaseUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new BaseUrlError(baseUrl);
  const { protocol, origin, pathname, username } = new URL(baseUrl);
  if (!['http:', 'https:'].includes(protocol) || username !== '') throw new BaseUrlError(baseUrl);
  return `${origin}${pathname}`.replace(/(?<!\/)\/+$/, '');
}

/**
 * Checks that something listens at the base URL. Throws an UnreachableError or an
 * UntrustedCertificateError. Any other behaviour of the listener is left to the cases.
 */
export async function reachTarget(client: TargetClient, baseUrl: string): Promise<void> {
  try {
    await client.send({ method: 'GET', url: '/' });
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    if (error.code === 'unreachable') throw new UnreachableError(baseUrl, error);
    const certificate = certificateError(error, baseUrl);
    if (certificate) throw certificate;
  }
}

/** Returns the error for an untrusted certificate; undefined for another failure. */
export function certificateError(
  failure: TransportFailure,
  baseUrl: string,
): UntrustedCertificateError | undefined {
  if (failure.code !== 'certificate-not-trusted') return undefined;
  return new UntrustedCertificateError(baseUrl, failure);
}

/** Gets a user token. Throws a LoginRefusedError when the management API refuses the user. */
export async function logIn(
  client: TargetClient,
  credentials: SuiteCredentials,
  mask: Mask,
): Promise<Login> {
  if (credentials === 'none') return { kind: 'none' };
  try {
    return 'token' in credentials
      ? await checkToken(client, credentials.token)
      : await passwordLogin(client, credentials, mask);
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const reason = `the login request failed: ${error.message}`;
    return { kind: 'unusable', reason, isStarting: true };
  }
}

async function passwordLogin(
  client: TargetClient,
  { email, password }: { readonly email: string; readonly password: string },
  mask: Mask,
): Promise<Login> {
  const basic = Buffer.from(`${email}:${password}`).toString('base64');
  mask.addSecret(basic, 'basic');
  const headers = { authorization: `Basic ${basic}` };
  const response = await client.send(requestOf(managementOperations.login, { headers }));
  if (response.status === 401 || response.status === 403) {
    throw new LoginRefusedError(email, response.status);
  }
  if (response.status !== 200 || response.text === '' || isMarkup(response)) {
    return unusable('the login', response);
  }
  // The text is not shown, since it may contain a token.
  if (!isBearerToken(response.text))
    return unusable('the login', response, '200 without a plain token');
  mask.addSecret(response.text, 'user-token');
  return { kind: 'token', token: response.text };
}

async function checkToken(client: TargetClient, token: string): Promise<Login> {
  const headers = { authorization: `Bearer ${token}` };
  const list = managementOperations['list-devices'];
  const response = await client.send(requestOf(list, { query: { per_page: 1 }, headers }));
  if (response.status === 401) throw new LoginRefusedError('the token', response.status);
  // With 403, the user may not list devices; that is a matter of rights.
  if (response.status === 200 || response.status === 403) return { kind: 'token', token };
  return unusable('the list of devices', response);
}

function unusable(what: string, response: HttpResponse, came = describeResponse(response)): Login {
  const reason = `${what} was answered with ${came}`;
  return { kind: 'unusable', reason, isStarting: gatewayErrors.includes(response.status) };
}
