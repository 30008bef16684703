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

/** A year by which a link is prolonged, so that it is in the future of every clock. */
const LATE_YEAR = 2099;
const PROLONGED_FACTOR = 2;

/**
 * Returns the link with each of its expiry times changed to a later one: the parameters with
 * `expir` in their names, or `se`, whose values are numbers or begin with a year.
 */
export function withOtherExpiry(link: string): readonly string[] {
  const parameters = [...new URL(link).searchParams];
  return parameters
    .filter(([name]) => /expir|^se$/i.test(name))
    .flatMap(([name, value]) => {
      const laterValue = /^\d+$/.test(value)
        ? String(Number(value) * PROLONGED_FACTOR)
        : value.replace(/^\d{4}(?=-)/, String(LATE_YEAR));
      return laterValue === value ? [] : [withParameter(link, name, laterValue)];
    });
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
