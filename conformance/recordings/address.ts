/** Where a request of recorded traffic points in the API: its family and version, and its path. */
import { type ApiFamily, apiPrefixes } from '../../fixtures/contract/deprecations.ts';

/** A request's place in the API. */
export interface ApiAddress {
  /** Family and version, as in `management v1`. */
  readonly version: string;
  /** Path below the version's prefix, unchanged. */
  readonly path: string;
}

const families = Object.keys(apiPrefixes) as readonly ApiFamily[];

/**
 * The place of a URL's path, ignoring what a gateway adds before the API's own prefix.
 * Undefined for a path of anything else.
 */
export function apiAddress(pathname: string): ApiAddress | undefined {
  const found = families
    .map((family) => ({ family, at: pathname.indexOf(apiPrefixes[family]) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)[0];
  if (!found) return undefined;
  const below = pathname.slice(found.at + apiPrefixes[found.family].length);
  const [, version, path] = /^(v\d+)(\/.*)$/s.exec(below) ?? [];
  return version && path ? { version: `${found.family} ${version}`, path } : undefined;
}

/** Whether a path matches a template whose parameters in braces are one segment each. */
export function isOfForm(path: string, form: string): boolean {
  const [given, wanted] = [path.split('/'), form.split('/')];
  return (
    given.length === wanted.length &&
    wanted.every((segment, at) => (isParameter(segment) ? given[at] !== '' : given[at] === segment))
  );
}

/**
 * Of forms that one path is of, the one whose literal segment comes first: `/limits/devices` before
 * `/limits/{name}`. A comparison for sorting.
 */
export function byLiterals(one: string, other: string): number {
  const [ours, theirs] = [one.split('/'), other.split('/')];
  const at = ours.findIndex(
    (segment, index) => isParameter(segment) !== isParameter(theirs[index]),
  );
  if (at < 0) return 0;
  return isParameter(ours[at]) ? 1 : -1;
}

function isParameter(segment = ''): boolean {
  return segment.startsWith('{');
}
