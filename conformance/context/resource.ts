/** What the suite makes on a target, and how each kind of thing is found and removed again. */
import type { Operator } from './operator.ts';

/** Everything by which a thing is found again even when its id never came back. */
export type Thing =
  | { readonly kind: 'device'; readonly identity: Readonly<Record<string, unknown>> }
  | { readonly kind: 'artifact'; readonly name: string; readonly deviceType: string }
  | { readonly kind: 'deployment'; readonly name: string }
  | { readonly kind: 'tenant'; readonly name: string };

export type ThingKind = Thing['kind'];

/** How many things of each kind were made. */
export type Made = Readonly<Partial<Record<ThingKind, number>>>;

/** The sum, kind by kind. */
export function sumOfMade(parts: readonly Made[]): Made {
  const sum = new Map<ThingKind, number>();
  for (const part of parts) {
    for (const kind of Object.keys(part) as ThingKind[]) {
      sum.set(kind, (sum.get(kind) ?? 0) + (part[kind] ?? 0));
    }
  }
  return Object.fromEntries(sum);
}

/** A thing as a reader knows it: `device 5f3a...`. */
export function nameOf(thing: Thing): string {
  return `${thing.kind} ${thing.kind === 'device' ? thing.identity.serial : thing.name}`;
}

/**
 * Removes a thing as a user does; one that is gone, or never came about, is fine. Throws when it
 * stays, as a tenant does, which no user removes.
 * @param id as the target gave it; undefined when it is not known
 */
export async function removeThing(
  thing: Thing,
  id: string | undefined,
  operator: Operator | undefined,
): Promise<void> {
  if (thing.kind === 'tenant') {
    throw new Error(
      'only the control listener can remove a tenant; give --control-url and --control-token',
    );
  }
  if (!operator) throw new Error('without a user the suite cannot remove it');
  const found = id ?? (await idOf(thing, operator));
  if (found === undefined) return;
  switch (thing.kind) {
    case 'device':
      return operator.decommission(found);
    case 'artifact':
      return operator.deleteArtifact(found);
    case 'deployment':
      return operator.abort(found);
  }
}

async function idOf(
  thing: Exclude<Thing, { readonly kind: 'tenant' }>,
  operator: Operator,
): Promise<string | undefined> {
  switch (thing.kind) {
    case 'device':
      return (await operator.findDevice(thing.identity))?.id;
    case 'artifact':
      return operator.findArtifact(thing.name, thing.deviceType);
    case 'deployment':
      return operator.findDeployment(thing.name);
  }
}
