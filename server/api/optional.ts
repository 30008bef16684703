/**
 * Helpers for values that may be absent in queries and JSON. An undefined member does not appear in
 * JSON.
 */

/** Applies `read` to the value, unless it is undefined. */
export function ifGiven<Value, Read>(
  value: Value | undefined,
  read: (value: Value) => Read,
): Read | undefined {
  return value === undefined ? undefined : read(value);
}
