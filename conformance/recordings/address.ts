/** Finds the API family, the version and the path in the URL of a recorded request. */
import { type ApiFamily, apiPrefixes } from '../../fixtures/contract/deprecations.ts';

/** The address of a request within the API. */
export interface ApiAddress {
  /** Family and version, as in `management v1`. */
  readonly version: string;
  /** Path below the version's prefix, unchanged. */
  readonly path: string;
}

const families = Object.keys(apiPrefixes) as readonly ApiFamily[];

/**
 * Returns the address in the path of a URL, without any prefix that a gateway adds before the API's
 * own prefix; undefined for a path outside the API.
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

/** Returns true if a path matches a template, in which each parameter in braces is one segment. */
export function matchesTemplate(path: string, template: string): boolean {
  const [given, wanted] = [path.split('/'), template.split('/')];
  return (
    given.length === wanted.length &&
    wanted.every((segment, at) => (isParameter(segment) ? given[at] !== '' : given[at] === segment))
  );
}

/**
 * Compares two path templates for sorting. At the first segment where only one of them has a
 * parameter, the literal one sorts first: `/limits/devices` before `/limits/{name}`.
 */
export function compareTemplates(one: string, other: string): number {
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
