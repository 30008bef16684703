/** May two artifacts of one name stand side by side? A delta beside the whole it saves, for one. */

type Depends = Readonly<Record<string, readonly string[]>>;

/**
 * True when both depend on the same names, with a value of each in common. Where only one of them
 * depends on a name, it is the closer one for the devices that have it, and both may stand.
 */
export function conflictsWith(known: Depends, added: Depends): boolean {
  const names = Object.keys(known);
  // A dependency may bear the name of a member that every object has, such as `constructor`.
  const isAdded = (name: string): boolean => Object.hasOwn(added, name);
  if (names.length !== Object.keys(added).length || !names.every(isAdded)) return false;
  return names.every((name) => known[name]?.some((value) => added[name]?.includes(value)));
}
