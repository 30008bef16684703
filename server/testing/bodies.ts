/** Replaces one part of a body in tests. */

/** The path to a part of a body, such as `['subject', 'name']`. */
export type MemberSteps = readonly string[];

/** Returns the body with another value at the place; `undefined` removes the part. */
export function replaced(body: unknown, [name, ...rest]: MemberSteps, value: unknown): unknown {
  if (name === undefined) return value;
  const copy: object = Array.isArray(body) ? [...body] : { ...(body as object) };
  const part = replaced(Reflect.get(copy, name), rest, value);
  if (part === undefined) Reflect.deleteProperty(copy, name);
  else Reflect.set(copy, name, part);
  return copy;
}

/** Returns every place in a body: the body itself and everything within. */
export function pathsIn(body: unknown): MemberSteps[] {
  if (typeof body !== 'object' || body === null) return [[]];
  const below = Object.entries(body).flatMap(([name, member]) =>
    pathsIn(member).map((path) => [name, ...path]),
  );
  return [[], ...below];
}
