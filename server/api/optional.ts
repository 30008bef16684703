/**
 * Values that may be absent in queries and JSON: an undefined member
 * does not appear in JSON.
 */

/** Reads a value that is given. */
export function ifGiven<Value, Read>(
  value: Value | undefined,
  read: (value: Value) => Read,
): Read | undefined {
  return value === undefined ? undefined : read(value);
}
