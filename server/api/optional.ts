/**
 * Values that may be absent, as they come in queries and go out in JSON: a member that is undefined
 * is no part of JSON.
 */

/** Reads a value that is given. */
export function ifGiven<Value, Read>(
  value: Value | undefined,
  read: (value: Value) => Read,
): Read | undefined {
  return value === undefined ? undefined : read(value);
}
