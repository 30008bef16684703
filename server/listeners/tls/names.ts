/** The names and addresses in a server certificate. */
import { isIP, isIPv6 } from 'node:net';

/** Maximum number of names that a user may add. */
export const certificateNamesMax = 100;

const NAME_MAX_CHARACTERS = 253;
const hostName =
  /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const allDigits = /^[\d.]+$/;

/**
 * Returns a host name in lower case, or an IP address in canonical form; nothing for any other
 * text.
 */
export function canonicalName(text: string): string | undefined {
  const [bare = ''] = text.split('%');
  if (isIPv6(bare)) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  if (isIP(text)) return text;
  const name = text.toLowerCase();
  const fits = name.length <= NAME_MAX_CHARACTERS && hostName.test(name) && !allDigits.test(name);
  return fits ? name : undefined;
}

/**
 * Returns every name by which clients may reach the server: the configured ones, the loopback's,
 * the listening address.
 */
export function servedNames(chosen: readonly string[], host: string): readonly string[] {
  const all = [...chosen, 'localhost', '127.0.0.1', '::1', host].map(canonicalName);
  return [...new Set(all.filter((name) => name !== undefined))];
}
