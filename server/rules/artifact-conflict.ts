/** May two artifacts of one name stand side by side? Only when no device could take both. */

type Depends = Readonly<Record<string, readonly string[]>>;

/** True when some device would meet the dependencies of both. */
export function conflictsWith(known: Depends, added: Depends): boolean {
  const names = new Set([...Object.keys(known), ...Object.keys(added)]);
  return [...names].every((name) => {
    // A dependency may bear the name of a member that every object has, such as `constructor`.
    const ofKnown = Object.hasOwn(known, name) ? known[name] : undefined;
    const ofAdded = Object.hasOwn(added, name) ? added[name] : undefined;
    // What only one of them asks for does not keep a device from meeting both.
    return !ofKnown || !ofAdded || ofKnown.some((value) => ofAdded.includes(value));
  });
}
