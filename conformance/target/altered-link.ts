/** Signed links with a change that an attacker would make. */

/**
 * Returns the link with its signature parameter changed: the last one with `sig` in its name, or
 * the last of all.
 */
export function withAlteredSignature(link: string): string {
  const url = new URL(link);
  const names = [...url.searchParams.keys()];
  const name = names.findLast((each) => /sig/i.test(each)) ?? names.at(-1) ?? 'signature';
  const value = url.searchParams.get(name) ?? '';
  url.searchParams.set(name, `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`);
  return url.href;
}

/** Returns the link with one query parameter set to another value, or removed. */
export function withParameter(link: string, name: string, value: string | undefined): string {
  const url = new URL(link);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
}

/** Returns the link with one path segment replaced, counted from the end: 1 is the last. */
export function withSegment(link: string, fromEnd: number, value: string): string {
  const url = new URL(link);
  const segments = url.pathname.split('/');
  segments[segments.length - fromEnd] = encodeURIComponent(value);
  url.pathname = segments.join('/');
  return url.href;
}
