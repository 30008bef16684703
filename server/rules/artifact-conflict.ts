/**
 * Decides whether two artifacts of one name may coexist, such as a delta and the whole artifact.
 */

type Depends = Readonly<Record<string, readonly string[]>>;

/**
 * Returns true when both artifacts depend on the same names and share a value of each. If only one
 * depends on a name, it is the better match for devices that have it, so both may coexist.
 */
export function conflictsWith(existing: Depends, added: Depends): boolean {
  const names = Object.keys(existing);
  // A dependency may have the name of an inherited property, such as `constructor`.
  const isAdded = (name: string): boolean => Object.hasOwn(added, name);
  if (names.length !== Object.keys(added).length || !names.every(isAdded)) return false;
  return names.every((name) => existing[name]?.some((value) => added[name]?.includes(value)));
}
