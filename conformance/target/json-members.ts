/** Reading JSON of which nothing is known yet: what is not there, or not of its kind, is empty. */

import { isObject, type JsonObject } from '../../fixtures/json.ts';

export { isObject as isMap, type JsonObject as Members };

/** The members of the value; none when it is no object. */
export function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The entries of the value; none when it is no array. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
