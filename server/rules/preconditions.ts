/** Whether a change may be made to what the caller has seen (RFC 9110, section 13.1.1). */

/**
 * Whether an If-Match header lets a change through. `version` is that of what is there now, if it
 * ever had one. Clients in the field send the version without the quotes, too.
 */
export function ifMatchHolds(header: string | undefined, version: string | undefined): boolean {
  if (header === undefined || header.trim() === '*') return true;
  const named = header.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  return version !== undefined && named.includes(version);
}
