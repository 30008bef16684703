/** Whether two artifacts of one name may coexist, such as a delta and the whole artifact. */

type Depends = Readonly<Record<string, readonly string[]>>;

/**
 * True when both depend on the same names and share a value of each. Where only one
 * depends on a name, it is the better match for devices that have it, and both may coexist.
 */
export function conflictsWith(known: Depends, added: Depends): boolean {
  const names = Object.keys(known);
  // A dependency may bear the name of a member that every object has, such as `constructor`.
  const isAdded = (name: string): boolean => Object.hasOwn(added, name);
  if (names.length !== Object.keys(added).length || !names.every(isAdded)) return false;
  return names.every((name) => known[name]?.some((value) => added[name]?.includes(value)));
}
