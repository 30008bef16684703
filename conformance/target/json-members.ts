/** Reads unknown JSON leniently: whatever is absent or of another type is empty. */

/** The members of an object. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object that is not an array. */
export function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of the value; none when it is not an object. */
export function membersOf(value: unknown): Members {
  return isMap(value) ? value : {};
}

/** Returns the entries of the value; none when it is not an array. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
