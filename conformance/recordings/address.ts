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
  const match = families
    .map((family) => ({ family, at: pathname.indexOf(apiPrefixes[family]) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)[0];
  if (!match) return undefined;
  const below = pathname.slice(match.at + apiPrefixes[match.family].length);
  const [, version, path] = /^(v\d+)(\/.*)$/s.exec(below) ?? [];
  return version && path ? { version: `${match.family} ${version}`, path } : undefined;
}

/** Returns true if a path matches a template, in which each parameter in braces is one segment. */
export function matchesTemplate(path: string, template: string): boolean {
  const [pathSegments, wanted] = [path.split('/'), template.split('/')];
  return (
    pathSegments.length === wanted.length &&
    wanted.every((segment, at) =>
      isParameter(segment) ? pathSegments[at] !== '' : pathSegments[at] === segment,
    )
  );
}

/**
 * Compares two path templates for sorting. At the first segment where only one of them has a
 * parameter, the literal one sorts first: `/limits/devices` before `/limits/{name}`.
 */
export function compareTemplates(one: string, other: string): number {
  const [segmentsOfOne, segmentsOfOther] = [one.split('/'), other.split('/')];
  const at = segmentsOfOne.findIndex(
    (segment, index) => isParameter(segment) !== isParameter(segmentsOfOther[index]),
  );
  if (at < 0) return 0;
  return isParameter(segmentsOfOne[at]) ? 1 : -1;
}

function isParameter(segment = ''): boolean {
  return segment.startsWith('{');
}
