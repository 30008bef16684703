/** The resources that the suite creates on a target, and how each kind is found and removed. */
import type { TargetAdmin } from './target-admin.ts';

/** The properties that identify a resource even when its ID was never received. */
export type ResourceIdentity =
  | { readonly kind: 'device'; readonly identity: Readonly<Record<string, unknown>> }
  | { readonly kind: 'artifact'; readonly name: string; readonly deviceType: string }
  | { readonly kind: 'deployment'; readonly name: string }
  | { readonly kind: 'tenant'; readonly name: string };

export type ResourceKind = ResourceIdentity['kind'];

/** Number of created resources of each kind. */
export type ResourceCounts = Readonly<Partial<Record<ResourceKind, number>>>;

/** Adds up the numbers of created resources by kind. */
export function sumOfCounts(parts: readonly ResourceCounts[]): ResourceCounts {
  const sum = new Map<ResourceKind, number>();
  for (const part of parts) {
    for (const kind of Object.keys(part) as ResourceKind[]) {
      sum.set(kind, (sum.get(kind) ?? 0) + (part[kind] ?? 0));
    }
  }
  return Object.fromEntries(sum);
}

/** Returns the name of a resource for readers: `device 5f3a...`. */
export function nameOf(resource: ResourceIdentity): string {
  return `${resource.kind} ${resource.kind === 'device' ? resource.identity.serial : resource.name}`;
}

/**
 * Removes a resource as a user. Succeeds if the resource is already gone or was never created.
 * Throws if it remains; always for a tenant, which no user can remove.
 * @param id the ID on the target; undefined when it is not known
 * @returns whether the target had the resource; true for any deployment that was aborted by ID,
 * since an abort does not distinguish a deployment that ended from one that never existed
 */
export async function removeResource(
  resource: ResourceIdentity,
  id: string | undefined,
  admin: TargetAdmin | undefined,
): Promise<boolean> {
  if (resource.kind === 'tenant') {
    throw new Error(
      'only the control listener can remove a tenant; give --control-url and --control-token',
    );
  }
  if (!admin) throw new Error('without a user, the suite cannot remove it');
  const resourceId = id ?? (await idOf(resource, admin));
  if (resourceId === undefined) return false;
  switch (resource.kind) {
    case 'device':
      return admin.decommission(resourceId);
    case 'artifact':
      return admin.deleteArtifact(resourceId);
    case 'deployment':
      await admin.abort(resourceId);
      return true;
  }
}

async function idOf(
  resource: Exclude<ResourceIdentity, { readonly kind: 'tenant' }>,
  admin: TargetAdmin,
): Promise<string | undefined> {
  switch (resource.kind) {
    case 'device':
      return (await admin.findDevice(resource.identity))?.id;
    case 'artifact':
      return admin.findArtifact(resource.name, resource.deviceType);
    case 'deployment':
      return admin.findDeployment(resource.name);
  }
}
