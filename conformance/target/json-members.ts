/** Reading JSON of which nothing is known yet: what is not there, or not of its kind, is empty. */

/** The members of an object. */
export type Members = Readonly<Record<string, unknown>>;

/** True for an object of JSON that is no array. */
export function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of the value; none when it is no object. */
export function membersOf(value: unknown): Members {
  return isMap(value) ? value : {};
}

/** The entries of the value; none when it is no array. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
