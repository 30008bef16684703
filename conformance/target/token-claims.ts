/** Reads and alters the JWT of a device. The suite cannot verify the signature of the server. */
import * as v from 'valibot';
import { isBearerToken } from '../../fixtures/base/bearer-token.ts';
import { expectStatus, expectThat, NotObservable, responseSummary } from './expectations.ts';
import type { HttpResponse } from './response.ts';

const claimsShape = v.looseObject({ exp: v.number(), iat: v.number() });

/**
 * Returns the token in the response to a granted request. Throws an ExpectationFailure if the body
 * is no token.
 */
export function expectToken(response: HttpResponse): string {
  expectStatus(response, 200);
  expectThat(isBearerToken(response.text), 'a token as the body', responseSummary(response));
  return response.text;
}

/**
 * Returns when a token was issued and when it expires, in Unix seconds. Throws NotObservable for a
 * token without these claims, since the contract does not require them.
 */
export function claimsOf(token: string): v.InferOutput<typeof claimsShape> {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), claimsShape), text);
  if (!parsed.success) throw new NotObservable('the token has no claims exp and iat');
  return parsed.output;
}

/** Returns the token with one character of its signature changed, so that it no longer verifies. */
export function forgeToken(token: string): string {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const firstCharacter = signature.startsWith('A') ? 'B' : 'A';
  return [header, claims, `${firstCharacter}${signature.slice(1)}`].join('.');
}

/** Returns the token with its expiry one second later and its signature kept. */
export function withOtherClaims(token: string): string {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), v.looseObject({})), text);
  const { exp = 0, ...otherClaims } = parsed.success ? parsed.output : {};
  const changedClaims = JSON.stringify({ ...otherClaims, exp: Number(exp) + 1 });
  return [header, Buffer.from(changedClaims).toString('base64url'), signature].join('.');
}

/** Returns the token with a header that declares no signature, and without its signature. */
export function unsignedToken(token: string): string {
  const [, claims = ''] = token.split('.');
  const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  return `${header}.${claims}.`;
}
