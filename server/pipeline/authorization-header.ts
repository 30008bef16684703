/**
 * Reads the token of a request from the Authorization header or the cookie JWT, and describes
 * requests that carry it in a wrong format or in another place.
 * Spec: Authentication
 */
import type { IncomingMessage } from 'node:http';
import { isPlaceholder } from '../../fixtures/base/placeholder.ts';
import { printable } from '../../fixtures/base/printable.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import type { RefusalDetail } from '../rules/refusal-detail.ts';

const bearer = /^bearer +([^\s]+) *$/i;

/** Returns the detail of a refusal that is about the token. */
export function tokenDetail(
  expected: string,
  actual: string,
  requirement: RequirementId = 'tokens.invalid-is-401',
): RefusalDetail {
  return { path: 'header.Authorization', expected, actual, requirement };
}

const malformed = 'tokens.malformed-is-401';

const quotedToken = /^["'].*["']$/;

const malformedHeaders: readonly (readonly [RegExp, actual: string, remedy: string])[] = [
  [/^bearer +["']/i, 'a token in quotation marks', 'remove the quotation marks from the token'],
  [/^[\w-]+\.[\w-]+\.[\w-]+$/, 'a token without Bearer', 'put "Bearer " before the token'],
  [/^bearer +bearer\b/i, 'the scheme twice', 'write "Bearer " once; the token may have it already'],
  [/^bearer *$/i, 'the scheme without a token', 'put the token after "Bearer "'],
  [/^\w+:? +"?[\w-]+\.[\w-]+\.[\w-]+/, 'a token in another scheme', 'use Bearer as the scheme'],
];

/** Schemes of HTTP and of other APIs. Only these are shown, since another word may be a secret. */
const otherScheme = /^(?:api[-_]?key|basic|digest|hmac|jwt|negotiate|ntlm|oauth|token)\b/i;

/** Refuses a token that this server cannot read. @param problem why not, such as `is not signed` */
export function unreadableToken(request: IncomingMessage, token: string, problem: string): Refusal {
  const several =
    authorizationsIn(request) > 1
      ? '; the Authorization header was sent more than once, and the first counts'
      : '';
  const also = notTokenText(token);
  const reason = problem + also + several;
  const detail = tokenDetail('a token issued by this server', `one that ${reason}`);
  const remedy = 'send the token exactly as it was issued';
  return refuse.unauthorized(`the token ${reason}`, { ...detail, ...(also !== '' && { remedy }) });
}

function authorizationsIn({ rawHeaders }: IncomingMessage): number {
  const isName = (text: string, at: number): boolean =>
    at % 2 === 0 && text.toLowerCase() === 'authorization';
  return rawHeaders.filter(isName).length;
}

/** Describes a string that is not a token, as a continuation of the error sentence; often empty. */
function notTokenText(token: string): string {
  const parts = token.split('.').length;
  if (isPlaceholder(token)) {
    return `: it is the text "${token}", as of a variable that is not set`;
  }
  const [, followingText] = afterToken.exec(token) ?? [];
  if (followingText !== undefined)
    return `: "${printable(followingText, AFTER_TOKEN_CHARACTERS)}" follows it`;
  if (!token.startsWith(TOKEN_START) || parts >= 3) return '';
  return `: it is cut off after ${token.length} characters, with ${parts} of the 3 parts`;
}

/** The beginning of every JWT: `{"` in base64url. */
const TOKEN_START = 'eyJ';

/** Matches text after a whole JWT, such as the two characters `\n` of a line end that was escaped. */
const afterToken = /^eyJ[\w-]*\.[\w-]+\.[\w-]+([^\w.-].*)$/;
const AFTER_TOKEN_CHARACTERS = 8;

/** The lookbehind keeps the search linear: each run of characters is tried once. */
const tokenPattern = /(?<![\w-])eyJ[\w-]*\.[\w-]+\.[\w-]+/;

/** Returns where a request without an Authorization header carries a token instead. */
function tokenElsewhere({ rawHeaders, url = '' }: IncomingMessage): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!tokenPattern.test(value)) continue;
    const [, cookie] = /([\w-]{1,40})="?eyJ/.exec(value) ?? [];
    return name.toLowerCase() === 'cookie' ? `the cookie ${cookie}` : `the header ${name}`;
  }
  const [, parameter] = /[?&]([\w-]{1,40})=(?:Bearer(?:%20|\+))?eyJ/i.exec(url) ?? [];
  return parameter && `the query parameter ${parameter}`;
}

/** Describes a malformed Authorization header, and how to correct it. */
function malformedDetail(header: string): Pick<RefusalDetail, 'actual' | 'remedy'> {
  for (const [pattern, actual, remedy] of malformedHeaders) {
    if (pattern.test(header.trim())) return { actual, remedy };
  }
  const [scheme] = otherScheme.exec(header.trim()) ?? [];
  if (scheme === undefined) return { actual: 'a header of another format' };
  return { actual: `the scheme ${scheme}`, remedy: 'send "Bearer " and the token' };
}

/**
 * Returns the token of a request, or the refusal of a request without one.
 * @param cookieToo whether the cookie JWT counts
 */
export function bearerToken(request: IncomingMessage, cookieToo: boolean): string | Refusal {
  const header = request.headers.authorization;
  if (header === undefined) {
    const cookie = cookieToo ? cookieToken(request.headers.cookie) : undefined;
    const isIgnored = !cookieToo && cookieToken(request.headers.cookie) !== undefined;
    const detail = tokenDetail(
      cookieToo ? 'Bearer <token>, or the cookie JWT=<token>' : 'Bearer <token>',
      isIgnored ? 'nothing; the cookie JWT is accepted only from users and at /connect' : 'nothing',
      'tokens.missing-is-401',
    );
    if (cookie !== undefined) return cookie;
    const location = isIgnored ? undefined : tokenElsewhere(request);
    if (location === undefined)
      return refuse.unauthorized('the Authorization header is missing', detail);
    const remedy = 'send the token as "Authorization: Bearer <token>"';
    return refuse.unauthorized(
      `the Authorization header is missing; a token was sent in ${location}, where it does not count`,
      { ...detail, actual: `nothing; a token was sent in ${location}`, remedy },
    );
  }
  const token = bearer.exec(header)?.[1];
  if (token !== undefined && !quotedToken.test(token)) return token;
  const problem = malformedDetail(header);
  const detail = { ...tokenDetail('Bearer <token>', '', malformed), ...problem };
  return refuse.unauthorized(
    `the Authorization header must be "Bearer <token>", not ${problem.actual}`,
    detail,
  );
}

function cookieToken(header: string | undefined): string | undefined {
  const cookie = header?.split(';').find((part) => part.trim().startsWith('JWT='));
  return cookie
    ?.trim()
    .slice('JWT='.length)
    .replace(/^"(.*)"$/, '$1');
}
