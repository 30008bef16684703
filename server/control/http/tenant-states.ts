/** Tenants brought back to their start state, to a world file or to a named snapshot; and forks. */
import type { Express, Request } from 'express';
import * as v from 'valibot';
import { nearestOf } from '../../../fixtures/nearest.ts';
import { maskText } from '../../http/masking.ts';
import { deviceNamed, notOneDevice } from '../../journal/known-devices.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import {
  type NamedSnapshot,
  SNAPSHOTS_MAX,
  StartNotKept,
  type TenantStates,
} from '../../world/tenant-states.ts';
import { WorldFault } from '../../world/timeline.ts';
import { worldJsonSchema } from '../../world/world-shape.ts';
import { handlersWithin, mount, ofTenant, readBody, refuse, taking } from './answers.ts';
import { addedView, newTenantIn } from './tenants.ts';

const namePattern = /^[\w.-]{1,100}$/;

const resetShape = v.strictObject(
  { device: v.optional(v.string('must be a string')) },
  'must be an object, with or without "device"',
);

/** Mounts the paths of world files, resets, snapshots and forks. */
export function mountTenantStates(app: Express, tenants: Tenants, states: TenantStates): void {
  const within = handlersWithin(tenants);
  mount(app, '/world/schema', { get: taking(ofTenant, worldJsonSchema) });
  mount(app, '/world', {
    post: within((tenant, { body }) => load(states, tenant, typeof body === 'string' ? body : '')),
  });
  mount(app, '/reset', {
    post: within((tenant, request) => reset(states, tenant, request).catch(refuseWithoutStart)),
  });
  mount(app, '/snapshots', { get: within((tenant) => states.snapshots(tenant).map(view)) });
  mount(app, '/snapshots/:name', {
    put: within((tenant, { params }) => take(states, tenant, String(params.name))),
    delete: within(async (tenant, { params }) => {
      const name = String(params.name);
      if (!(await states.discard(tenant, name))) refuse(404, unknownSnapshot(states, tenant, name));
    }),
  });
  mount(app, '/snapshots/:name/restore', {
    post: within(async (tenant, { params }) => {
      const name = String(params.name);
      if (!(await states.restore(tenant, name))) refuse(404, unknownSnapshot(states, tenant, name));
    }),
  });
  mount(app, '/fork', {
    post: within(async (tenant, request, response) =>
      addedView(await states.fork(tenant, newTenantIn(request)), response),
    ),
  });
}

async function load(states: TenantStates, tenant: Tenant, text: string) {
  // What reads YAML takes long to load, and few load a world.
  const { readWorld, WorldTextFault } = await import('../../world/world-text.ts');
  try {
    return await states.load(tenant, readWorld(text, 'body'));
  } catch (fault) {
    if (fault instanceof WorldTextFault) refuse(400, fault.message);
    if (fault instanceof WorldFault) refuse(422, `body: ${fault.message}`);
    return refuseWithoutStart(fault);
  }
}

function refuseWithoutStart(fault: unknown): never {
  if (fault instanceof StartNotKept) refuse(409, fault.message);
  throw fault;
}

async function reset(states: TenantStates, tenant: Tenant, request: Request) {
  const { device } = request.body === undefined ? {} : readBody(resetShape, request);
  if (device === undefined) return states.reset(tenant);
  const outcome = states.resetDevice(tenant, device);
  if (outcome === 'unknown') refuse(404, unknownDevice(tenant, device));
  return { device: outcome };
}

function unknownDevice({ store }: Tenant, wanted: string): string {
  return maskText(
    `body: device: ${notOneDevice(deviceNamed(store, wanted), 'there are no devices')}`,
  );
}

function unknownSnapshot(states: TenantStates, tenant: Tenant, wanted: string): string {
  const nearest = nearestOf(
    wanted,
    states.snapshots(tenant).map(({ name }) => name),
  );
  const told = nearest.length === 0 ? 'there are none' : `nearest: ${nearest.join(', ')}`;
  return `there is no snapshot with this name; ${told}`;
}

async function take(states: TenantStates, tenant: Tenant, name: string): Promise<void> {
  if (!namePattern.test(name)) {
    refuse(400, 'path: name: must be 1 to 100 letters, digits, dots, dashes and underscores');
  }
  if (!(await states.take(tenant, name))) {
    refuse(422, `the tenant already has ${SNAPSHOTS_MAX} snapshots, the maximum; delete one first`);
  }
}

function view({ name, takenMs }: NamedSnapshot) {
  return { name, takenAt: new Date(takenMs).toISOString() };
}
