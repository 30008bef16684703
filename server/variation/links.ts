/** Equivalent spellings of links. See RFC 3986 and RFC 8288. */
import type { Random } from '../../fixtures/base/random.ts';
import { shuffleItems } from './order.ts';
import type { HeaderLine } from './response.ts';

/** A query parameter without effect: no signature covers it, and no operation reads it. */
export const unknownName = 'x_fleetbed_unknown';

const link = /^(https?):\/\/([^/?#]+)((?:\/[^?#]*)?)\?([^#]*)$/;
const uuidSegment = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ESCAPED_SHARE = 4;

/** Returns the link with its query parameters in another order. */
export function withShuffledQuery(uri: string, random: Random): string {
  return rewritten(uri, (parts) => ({ ...parts, query: shuffleItems(parts.query, random) }));
}

/** Returns the link with one additional query parameter at a random position. */
export function withUnknownParameter(uri: string, random: Random): string {
  return rewritten(uri, ({ path, query }) => {
    const at = random.integer(0, query.length);
    return { path, query: query.toSpliced(at, 0, `${unknownName}=${random.integer(0, 9)}`) };
  });
}

/**
 * Returns the link with some unreserved characters escaped, in the query and in the IDs of the
 * path, and with colons unescaped.
 */
export function withOtherEscapes(uri: string, random: Random): string {
  const respell = (text: string): string =>
    text.replace(/%3A/gi, ':').replace(/%[0-9A-F]{2}|[A-Za-z0-9._~-]/gi, (one) => {
      if (one.length > 1 || random.integer(1, ESCAPED_SHARE) > 1) return one;
      return `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
  return rewritten(uri, ({ path, query }) => ({
    path: path.map((segment) => (uuidSegment.test(segment) ? respell(segment) : segment)),
    query: query.map((pair) => pair.split('=').map(respell).join('=')),
  }));
}

/** Returns the link with its scheme in upper case, which is also valid. */
export function withSchemeInCapitals(uri: string): string {
  return uri.replace(/^https?(?=:)/, (scheme) => scheme.toUpperCase());
}

/**
 * Returns the `Link` lines of a page joined into one, in another order, or with other spaces and
 * quotes.
 */
export function variedLinkLines(headers: readonly HeaderLine[], random: Random): HeaderLine[] {
  const isLink = ([name]: HeaderLine): boolean => name.toLowerCase() === 'link';
  const first = headers.findIndex(isLink);
  const targets = headers.filter(isLink).map(([, value]) => value);
  if (first < 0) return [...headers];
  const writtenLinks = shuffleItems(targets, random).map((target) =>
    respelledTarget(target, random),
  );
  const name = headers[first]?.[0] ?? 'Link';
  const lines: HeaderLine[] =
    random.integer(0, 1) === 0
      ? [[name, writtenLinks.join(', ')]]
      : writtenLinks.map((value): HeaderLine => [name, value]);
  return headers.flatMap((line, at) => {
    if (at === first) return lines;
    return isLink(line) ? [] : [line];
  });
}

function respelledTarget(target: string, random: Random): string {
  const relation = random.pick(['; rel="$1"', ';rel=$1', '  ;  rel="$1"', '; REL="$1"']);
  return target.replace(/; rel="(first|next|prev|last)"$/, relation);
}

interface LinkParts {
  readonly path: readonly string[];
  readonly query: readonly string[];
}

function rewritten(uri: string, change: (parts: LinkParts) => LinkParts): string {
  const [match, scheme, authority, path = '', query = ''] = link.exec(uri) ?? [];
  if (match === undefined) return uri;
  const changedParts = change({ path: path.split('/'), query: query.split('&') });
  return `${scheme}://${authority}${changedParts.path.join('/')}?${changedParts.query.join('&')}`;
}
