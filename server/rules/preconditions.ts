/** Evaluates preconditions of a change (RFC 9110, section 13.1.1). */

/**
 * Returns true when an If-Match header permits a change. `version` is the current version,
 * undefined if there is none. Clients in the field also send the version without quotes.
 */
export function ifMatchHolds(header: string | undefined, version: string | undefined): boolean {
  if (header === undefined || header.trim() === '*') return true;
  const entityTags = header.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  return version !== undefined && entityTags.includes(version);
}
