/**
 * Handlers that restore tenants to their start state, a world file or a named snapshot, and that
 * fork tenants.
 */
import { knownNames } from '../../../fixtures/base/nearest.ts';
import { maskText } from '../../http/masking.ts';
import { ambiguousNameSentence, findNamedDevice } from '../../journal/known-devices.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { WorldFileError } from '../../world/load-order.ts';
import {
  type NamedSnapshot,
  SNAPSHOTS_MAX,
  StartStateUnavailable,
  type TenantStates,
} from '../../world/tenant-states.ts';
import { worldJsonSchema } from '../../world/world-shape.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';
import { addedView, newTenantOf } from './tenants.ts';

const namePattern = /^[\w.-]{1,100}$/;

/** Creates the handlers for world files, resets, snapshots and forks. */
export function stateHandlers(states: TenantStates) {
  return {
    'POST /world': ({ tenant, body }) => loadWorld(states, tenant, body),
    'GET /world/schema': worldJsonSchema,
    'POST /reset': ({ tenant, body }) =>
      resetTenant(states, tenant, body?.device).catch(refuseWithoutStart),
    'GET /snapshots': ({ tenant }) => states.snapshots(tenant).map(view),
    'PUT /snapshots/{name}': ({ tenant, parameters: { name } }) =>
      takeSnapshot(states, tenant, name),
    'DELETE /snapshots/{name}': async ({ tenant, parameters: { name } }) => {
      if (!(await states.discard(tenant, name)))
        throwRefusal(404, unknownSnapshot(states, tenant, name));
    },
    'POST /snapshots/{name}/restore': async ({ tenant, parameters: { name } }) => {
      if (!(await states.restore(tenant, name)))
        throwRefusal(404, unknownSnapshot(states, tenant, name));
    },
    'POST /fork': async ({ tenant, body }) =>
      addedView(await states.fork(tenant, newTenantOf(body))),
  } satisfies Partial<Handlers>;
}

async function loadWorld(states: TenantStates, tenant: Tenant, text: string) {
  // Loaded on first use: the YAML library takes long to load, and most servers never load a world.
  const { readWorld, WorldTextError } = await import('../../world/world-text.ts');
  try {
    return await states.load(tenant, readWorld(text, 'body'));
  } catch (error) {
    if (error instanceof WorldTextError) throwRefusal(400, error.message);
    if (error instanceof WorldFileError) throwRefusal(422, `body: ${error.message}`);
    return refuseWithoutStart(error);
  }
}

function refuseWithoutStart(error: unknown): never {
  if (error instanceof StartStateUnavailable) throwRefusal(409, error.message);
  throw error;
}

async function resetTenant(states: TenantStates, tenant: Tenant, device: string | undefined) {
  if (device === undefined) {
    await states.reset(tenant);
    return undefined;
  }
  const outcome = states.resetDevice(tenant, device);
  if (outcome === 'unknown') throwRefusal(404, unknownDevice(tenant, device));
  return { device: outcome };
}

function unknownDevice({ store }: Tenant, wanted: string): string {
  return maskText(
    `body: device: ${ambiguousNameSentence(findNamedDevice(store, wanted), 'there are no devices')}`,
  );
}

function unknownSnapshot(states: TenantStates, tenant: Tenant, wanted: string): string {
  const names = states.snapshots(tenant).map(({ name }) => name);
  return `no snapshot has this name; ${knownNames('snapshot', wanted, names)}`;
}

async function takeSnapshot(states: TenantStates, tenant: Tenant, name: string): Promise<void> {
  if (!namePattern.test(name)) {
    throwRefusal(400, 'path: name: must be 1 to 100 letters, digits, dots, dashes and underscores');
  }
  if (!(await states.take(tenant, name))) {
    throwRefusal(
      422,
      `the tenant already has ${SNAPSHOTS_MAX} snapshots, the maximum; delete one first`,
    );
  }
}

function view({ name, takenMs }: NamedSnapshot) {
  return { name, takenAt: new Date(takenMs).toISOString() };
}
