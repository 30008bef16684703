/** Reads unknown JSON leniently: whatever is absent or of another type is empty. */
import { isObject, type JsonObject } from '../../fixtures/base/json.ts';

export { isObject as isMap, type JsonObject as Members };

/** Returns the members of the value; none when it is not an object. */
export function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the entries of the value; none when it is not an array. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
